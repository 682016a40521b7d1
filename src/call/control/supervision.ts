import { checkTransfer } from '../../config/allowed-target.ts';
import { phrasesOf } from '../../config/bots.ts';
import { OffhookError } from '../../kernel/errors.ts';
import type { Interruptible } from '../../dialog/port.ts';
import type { CallLine } from '../call-line.ts';
import { callerFloor } from '../turn/floor.ts';
import { type CarrierControl, type CarrierServices, transferCheckOf } from './carrier-control.ts';
import type { DialogDriver } from './dialog-driver.ts';

/** Orders that an operator can give to a live call. */
export type CallOrder =
  | { readonly type: 'hang-up' }
  /** `to`: a number in E.164 form, or a `sip:` address. */
  | { readonly type: 'transfer'; readonly to: string }
  /** Spoken in the bot's voice once the caller is not speaking, after the bot's current words. */
  | { readonly type: 'say'; readonly text: string; readonly interruptible?: Interruptible | undefined }
  /**
   * A muted bot is silent and inactive: the caller's turns are kept, and the dialog is not asked. After `forMs` without an operator's text it is
   * unmuted, and asks the caller to repeat.
   */
  | { readonly type: 'mute'; readonly on: boolean; readonly forMs?: number | undefined }
  /** Passed to the bot's dialog with its next turn, never spoken. */
  | { readonly type: 'whisper'; readonly text: string }
  /** An operator speaks to the caller in the bot's place, or gives the call back. */
  | { readonly type: 'take-over'; readonly on: boolean };

/** Lets an operator talk to the caller in the bot's place. */
export interface TakesOver {
  readonly by: string | undefined;
  /** @throws OrderRefusedError */
  begin(by: string): void;
  end(by: string): void;
  close(): void;
}

/** The call cannot carry out the order, and continues unchanged. */
export class OrderRefusedError extends OffhookError {
  readonly code = 'OFFHOOK_ORDER_REFUSED';
  readonly retryable = false;
}

interface SupervisedParts {
  readonly carrier: CarrierControl;
  readonly dialog: DialogDriver;
  readonly takeOver: TakesOver;
}

const NO_ADVICE = 'This bot follows a flow, which takes no advice; bots of the kinds llm, http, module and relay do.';

/** Most texts that may wait for the caller to stop speaking. */
const MOST_WAITING = 20;
/** Default limit of a mute: the operator may have left, and the caller waits in silence. */
export const MUTE_LIMIT_MS = 300_000;
/** Named in the record as what unmuted the bot then. */
const TIME_LIMIT = 'time-limit';

/** Orders from outside a call; each is written to its timeline with the name of the operator. */
export class Supervision {
  readonly #line: CallLine;
  readonly #services: Pick<CarrierServices, 'destinationsOf'>;
  readonly #parts: SupervisedParts;
  readonly #ending = new AbortController();
  readonly #waiting: (CallOrder & { type: 'say' })[] = [];
  #holder: string | undefined;

  constructor(line: CallLine, services: Pick<CarrierServices, 'destinationsOf'>, parts: SupervisedParts) {
    this.#line = line;
    this.#services = services;
    this.#parts = parts;
  }

  /** When a muted bot is unmuted automatically. */
  get mutedUntilWallMs(): number | undefined {
    const { clock, turn } = this.#line;
    const { mutedUntilMs } = turn.bot;
    return Number.isFinite(mutedUntilMs) ? clock.wallMs() + mutedUntilMs - clock.nowMs() : undefined;
  }

  /** The operator who muted the bot and speaks in its place by typing; one has a call at a time. */
  get mutedBy(): string | undefined {
    return this.#line.turn.bot.muted ? this.#holder : undefined;
  }

