import type { Secret } from '../../config/secrets.ts';
import { partiesOf } from '../../kernel/call-parties.ts';
import type { Clock } from '../../kernel/clock.ts';
import { sleep } from '../../kernel/waiting.ts';
import { inputText } from '../llm/model-request.ts';
import type { ModelTransfers } from '../llm/tools.ts';
import type { CallerListener, CallFacts, DialogAction, DialogHook, DialogHookFactory, DialogTurn } from '../port.ts';
import { CallTools } from '../tools/call-tools.ts';
import type { ToolBox } from '../tools/tool-box.ts';
import { AnswerDeadline } from '../wire.ts';
import { LEAST_TURN_MS } from './caller-audio.ts';
import { type FunctionOutcome, ModelFunctions } from './functions.ts';
import type { ModelSpeech } from './model-speech.ts';
import { type AnswerEvent, type RealtimeSession, RealtimeVendorError } from './realtime-session.ts';
import { SecretEntry } from './secret-entry.ts';
import { SessionKeeper } from './session-keeper.ts';
import type { OpenWire } from './session-socket.ts';
import type { FunctionResult, RealtimeVendor, Usage } from './vendor.ts';

export interface RealtimeHookSettings {
  readonly vendor: RealtimeVendor;
  /** The bot's own address of the vendor. */
  readonly url: string | undefined;
  readonly model: string;
  readonly voice: string | undefined;
  /** The API key; also signs the requests to tools. */
  readonly secret: Secret | undefined;
  readonly instructions: string;
  readonly greeting?: string | undefined;
  readonly turns: 'offhook' | 'model';
  readonly reasoningEffort?: string | undefined;
  /** Limit of one answer, and of all tokens of a call; the call ends politely beyond the second. */
  readonly maxTokens: number;
  readonly maxCallTokens?: number | undefined;
  /** How long the model may be silent, and how long a tool may take. */
  readonly timeoutMs: number;
  readonly turnTimeoutMs: number;
  readonly toolBox: ToolBox;
  readonly transfers: ModelTransfers;
  /** Said before the call is ended at its limit of tokens. */
  readonly goodbye: (language: string) => string;
}

/** Answers of the model in one turn, with its functions between them. */
const MOST_ROUNDS = 5;
/** Sessions that are opened again within one turn. */
const MOST_LOSSES = 2;
/** Delay before the one retry of a refused answer. */
const RATE_LIMIT_MS = 1_500;
/** Longest silence of the model in the middle of a speech; then the speech goes on in another session. */
const MID_SPEECH_MS = 3_000;
/** What follows the end of a turn that the vendor found, until the call asks: longer, it is another turn. */
const FOUND_WITHIN_MS = 3_000;
const ON_THE_PHONE =
  'You are speaking on a phone call. Answer in one to three short spoken sentences. Text in parentheses tells what happened and was not said.';
const ADVICE = 'From whoever looks after this call, for you alone and never to be read to the caller:';
const GO_ON =
  '(The connection to you was lost for a moment in the middle of your last words. Go on exactly where they stop, and say nothing twice.)';

/** Bots whose dialog is a speech-to-speech model. */
export function realtimeHooks(settings: RealtimeHookSettings, clock: Clock, open: OpenWire): DialogHookFactory {
  return { create: (call) => new RealtimeHook(call, settings, { clock, open }) };
}

/** One answer of the model so far. */
interface Round {
  readonly session: RealtimeSession;
  readonly calls: (AnswerEvent & { readonly type: 'call' })[];
  readonly speeches: ModelSpeech[];
}

/**
 * A conversation with a speech-to-speech model. The call decides when a turn is over, what is played and what was heard; the model gets the caller's
 * audio, and its speech is played as any other. Speeches are reported to it as the caller heard them, before the next answer.
 */
