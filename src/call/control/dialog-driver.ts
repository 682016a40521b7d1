import type { AudibleAction, DialogAction, DialogHook, DialogTurn } from '../../dialog/port.ts';
import { answerContext, contractHints, mostKeys } from '../../language/index.ts';
import type { CallLine } from '../call-line.ts';
import type { RecogniserHandover } from '../inbound/recogniser-handover.ts';
import type { Reply } from '../outbound/reply.ts';
import { type DiallingIdentity, lockedOpening } from './duties.ts';
import { disposeDialog, runDialog, tellDialog } from './run-dialog.ts';
import { EarlyAnswer } from './early-answer.ts';
import type { Media } from '../media.ts';
import type { Clock } from '../../kernel/clock.ts';
import { sleep } from '../../kernel/waiting.ts';
import type { Logger } from '../../observability/logger.ts';
import { callerFloor } from '../turn/floor.ts';
import { sameWords } from '../turn/transcript.ts';
import { tellDue } from './natural-pause.ts';
import type { CallLanguage } from './call-language.ts';
import type { AgentTransfers, CarrierControl } from './carrier-control.ts';
import type { CallerInput, CallRecord, ResumedCall } from '../log/call-record.ts';
import type { Expectation } from '../turn/turn-state.ts';
import type { ExpectedValue } from '../turn/value-reader.ts';
import { CallerFeed } from './caller-feed.ts';
import { DialogTurns } from './dialog-turns.ts';
import { NO_ANSWER, type RunningAnswer } from './running-answer.ts';

/** Failures in a row at a caller's silence after which the dialog is given up, with an apology. */
const MOST_FAILURES = 3;
/** Delay before a failed turn is asked again, while the caller is told to wait. */
const ASK_AGAIN_MS = 1_000;
/** Time left at which callers are told that the call will end. */
const LAST_MINUTE_MS = 60_000;

export interface DialogServices {
  /** The identity outbound calls are made under. */
  readonly dialling: DiallingIdentity;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Journals the call's record so far, so that a crash loses no turn. Never rejects. */
  readonly journal: (record: CallRecord) => void;
}

/** What a dialog acts on beyond speaking. */
interface DialogParts {
  readonly listening: RecogniserHandover;
  readonly language: CallLanguage;
  readonly carrier: CarrierControl;
  readonly transfers: AgentTransfers;
}

/** The dialog's state that another process needs to continue the call. */
export interface DialogStanding {
  /** Rises with each question and each answer. */
  readonly changes: number;
  /** The dialog was asked, and its answer is not complete. */
  readonly pending: boolean;
  readonly gather: Gather | undefined;
  readonly saved: () => unknown;
}

type Gather = DialogAction & { readonly type: 'gather' };

/** Asks the bot's dialog and carries out its answers. */
export class DialogDriver {
  readonly #line: CallLine;
  readonly #services: DialogServices;
  readonly #parts: DialogParts;
  readonly #hook: DialogHook;
  #failures = 0;
  #answer: RunningAnswer | undefined;
  #warning: 'none' | 'due' | 'given' = 'none';
  #early: EarlyAnswer | undefined;
  #earlyAnswers = 0;
  readonly #turns: DialogTurns;
  #changes = 0;
  #pending = false;
  #gathered: Gather | undefined;
  /** Set on a resumed call until its running turn is answered. */
  #resumed: { readonly gapMs: number; readonly heard: readonly string[] } | undefined;
  /** For a dialog that hears the caller itself. */
  readonly callerFeed: CallerFeed;
  /** Resolves when the dialog has taken in the last message, or took too long. */
  told: Promise<void> = Promise.resolve();