  /**
   * Resolves when the order is carried out; for a text, when it is queued.
   * @param by who gave it, for the record
   * @throws OrderRefusedError
   * @throws CarrierControlError when the carrier does not take the caller over
   */
  async obey(order: CallOrder, by: string): Promise<void> {
    if (this.#ending.signal.aborted) throw new OrderRefusedError('The call is over.');
    if (order.type !== 'hang-up') this.#mustBeTalking();
    switch (order.type) {
      case 'hang-up':
        this.#line.log.ordered('hang-up', by);
        return this.#line.hangUp('operator-hangup');
      case 'transfer':
        return this.#transfer(order.to, by);
      case 'say':
        this.#mustHaveVoice();
        this.#mustHold(by);
        if (this.#waiting.length >= MOST_WAITING) throw new OrderRefusedError('Too many sentences are already waiting.');
        this.#line.log.ordered('say', by);
        this.#waiting.push(order);
        this.#muteAnew();
        return this.tick();
      case 'mute': {
        const { on, forMs = MUTE_LIMIT_MS } = order;
        this.#mustHaveVoice();
        this.#mustHold(by);
        this.#holder = by;
        this.#line.log.ordered(on ? 'mute' : 'unmute', by, on ? forMs : undefined);
        return this.#mute(on, forMs);
      }
      case 'whisper':
        if (!this.#parts.dialog.advise(order.text)) throw new OrderRefusedError(NO_ADVICE);
        return this.#line.log.ordered('whisper', by, undefined, order.text);
      case 'take-over':
        this.#mustHold(by);
        if (order.on) this.#waiting.length = 0;
        return order.on ? this.#parts.takeOver.begin(by) : this.#parts.takeOver.end(by);
    }
  }

  /** Speaks waiting texts once the caller is silent. */
  tick(): void {
    const next = this.#waiting[0];
    if (next === undefined) return;
    const { media, turn } = this.#line;
    const { stage } = turn.farewell;
    if (media === undefined || stage === 'last-words' || stage === 'connecting') return;
    if (callerFloor(turn) !== undefined) return;
    this.#waiting.shift();
    const policy = next.interruptible ?? this.#line.identity.bot.interruption.allow;
    if (turn.phase.name === 'listening') this.#line.feed({ type: 'bot-started', atMs: this.#line.clock.nowMs(), policy });
    media.voice.interject(next.text, this.#line.log.conversation.current, policy);
  }

  /** The bot has urgent words: an operator's take-over ends. */
  lineNeeded(): void {
    this.#parts.takeOver.close();
  }

  /** The call is over: drops waiting texts. */
  close(): void {
    this.#waiting.length = 0;
    this.#ending.abort(new Error('the call is over'));
  }

  /** The bot has the call back: tells the caller, and repeats the bot's last question. */
  givenBack(): void {
    const media = this.#line.media;
    // A caller who is speaking now is answered as usual.
    if (media === undefined || callerFloor(this.#line.turn) !== undefined) return;
    const asked = lastQuestion(this.#line.log.conversation.lastSaid(media.outbound.ledger));
    const text = `${phrasesOf(this.#line.identity.bot, media.voice.language).backAgain} ${asked}`.trim();
    this.#waiting.push({ type: 'say', text });
    this.tick();
  }

  /** The bot has no voice during a take-over. */
  #mustHaveVoice(): void {
    const { by } = this.#parts.takeOver;
    if (by !== undefined) throw new OrderRefusedError(`${by} has taken the call over by voice; it is to be given back first.`);
  }

  /** Two operators who answer one caller contradict each other. */
  #mustHold(by: string): void {
    const holder = this.mutedBy;
    if (holder !== undefined && holder !== by)
      throw new OrderRefusedError(`${holder} has taken the call over by typing; the bot is to have its voice back first.`);
  }

  #mustBeTalking(): void {
    if (this.#line.media === undefined) throw new OrderRefusedError('The call has no audio yet.');
    if (this.#line.turn.farewell.stage === 'last-words') throw new OrderRefusedError('The bot is saying its last words.');
  }

  /** Restarts the mute's time limit when an operator's text is spoken. */
  #muteAnew(): void {
    const { muted, mutedForMs: forMs } = this.#line.turn.bot;
    if (muted) this.#line.feed({ type: 'muted', atMs: this.#line.clock.nowMs(), on: true, forMs });
  }

  /** The mute ran out: the caller's last words went unanswered, so they are asked to repeat. */
  unmuted(): void {
    this.#line.log.ordered('unmute', TIME_LIMIT);
    const media = this.#line.media;
    // A caller who is speaking now is answered as usual.
    if (media === undefined || this.#waiting.length > 0 || callerFloor(this.#line.turn) !== undefined) return;
    this.#waiting.push({ type: 'say', text: phrasesOf(this.#line.identity.bot, media.voice.language).sayAgain });
  }

  /** @param forMs no limit when absent */
  #mute(on: boolean, forMs?: number): void {
    // Drops what the bot meant to do after this reply.
    if (on) this.#parts.carrier.forgetKeys();
    this.#line.feed({ type: 'muted', atMs: this.#line.clock.nowMs(), on, ...(forMs === undefined ? {} : { forMs }) });
  }

  /** The bot is silent while the carrier decides; after a refusal the call continues unchanged. */
  async #transfer(to: string, by: string): Promise<void> {
    const { carrier } = this.#line.identity.inbound;
    if (!this.#parts.carrier.canPassOn) throw new OrderRefusedError(`No account of the carrier ${carrier} is configured.`);
    const checked = checkTransfer(to, transferCheckOf(this.#line.identity, this.#services, false));
    if ('refusal' in checked) {
      this.#line.log.actFailed('transfer', new Error(checked.detail));
      throw new OrderRefusedError(`${checked.refusal}: ${checked.detail}.`);
    }
    this.#line.log.ordered('transfer', by);
    const wasMuted = this.#line.turn.bot.muted;
    if (!wasMuted) this.#holder = undefined;
    this.#mute(true);
    // A carrier may end the stream before it confirms the transfer.
    this.#line.feed({ type: 'connecting', on: true });
    try {
      await this.#parts.carrier.passOn(checked.target);
    } catch (error) {
      // The stream ended with the transfer, and the call with it: the answer is not needed.
      if (this.#ending.signal.aborted) return;
      this.#line.log.actFailed('transfer', error);
      this.#line.feed({ type: 'connecting', on: false });
      if (!wasMuted && this.#parts.takeOver.by === undefined) this.#mute(false);
      throw error;
    }
    if (!this.#ending.signal.aborted) this.#line.emit({ type: 'transferred' });
  }
}

/** The question a text ends with; empty where there is none. */
function lastQuestion(text: string): string {
  return /[^.!?।]*\?\s*$/u.exec(text)?.[0].trim() ?? '';
}
