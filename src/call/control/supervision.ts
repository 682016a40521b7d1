import { type AllowedTarget, checkTransfer } from '../../config/allowed-target.ts';
import { phrasesOf } from '../../config/bots.ts';
import { OffhookError } from '../../kernel/errors.ts';
import type { Interruptible } from '../../dialog/port.ts';
import type { CallLog } from '../log/call-log.ts';
import type { Media } from '../media.ts';
import type { CallIdentity } from '../log/call-record.ts';
import { type CarrierServices, transferCheckOf } from './carrier-control.ts';
import { callerFloor } from '../turn/floor.ts';
import type { TurnEvent, TurnState } from '../turn/turn-state.ts';

/** What somebody who looks after a live call may have it do. */
export type CallOrder =
  | { readonly type: 'hang-up' }
  /** `to`: a number in E.164 form, or a `sip:` address. */
  | { readonly type: 'transfer'; readonly to: string }
  /** Spoken with the bot's voice as soon as the caller is not speaking, behind what the bot is saying. */
  | { readonly type: 'say'; readonly text: string; readonly interruptible?: Interruptible | undefined }
  /**
   * A muted bot is silent and does nothing: the caller's turns are heard and kept, and the dialog is not asked. After `forMs`
   * in which nobody had anything said it gets its voice back, and asks the caller to say it again.
   */
  | { readonly type: 'mute'; readonly on: boolean; readonly forMs?: number | undefined }
  /** Told to the bot's dialog with its next turn, and never spoken. */
  | { readonly type: 'whisper'; readonly text: string }
  /** Somebody speaks to the caller in the bot's place, or gives the call back. */
  | { readonly type: 'take-over'; readonly on: boolean };

/** Has somebody talk to the caller in the bot's place. */
export interface TakesOver {
  readonly by: string | undefined;
  /** @throws OrderRefusedError */
  begin(by: string): void;
  end(by: string): void;
  close(): void;
}

/** The call cannot do what it is ordered to, and goes on as it was. */
export class OrderRefusedError extends OffhookError {
  readonly code = 'OFFHOOK_ORDER_REFUSED';
  readonly retryable = false;
}

/** What supervision may do to its call. */
export interface SupervisedCall {
  /** Undefined before the first socket. */
  media(): Media | undefined;
  turn(): TurnState;
  /** What the bot meant to press after this reply is not pressed. */
  forgetKeys(): void;
  feed(event: TurnEvent): void;
  hangUp(reason: string): void;
  /** Whether the carrier can be asked to connect the caller to somebody else. */
  canPassOn(): boolean;
  /** @throws CarrierControlError where it does not */
  passOn(to: AllowedTarget): Promise<void>;
  /** The carrier has taken the caller over. */
  transferred(): void;
  readonly takeOver: TakesOver;
  /** @returns false where the bot's dialog takes no advice */
  advise(text: string): boolean;
}

const NO_ADVICE = 'This bot follows a flow, which takes no advice; bots of the kinds llm, http, module and relay do.';

/** Texts that may wait for the caller to stop speaking. */
const MOST_WAITING = 20;
/** A bot is muted for so long where nobody says for how long: whoever muted it may be gone, and the caller waits in silence. */
export const MUTE_LIMIT_MS = 300_000;
/** Who gives the bot its voice back then. */
const TIME_LIMIT = 'time-limit';

/** Orders from outside a call: each one is written to its timeline, with who gave it. */
export class Supervision {
  readonly #identity: CallIdentity;
  readonly #services: CarrierServices;
  readonly #callLog: CallLog;
  readonly #call: SupervisedCall;
  readonly #ending = new AbortController();
  readonly #waiting: (CallOrder & { type: 'say' })[] = [];

  constructor(identity: CallIdentity, services: CarrierServices, callLog: CallLog, call: SupervisedCall) {
    this.#identity = identity;
    this.#services = services;
    this.#callLog = callLog;
    this.#call = call;
  }

  /** When a muted bot gets its voice back by itself. */
  get mutedUntilWallMs(): number | undefined {
    const { clock } = this.#services;
    const { mutedUntilMs } = this.#call.turn().bot;
    return Number.isFinite(mutedUntilMs) ? clock.wallMs() + mutedUntilMs - clock.nowMs() : undefined;
  }