export class RealtimeHook implements DialogHook {
  readonly takesAdvice = true;
  readonly listener: CallerListener;
  readonly #settings: RealtimeHookSettings;
  readonly #tools: CallTools;
  readonly #functions: ModelFunctions;
  readonly #clock: Clock;
  readonly #keeper: SessionKeeper;
  readonly #secret = new SecretEntry();
  #used: Usage[] = [];
  #usedTokens = 0;
  #turnOver: () => void = () => undefined;
  /** Turns that the vendor found to be over, and our own that it has not confirmed. */
  #foundOver = false;
  #unconfirmed = 0;
  /** Answers of the bot's own tools in the running turn, which is not to do anything twice. */
  #done = { index: -1, answers: new Map<string, string>() };
  /** The turn whose words the session has. */
  #heardTurn = -1;
  #knowsData = false;
  /** False in a conversation in text, such as a chat: the model's words are passed on, without its sound. */
  #hasLine = false;

  constructor(call: CallFacts, settings: RealtimeHookSettings, services: { clock: Clock; open: OpenWire }) {
    this.#settings = settings;
    this.#tools = new CallTools(settings.toolBox, services.clock);
    const functions = new ModelFunctions(this.#tools, settings.transfers);
    this.#functions = functions;
    this.#clock = services.clock;
    const { vendor, url, model, voice, secret, maxTokens, reasoningEffort, turns } = settings;
    const instructions = instructionsFor(settings.instructions, call);
    const setup = { model, voice, instructions, maxTokens, reasoningEffort, turns };
    this.#keeper = new SessionKeeper(
      { vendor, setup, functions: () => functions.declared, key: secret?.reveal(), url },
      services,
      {
        used: (usage) => this.#count(usage),
        turnOver: () => this.#foundTurnOver(),
      },
    );
    this.listener = {
      open: (line) => {
        this.#hasLine = true;
        this.#keeper.useLine(line);
        void functions.ready.then(() => this.#keeper.open());
      },
      hear: (pcm, mayBeTurn) => this.#keeper.audio.hear(pcm, mayBeTurn),
      ...(turns === 'model' ? { onTurnOver: (listener: () => void) => (this.#turnOver = listener) } : {}),
    };
  }

  get due(): string | undefined {
    return this.#tools.due;
  }

  /** @throws RealtimeVendorError, DialogTimeoutError */
  async *respond(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction> {
    const { greeting, timeoutMs, turnTimeoutMs } = this.#settings;
    const { input } = turn;
    yield* this.#usage();
    if (input.kind === 'start' && greeting !== undefined) {
      yield { type: 'say', text: greeting };
      return this.#keeper.answered(turn.index, '');
    }
    // Its words would not be heard.
    if (input.kind === 'transfer' && input.outcome === 'answered') return this.#keeper.audio.drop();
    if (this.#usedTokens > (this.#settings.maxCallTokens ?? Number.POSITIVE_INFINITY)) return yield* this.#leave(turn);
    const secret = this.#secret.step(turn);
    if (secret !== undefined) {
      this.#keeper.audio.drop();
      yield* secret.actions;
      if (secret.kind === 'ask-again') return;
    }
    if (yield* this.#tools.fill(turn)) return;
    using deadline = new AnswerDeadline(this.#clock, timeoutMs, 'the model', turnTimeoutMs);
    try {
      const either = AbortSignal.any([signal, deadline.signal]);
      yield* deadline.deliver(this.#answer(turn, secret?.told, either, deadline));
      // A caller who waits for a result may be silent for long.
      if (this.#tools.running.length > 0) yield { type: 'gather', waits: true };
    } catch (error) {
      throw deadline.signal.aborted && !signal.aborted ? deadline.signal.reason : error;
    }
  }

  async dispose(): Promise<void> {
    this.#keeper.close();
    await this.#tools.dispose();
  }

  async *#answer(
    turn: DialogTurn,
    told: string | undefined,
    signal: AbortSignal,
    deadline: AnswerDeadline,
  ): AsyncIterable<DialogAction> {
    const { index } = turn;
    if (turn.again !== true || this.#done.index !== index) this.#done = { index, answers: new Map() };
    const said: ModelSpeech[] = [];
    let losses = 0;
    let retries = 0;
    await this.#functions.ready;
    let session = await this.#keeper.ready(turn, signal);
    this.#hand(session, turn, told);
    for (let rounds = 0; rounds < MOST_ROUNDS; rounds += 1) {
      const round: Round = { session, calls: [], speeches: [] };
      try {
        await session.respond(signal);
        const failure = yield* this.#listen(round, said, signal, deadline);
        this.#keeper.answered(index, textOf(said));
        yield* this.#usage();
        if (failure !== undefined) {
          retries += 1;
          if (retries > 1 || failure.kind === 'auth' || failure.kind === 'request')
            throw new RealtimeVendorError(this.#settings.vendor.title, failure.kind, failure.message);
          if (failure.kind === 'rate-limit') await sleep(this.#clock, RATE_LIMIT_MS, signal);
          if (round.speeches.length > 0) session.text('system', GO_ON);
          continue;
        }
        const isOver = yield* this.#callFunctions(round, turn, signal, deadline);
        if (!isOver) continue;
        if (asks(said) && !round.calls.some(({ name }) => name === 'ask_keys')) yield { type: 'gather' };
        return;
      } catch (error) {
        if (signal.aborted || !session.isOver || losses >= MOST_LOSSES) throw error;
        losses += 1;
        session = await this.#keeper.ready(turn, signal);
        this.#retell(session, turn, told, textOf(said));
      } finally {
        session.cancel();
      }
    }
  }

  /** Yields the speeches of an answer as they begin. @returns why it failed, where it did */
  async *#listen(
    { session, calls, speeches }: Round,
    said: ModelSpeech[],
    signal: AbortSignal,
    deadline: AnswerDeadline,
  ): AsyncGenerator<DialogAction, (AnswerEvent & { readonly type: 'done' })['failure']> {
    for (;;) {
      // A caller in the middle of a sentence is not kept waiting as long as one who asked.
      const stalled = speeches.some(({ isOver }) => !isOver)
        ? this.#clock.after(MID_SPEECH_MS, () => session.giveUp('it fell silent in the middle of a speech'))
        : undefined;
      const event = await session.next(signal).finally(() => stalled?.cancel());
      deadline.renew();
      switch (event.type) {
        case 'speech':
          speeches.push(event.speech);
          said.push(event.speech);
          if (this.#hasLine) yield { type: 'say', text: '', speech: event.speech };
          break;
        case 'call':
          calls.push(event);
          break;
        case 'news':
          break;
        case 'done':
          if (!this.#hasLine) yield* inText(speeches);
          return event.failure;
      }
    }
  }

  /** Carries out the functions of an answer, and gives the model their results. @returns whether the turn's answer is complete */
  async *#callFunctions(
    { session, calls, speeches }: Round,
    turn: DialogTurn,
    signal: AbortSignal,
    deadline: AnswerDeadline,
  ): AsyncGenerator<DialogAction, boolean> {
    const results: FunctionResult[] = [];
    let isSaid = speeches.length > 0;
    let needsModel = false;
    try {
      for (const { id, name, args } of calls) {
        const key = `${name} ${args}`;
        const before = this.#done.answers.get(key);
        const isOwn = this.#tools.isOwn(name);
        // Noted before it is called: after a crash, the journal names what may have been carried out.
        if (isOwn && before === undefined) yield { type: 'note', text: `tool ${name}` };
        deadline.renew(this.#settings.timeoutMs + this.#tools.limitMsOf(name));
        const outcome: FunctionOutcome =
          before === undefined ? await this.#functions.call(name, args, turn, signal) : { answer: before };
        deadline.renew();
        if (isOwn) this.#done.answers.set(key, outcome.answer);
        results.push({ id, name, output: outcome.answer });
        if (outcome.keys !== undefined) {
          this.#secret.begin(outcome.keys, turn.index);
          this.#keeper.audio.drop();
        }
        if (outcome.action !== undefined) yield outcome.action;
        if (outcome.say !== undefined) {
          if (!isSaid) yield { type: 'say', text: outcome.say };
          isSaid = true;
        }
        needsModel ||= outcome.say === undefined && !this.#functions.endsAnswer(name);
      }
    } finally {
      // A function without a result would be called again.
      const open = calls.slice(results.length).map(({ id, name }) => ({ id, name, output: 'error: the caller interrupted' }));
      if (calls.length > 0) session.results([...results, ...open]);
    }
    return calls.length === 0 || (isSaid && !needsModel);
  }

  /** Gives the session what the caller did in this turn: their audio where it has it, else a text. */
  #hand(session: RealtimeSession, turn: DialogTurn, told: string | undefined): void {
    const { input, index, variables, advice = [], call } = turn;
    if (!this.#knowsData && call.direction === 'outbound' && Object.keys(variables).length > 0)
      session.text('system', `Data of this call, as JSON: ${JSON.stringify(variables)}`);
    this.#knowsData = true;
    for (const text of advice) session.text('system', `${ADVICE} ${text}`);
    this.#tellResults(session, index);
    const wasHeard = this.#heardTurn === index;
    this.#heardTurn = index;
    if (told !== undefined) return session.text('system', told);
    if (input.kind !== 'spoken') {
      this.#keeper.audio.drop();
      return session.text('system', inputText(input, call));
    }
    const ms = this.#keeper.audio.commit();
    const wasFound = this.#foundOver && ms < FOUND_WITHIN_MS;
    this.#foundOver = false;
    if (wasFound) {
      // The vendor has the turn.
    } else if (ms >= LEAST_TURN_MS) {
      this.#unconfirmed += 1;
      session.commit();
    } else if (!wasHeard) session.text('caller', inputText(input, call));
    if (input.keys !== undefined) session.text('system', `(The caller also pressed these keys: ${input.keys})`);
  }

  /** Gives the session the results of slow tools that came since the last turn. */
  #tellResults(session: RealtimeSession, turnIndex: number): void {
    for (const { name, args, text } of this.#tools.take(turnIndex))
      session.text('system', `(The result of ${name}(${args}): ${text})`);
  }

  /** Gives a new session the turn that the lost one had, and what of its answer is being played. */
  #retell(session: RealtimeSession, { input, call, index }: DialogTurn, told: string | undefined, said: string): void {
    this.#tellResults(session, index);
    if (told === undefined) session.text(input.kind === 'spoken' ? 'caller' : 'system', inputText(input, call));
    else session.text('system', told);
    if (said === '') return;
    session.text('bot', said);
    session.text('system', GO_ON);
  }

  #foundTurnOver(): void {
    if (this.#unconfirmed > 0) {
      this.#unconfirmed -= 1;
      return;
    }
    if (this.#settings.turns !== 'model') return;
    this.#foundOver = true;
    this.#keeper.audio.commit();
    this.#turnOver();
  }

  *#leave({ call }: DialogTurn): Generator<DialogAction> {
    yield { type: 'note', text: `limit of ${this.#settings.maxCallTokens} tokens reached` };
    yield { type: 'say', text: this.#settings.goodbye(call.language), interruptible: 'never' };
    yield { type: 'hangup', reason: 'token-limit' };
  }

  #count(usage: Usage): void {
    this.#used.push(usage);
    this.#usedTokens += Object.values(usage).reduce((sum, each) => sum + each, 0);
  }

  *#usage(): Generator<DialogAction> {
    const { vendor, model } = this.#settings;
    for (const units of this.#used.splice(0)) yield { type: 'usage', vendor: vendor.name, model, units };
  }
}

function instructionsFor(own: string, call: CallFacts): string {
  const who = call.direction === 'outbound' ? 'You called this person. Their' : "The caller's";
  return `${ON_THE_PHONE}\n${who} number is ${partiesOf(call).person}. Speak the language "${call.language}".\n\n${own}`;
}

function textOf(speeches: readonly ModelSpeech[]): string {
  return speeches
    .map(({ text }) => text.trim())
    .join(' ')
    .trim();
}

/** Speeches of a conversation in text: they count as heard. */
function* inText(speeches: readonly ModelSpeech[]): Generator<DialogAction> {
  for (const speech of speeches) {
    speech.placed(() => ({ state: 'played', heardMs: speech.receivedMs, heardText: speech.text }));
    yield { type: 'say', text: speech.text };
  }
}

/** Whether the model's last words are a question: then a word of agreement is an answer. */
function asks(speeches: readonly ModelSpeech[]): boolean {
  return /[?？؟]["'”’)]*\s*$/u.test(speeches.at(-1)?.text ?? '');
}
