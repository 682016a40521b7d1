import type { PhraseSet } from '../config/bot-phrases.ts';
import { type Bot, phrasesOf } from '../config/bots.ts';
import type { WhenDownStep } from '../config/when-down.ts';
import type { Clock } from '../kernel/clock.ts';
import type { CallFacts, DialogAction, DialogHook, DialogTurn } from './port.ts';
import { DialogServerError } from './wire.ts';

/** A bot's fallbacks for when its server is down. */
export interface WhenDown {
  readonly steps: readonly WhenDownStep[];
  readonly phrasesIn: (language: string) => PhraseSet;
}

/** The fallback list in a bot's file; undefined without one. @param canCallBack whether this gateway places calls */
export function whenDownOf(bot: Bot, canCallBack: boolean): WhenDown | undefined {
  if (bot.whenDown === undefined) return undefined;
  const steps = bot.whenDown.filter(({ kind }) => kind !== 'callback' || canCallBack);
  return { steps, phrasesIn: (language) => phrasesOf(bot, language) };
}

/** A description for the chat. */
export function failOverText({ from, step, to }: DialogAction & { readonly type: 'fail-over' }): string {
  return `the server of ${from} is down: ${step}${to === undefined ? '' : ` ${to}`}`;
}

interface State {
  /** Index in the list. */
  readonly at: number;
  /** The turn in which this step began; undefined before that. */
  readonly openedIn: number | undefined;
  readonly askedAgain: boolean;
}

const E164 = /^\+[1-9]\d{6,14}$/u;

/**
 * The conversation when a bot's server is down: goes down the fallback list in the bot's file. A step that is impossible or fails is followed by the
 * next. A repeated turn finds the step unchanged.
 */
export class FailOver implements DialogHook {
  readonly #botName: string;
  readonly #steps: readonly WhenDownStep[];
  readonly #phrasesIn: WhenDown['phrasesIn'];
  readonly #clock: Pick<Clock, 'wallMs'>;
  #state: State = { at: 0, openedIn: undefined, askedAgain: false };
  /** The state at the last turn. */
  #found: { readonly index: number; readonly state: State } | undefined;

  /** @param call decides what is possible: no messages in outbound calls, no call-backs without a number */
  constructor(botName: string, { steps, phrasesIn }: WhenDown, call: CallFacts, clock: Pick<Clock, 'wallMs'>) {
    const isInbound = call.direction === 'inbound';
    const possible: Readonly<Record<WhenDownStep['kind'], boolean>> = {
      bot: true,
      transfer: true,
      message: isInbound,
      callback: isInbound && E164.test(call.from),
    };
    this.#botName = botName;
    this.#steps = steps.filter(({ kind }) => possible[kind]);
    this.#phrasesIn = phrasesIn;
    this.#clock = clock;
  }

  /** Whether no step is left. */
  get isOver(): boolean {
    return this.#state.at >= this.#steps.length;
  }

  /** The step failed: the next turn, or the repeated one, begins with the next step. */
  next(): void {
    this.#state = { at: this.#state.at + 1, openedIn: undefined, askedAgain: false };
    this.#found = undefined;
  }

  /** @throws DialogServerError after the last step */
  async *respond(turn: DialogTurn): AsyncIterable<DialogAction> {
    if (this.#found?.index === turn.index) this.#state = this.#found.state;
    else this.#found = { index: turn.index, state: this.#state };
    const step = this.#steps[this.#state.at];
    if (step === undefined || this.#state.openedIn === undefined) yield* this.#open(turn);
    else yield* this.#goOn(step, turn);
  }

  *#open(turn: DialogTurn): Generator<DialogAction> {
    const step = this.#steps[this.#state.at];
    if (step === undefined) throw new DialogServerError("the bot's server is down, and no fallback is left", { retryable: true });
    this.#state = { ...this.#state, openedIn: turn.index };
    const phrases = this.#phrasesIn(turn.call.language);
    // Before the greeting, the caller has nothing to be told.
    const isGreeting = turn.index === 0;
    const from = this.#botName;
    switch (step.kind) {
      case 'bot':
        yield { type: 'fail-over', from, step: 'bot', to: step.name };
        if (!isGreeting) yield { type: 'say', text: phrases.downBot };
        return yield { type: 'bot', name: step.name };
      case 'transfer': {
        const { to, warm } = step;
        yield { type: 'fail-over', from, step: 'transfer', to };
        yield { type: 'say', text: phrases.downTransfer, interruptible: 'never' };
        return yield { type: 'transfer', to, ...(warm === undefined ? {} : { warm: withoutUndefined(warm) }) };
      }
      case 'message':
        yield { type: 'fail-over', from, step: 'message' };
        yield { type: 'say', text: phrases.leaveMessage };
        return yield { type: 'gather', endpointingMs: step.silenceMs, message: { maxMs: step.maxMs } };
      case 'callback':
        yield { type: 'fail-over', from, step: 'callback' };
        return yield* offerCallBack(phrases);
    }
  }

  *#goOn(step: WhenDownStep, turn: DialogTurn): Generator<DialogAction> {
    const { input, transfer, call } = turn;
    const phrases = this.#phrasesIn(call.language);
    switch (step.kind) {
      case 'bot':
        return yield* this.#open(turn);
      case 'transfer':
        if (input.kind === 'transfer') return yield* input.outcome === 'answered' ? [] : this.#openNext(turn);
        if (transfer !== undefined) return yield { type: 'say', text: phrases.stillConnecting };
        return yield* this.#open(turn);
      case 'message': {
        const text = input.kind === 'spoken' ? input.text.trim() : '';
        if (text === '') return yield* this.#openNext(turn);
        yield { type: 'set', variables: { callerMessage: text } };
        yield { type: 'say', text: phrases.messageTaken, interruptible: 'never' };
        return yield { type: 'hangup', reason: 'message-left' };
      }
      case 'callback': {
        const wish = 'answer' in input && input.answer?.status === 'complete' ? input.answer.value : undefined;
        if (wish === 'yes') {
          yield { type: 'call-back', at: new Date(this.#clock.wallMs()).toISOString() };
          yield { type: 'say', text: phrases.callBackPromised, interruptible: 'never' };
          return yield { type: 'hangup', reason: 'callback-promised' };
        }
        if (wish === 'no' || this.#state.askedAgain) return yield* this.#openNext(turn);
        this.#state = { ...this.#state, askedAgain: true };
        return yield* offerCallBack(phrases);
      }
    }
  }

  *#openNext(turn: DialogTurn): Generator<DialogAction> {
    this.#state = { at: this.#state.at + 1, openedIn: undefined, askedAgain: false };
    yield* this.#open(turn);
  }
}

function* offerCallBack({ offerCallBack: text }: PhraseSet): Generator<DialogAction> {
  yield { type: 'say', text };
  yield { type: 'gather', contract: { kind: 'yes-no' } };
}

function withoutUndefined({ brief, ringMs }: { readonly brief: string; readonly ringMs?: number | undefined }) {
  return ringMs === undefined ? { brief } : { brief, ringMs };
}