  /**
   * Resolves when it is done; a text when it is queued.
   * @param by who orders it, for the record
   * @throws OrderRefusedError
   * @throws CarrierControlError when the carrier does not take the caller over
   */
  async obey(order: CallOrder, by: string): Promise<void> {
    if (this.#ending.signal.aborted) throw new OrderRefusedError('The call is over.');
    if (order.type !== 'hang-up') this.#mustBeTalking();
    switch (order.type) {
      case 'hang-up':
        this.#callLog.ordered('hang-up', by);
        return this.#call.hangUp('operator-hangup');
      case 'transfer':
        return this.#transfer(order.to, by);
      case 'say':
        this.#mustHaveVoice();
        if (this.#waiting.length >= MOST_WAITING) throw new OrderRefusedError('Too many sentences are already waiting.');
        this.#callLog.ordered('say', by);
        this.#waiting.push(order);
        this.#muteAnew();
        return this.tick();
      case 'mute': {
        const { on, forMs = MUTE_LIMIT_MS } = order;
        this.#mustHaveVoice();
        this.#callLog.ordered(on ? 'mute' : 'unmute', by, on ? forMs : undefined);
        return this.#mute(on, forMs);
      }
      case 'whisper':
        if (!this.#call.advise(order.text)) throw new OrderRefusedError(NO_ADVICE);
        return this.#callLog.ordered('whisper', by, undefined, order.text);
      case 'take-over':
        if (order.on) this.#waiting.length = 0;
        return order.on ? this.#call.takeOver.begin(by) : this.#call.takeOver.end(by);
    }
  }

  /** Says what waits, once the caller does not speak. */
  tick(): void {
    const next = this.#waiting[0];
    if (next === undefined) return;
    const media = this.#call.media();
    const turn = this.#call.turn();
    const { stage } = turn.farewell;
    if (media === undefined || stage === 'last-words' || stage === 'connecting') return;
    if (callerFloor(turn) !== undefined) return;
    this.#waiting.shift();
    const policy = next.interruptible ?? this.#identity.bot.interruption.allow;
    if (turn.phase.name === 'listening') this.#call.feed({ type: 'bot-started', atMs: this.#services.clock.nowMs(), policy });
    media.voice.interject(next.text, this.#callLog.conversation.current, policy);
  }

  /** The bot has words to say that cannot wait: an operator who has the line gives it back. */
  lineNeeded(): void {
    this.#call.takeOver.close();
  }

  /** The call is over: nothing waits any more. */
  close(): void {
    this.#waiting.length = 0;
    this.#ending.abort(new Error('the call is over'));
  }

  /** The bot has the call again: the caller hears so, and what the bot had asked. */
  givenBack(): void {
    const media = this.#call.media();
    // A caller who is speaking just then is answered as always.
    if (media === undefined || callerFloor(this.#call.turn()) !== undefined) return;
    const asked = lastQuestion(this.#callLog.conversation.lastSaid(media.outbound.ledger));
    const text = `${phrasesOf(this.#identity.bot, media.voice.language).backAgain} ${asked}`.trim();
    this.#waiting.push({ type: 'say', text });
    this.tick();
  }

  /** While somebody talks to the caller in its place, the bot has none. */
  #mustHaveVoice(): void {
    const { by } = this.#call.takeOver;
    if (by !== undefined) throw new OrderRefusedError(`${by} has taken the call over by voice; it is to be given back first.`);
  }

  #mustBeTalking(): void {
    if (this.#call.media() === undefined) throw new OrderRefusedError('The call has no audio yet.');
    if (this.#call.turn().farewell.stage === 'last-words') throw new OrderRefusedError('The bot is saying its last words.');
  }

  /** A muted bot says something, so that the caller is not alone: the silence begins anew. */
  #muteAnew(): void {
    const { muted, mutedForMs: forMs } = this.#call.turn().bot;
    if (muted) this.#call.feed({ type: 'muted', atMs: this.#services.clock.nowMs(), on: true, forMs });
  }

  /** Whoever muted the bot has forgotten the caller: what they last said, in all that time, nobody has answered. */
  unmuted(): void {
    this.#callLog.ordered('unmute', TIME_LIMIT);
    const media = this.#call.media();
    // A caller who is speaking just then is answered as always.
    if (media === undefined || this.#waiting.length > 0 || callerFloor(this.#call.turn()) !== undefined) return;
    this.#waiting.push({ type: 'say', text: phrasesOf(this.#identity.bot, media.voice.language).sayAgain });
  }

  /** @param forMs undefined for as long as nobody says otherwise */
  #mute(on: boolean, forMs?: number): void {
    // What the bot meant to do after this reply is not done.
    if (on) this.#call.forgetKeys();
    this.#call.feed({ type: 'muted', atMs: this.#services.clock.nowMs(), on, ...(forMs === undefined ? {} : { forMs }) });
  }

  /** The bot is silent while the carrier decides; where it refuses, the call goes on as it was. */
  async #transfer(to: string, by: string): Promise<void> {
    const { carrier } = this.#identity.inbound;
    if (!this.#call.canPassOn()) throw new OrderRefusedError(`No account of the carrier ${carrier} is configured.`);
    const checked = checkTransfer(to, transferCheckOf(this.#identity, this.#services, false));
    if ('refusal' in checked) {
      this.#callLog.actFailed('transfer', new Error(checked.detail));
      throw new OrderRefusedError(`${checked.refusal}: ${checked.detail}.`);
    }
    this.#callLog.ordered('transfer', by);
    const wasMuted = this.#call.turn().bot.muted;
    this.#mute(true);
    // A carrier may end the stream before it says that it has the caller.
    this.#call.feed({ type: 'connecting', on: true });
    try {
      await this.#call.passOn(checked.target);
    } catch (error) {
      // The stream ended as the carrier took the caller, and the call with it: nobody needs the answer.
      if (this.#ending.signal.aborted) return;
      this.#callLog.actFailed('transfer', error);
      this.#call.feed({ type: 'connecting', on: false });
      if (!wasMuted && this.#call.takeOver.by === undefined) this.#mute(false);
      throw error;
    }
    if (!this.#ending.signal.aborted) this.#call.transferred();
  }
}

/** The question that a text ends with; empty for none. */
function lastQuestion(text: string): string {
  return /[^.!?।]*\?\s*$/u.exec(text)?.[0].trim() ?? '';
}