  constructor(line: CallLine, services: DialogServices, parts: DialogParts) {
    this.#line = line;
    this.#services = services;
    this.#parts = parts;
    const { resumed, bot, dialog } = line.identity;
    this.#turns = new DialogTurns(line, parts.transfers);
    this.#hook = dialog.create(this.#turns.facts(resumed?.state.language ?? bot.language), resumed?.state.dialog);
    this.callerFeed = new CallerFeed(line, this.#hook);
  }

  get standing(): DialogStanding {
    return { changes: this.#changes, pending: this.#pending, gather: this.#gathered, saved: () => this.#hook.saved?.() };
  }

  /** Continues a call that a dead process left; the caller first hears an apology for the gap. */
  goOn({ next, gapMs, state }: ResumedCall, media: Media): void {
    const { conversation } = this.#line.log;
    this.#resumed = { gapMs, heard: next.do === 'ask' ? next.heard : [] };
    if (next.do === 'ask') {
      const turn = next.isNew ? conversation.open(next.input, this.#services.clock.wallMs()) : conversation.current;
      return this.ask(next.input, turn, undefined, media);
    }
    const reply = media.voice.start(conversation.current);
    this.#sayLost(reply, media);
    for (const action of next.sentences) {
      if (action.type === 'say') media.voice.say(reply, action);
      else media.voice.play(reply, action);
    }
    media.voice.flush();
    reply.close();
    const answer: RunningAnswer = { ...NO_ANSWER, spoken: true };
    if (state.gather !== undefined) this.#gather(state.gather, answer, media.voice.language);
    this.#listenFor(answer.hints);
  }

  #sayLost(reply: Reply, { voice }: Media): void {
    if (this.#resumed === undefined) return;
    voice.preface(reply, 'lostYou', 'never');
    reply.heardBefore = new Set(this.#resumed.heard);
    this.#resumed = undefined;
  }

  /** Prepares an answer to words the caller may not have finished; it is neither heard nor carried out before `ask`. */
  askEarly(text: string, turn: number, expected: ExpectedValue | undefined, media: Media): void {
    this.#early?.discard();
    this.#earlyAnswers += 1;
    const asked = this.#turns.of({ kind: 'spoken', text }, turn, expected, media);
    const early = { ...asked, idempotencyKey: `${asked.idempotencyKey}.early-${this.#earlyAnswers}`, early: true };
    this.#early = new EarlyAnswer(turn, text, (signal) => this.#respond(early, signal), media.voice);
    this.#line.log.askedEarly(turn);
  }

  /** Speaks the legally required opening of an outbound call: no dialog can leave it out, and nothing interrupts it. */
  #sayOpening(reply: Reply, { voice }: Media): void {
    const { bot, outbound } = this.#line.identity;
    if (outbound === undefined) return;
    // A mailbox cannot opt out by saying "stop".
    const isMailbox = this.#line.log.outbound?.answeredBy === 'mailbox';
    const duties = outbound.duties.filter(({ duty }) => !isMailbox || duty !== 'opt-out-in-call');
    const opening = lockedOpening(bot, this.#services.dialling, duties, voice.language);
    for (const text of opening) voice.say(reply, { type: 'say', text, interruptible: 'never' });
    if (opening[0] !== undefined) this.#line.log.outbound?.identifiesBy(opening[0], reply.turnIndex);
  }

  /** Near the call's longest duration, the next reply begins with an announcement, once. */
  timeLeft(leftMs: number): void {
    const isShort = leftMs <= LAST_MINUTE_MS && this.#line.identity.bot.maxDurationMs > 2 * LAST_MINUTE_MS;
    if (isShort && this.#warning === 'none') this.#warning = 'due';
  }

  tick(nowMs: number): void {
    tellDue(this.#line, this.#hook, nowMs);
  }

  /** Adds a whisper to the dialog's next turn. @returns false where the dialog takes none */
  advise(text: string): boolean {
    if (this.#hook.takesAdvice !== true) return false;
    this.#turns.advice.add(text);
    // The early answer was made without this whisper.
    this.#early?.discard();
    this.#early = undefined;
    return true;
  }

  /** Drops the running reply and asks for another. @param expected the value this turn expected */
  ask(input: CallerInput, turn: number, expected: ExpectedValue | undefined, media: Media): void {
    const { voice } = media;
    this.#journal();
    const reply = voice.start(turn);
    const resumed = this.#resumed;
    this.#sayLost(reply, media);
    this.#line.log.asked(turn, input);
    this.#changes += 1;
    this.#pending = true;
    const isSilence = input.kind === 'no-input' || input.kind === 'tool-result';
    if (!isSilence) this.#gathered = undefined;
    if (input.kind === 'start') this.#sayOpening(reply, media);
    if (this.#warning === 'due') {
      this.#warning = 'given';
      voice.preface(reply, 'timeIsShort');
    }
    const unknown = resumed && { resumed: { gapMs: resumed.gapMs, outcome: 'unknown' as const } };
    const dialogTurn: DialogTurn = { ...this.#turns.of(input, turn, expected, media), ...unknown };
    const early = this.#earlyFor(input, turn);
    const end = (): void => {
      voice.flush();
      reply.close();
    };
    const askAnew = (): void => this.ask(input, turn, expected, media);
    const askAgain = (): void => {
      first.abort(new Error('the turn is asked again'));
      answer.isSecond = true;
      this.#pending = true;
      voice.dropOpen();
      reply.passOverSaid();
      run((signal) => this.#later({ ...dialogTurn, again: true }, signal), reply.signal);
    };
    const first = new AbortController();
    const answer: RunningAnswer = { ...NO_ANSWER, isSecond: false, kind: input.kind, end, askAnew, askAgain };
    this.#answer = answer;
    let collected = false;
    const run = (respond: (signal: AbortSignal) => AsyncIterable<DialogAction>, signal: AbortSignal): void =>
      void runDialog(respond, reply, signal, {
        say: (action) => {
          this.#failures = 0;
          answer.spoken = true;
          if (action.type === 'say') voice.say(reply, action);
          else voice.play(reply, action);
        },
        act: (action) => {
          this.#act(action, answer, voice.language);
          collected ||= action.type === 'set';
          // A flow notes a request before it makes it, so that the note survives a crash.
          if (action.type === 'note') {
            this.#changes += 1;
            this.#journal();
          }
        },
        answered: () => this.#line.log.answered(turn),
        complete: (isEmpty) => {
          this.#changes += 1;
          this.#pending = false;
          // A key alone needs no answer: most are one of several.
          if (isEmpty && input.kind !== 'keyed') this.#line.log.dialogEmpty(turn);
          // A dialog without words for a failed transfer still must not leave the caller in silence.
          if (isEmpty && input.kind === 'transfer') this.#line.emit({ type: 'no-words' });
          voice.flush();
          if (collected) this.#journal();
          // The dialog answered a silence without asking anew.
          if (isSilence && !answer.gathered) this.#expect();
          this.#listenFor(answer.hints);
        },
        failed: (error) => this.failed(error),
      });
    run((signal) => early?.take(signal) ?? this.#respond(dialogTurn, signal), AbortSignal.any([reply.signal, first.signal]));
  }

  /** Asks again after a pause: a server that was away for a moment may be back. */
  async *#later(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction> {
    await sleep(this.#services.clock, ASK_AGAIN_MS, signal);
    yield* this.#respond(turn, signal);
  }

  /** The dialog's answer. Its usage is counted as it comes: an early answer costs the same when it is dropped. */
  async *#respond(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction> {
    for await (const action of this.#hook.respond(turn, signal)) {
      if (action.type === 'usage') this.#line.log.usage.model(action);
      else yield action;
    }
  }

  /**
   * The dialog gave no answer, or broke off. Where a failure action is set for its callers, that answers the turn. Otherwise the caller is told to
   * wait and the same turn is asked once more; a second failure gives the call up. A silent caller is asked whether they are there. Before the
   * greeting, the call is given up at once, or continues from the part of the greeting that was made.
   * @param isLate the caller has waited too long
   */
  failed(error: unknown, isLate = false): void {
    this.#line.log.dialogFailed(error);
    this.#failures += 1;
    this.#changes += 1;
    this.#pending = false;
    const { kind, spoken, isSecond, end, askAnew, askAgain } = this.#answer ?? NO_ANSWER;
    const greets = kind === 'start';
    const isSilence = kind === 'no-input';
    const isLast = isSecond || (isSilence && this.#failures >= MOST_FAILURES) || (greets && !spoken);
    const instead = this.#hook.failOver?.({ error, isLate, isLast });
    if (instead === 'again') {
      this.#failures = 0;
      askAnew();
    } else if (isLast || instead === 'give-up') {
      if (kind === 'transfer' && !spoken) this.#line.emit({ type: 'no-words' });
      else {
        const { failureTransfer: transferTo } = this.#line.identity.bot;
        this.#line.feed({ type: 'last-words', phrase: 'apology', reason: 'dialog-failed', transferTo });
      }
    } else if (greets) end();
    else if (isSilence) {
      const { media, turn, log } = this.#line;
      if (turn.farewell.stage !== 'last-words') media?.voice.phrase('noInput', log.conversation.current, 'always');
    } else {
      // The caller is told to wait.
      this.#line.feed({ type: 'asked-again', atMs: this.#line.clock.nowMs() });
      askAgain();
    }
  }

  /** Informs the dialog without speaking its answer; what it saves and notes is kept. */
  tell(input: CallerInput, media: Media): void {
    const turn = this.#line.log.conversation.open(input, this.#services.clock.wallMs());
    this.#line.log.asked(turn, input);
    this.told = tellDialog(this.#hook, this.#turns.of(input, turn, undefined, media), this.#services.clock, {
      set: (variables) => this.#line.log.set(variables),
      note: (text) => this.#line.log.memory.note(text),
      callBack: (at) => this.#callBack(at),
      failed: (error) => this.#line.log.dialogFailed(error),
    });
  }

  async dispose(): Promise<void> {
    this.#early?.discard();
    await disposeDialog(this.#hook, this.#line.identity.callId, this.#services);
  }

  /** Journals the call as it stands, so that another process can end it after a crash. */
  #journal(): void {
    this.#services.journal(this.#line.record('in-progress'));
  }

  #act(action: Exclude<DialogAction, AudibleAction>, answer: RunningAnswer, spoken: string): void {
    const { language, carrier, transfers } = this.#parts;
    const { media, log, clock } = this.#line;
    switch (action.type) {
      case 'gather':
        return this.#gather(action, answer, spoken);
      case 'listen':
        return this.#line.feed({ type: 'answer-optional' });
      case 'set':
        return log.set(action.variables);
      case 'language':
        return language.change(action.language, action.voice);
      case 'note':
        return log.memory.note(action.text);
      case 'step':
        return log.stepped([...(action.through ?? []), action.name]);
      case 'bot':
        // With several bots, their dialogs handle this: see `switchingBots`.
        throw new RangeError('the call cannot go on as another bot');
      case 'fail-over':
        return log.transfers.failedOver(action);
      case 'call-back':
        return this.#callBack(action.at);
      case 'recording':
        return media?.recording?.consent(action.on, clock.nowMs());
      case 'hangup':
        transfers.cancel();
        return this.#line.feed({ type: 'leave-after-reply', reason: action.reason });
      case 'transfer': {
        const isWarm = action.warm && ({ warm: true } as const);
        transfers.prepare(action);
        return this.#line.feed({ type: 'leave-after-reply', reason: 'transferred', transferTo: action.to, ...isWarm });
      }
      case 'cancel-transfer':
        return transfers.cancel();
      case 'digits':
        return carrier.pressAfterThis(action.digits);
      case 'usage':
        return log.usage.model(action);
    }
  }

  #expect(expectation?: Expectation): void {
    this.#line.feed({ type: 'expect', atMs: this.#line.clock.nowMs(), expectation });
  }

  #listenFor(hints: readonly string[]): void {
    this.#parts.listening.listenFor(hints, () => callerFloor(this.#line.turn) === undefined);
  }

  #callBack(at: string | undefined): void {
    this.#line.log.callBackAtWallMs = at === undefined ? undefined : this.#turns.momentOf(at);
  }

  #gather(gather: Gather, answer: RunningAnswer, language: string): void {
    const { contract, hints, ...rest } = gather;
    this.#changes += 1;
    this.#gathered = gather;
    const context = answerContext(language, this.#services.clock.wallMs(), this.#line.identity.bot.timeZone);
    const expected = contract === undefined ? undefined : { contract, context };
    answer.gathered = true;
    answer.hints = hints ?? (contract === undefined ? [] : contractHints(contract, context.language));
    const most = contract === undefined ? undefined : mostKeys(contract);
    this.#expect({
      ...rest,
      ...(most === undefined || rest.maxDigits !== undefined ? {} : { maxDigits: most }),
      ...(expected === undefined ? {} : { value: expected }),
    });
  }

  /** The early answer, if it was made for these words. */
  #earlyFor(input: CallerInput, turn: number): EarlyAnswer | undefined {
    const early = this.#early;
    this.#early = undefined;
    if (early === undefined) return undefined;
    const hit = early.turn === turn && input.kind === 'spoken' && input.keys === undefined && sameWords(early.text, input.text);
    this.#line.log.earlyAnswer(turn, hit);
    if (!hit) early.discard();
    return hit ? early : undefined;
  }
}
