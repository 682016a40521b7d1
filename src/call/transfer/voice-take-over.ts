import type { Attachment } from '../../carriers/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import { OrderRefusedError, type TakesOver } from '../control/supervision.ts';
import type { CallLog } from '../log/call-log.ts';
import type { Media } from '../media.ts';
import { keysSecret } from '../turn/asking.ts';
import { isLeaving, type TurnEvent, type TurnState } from '../turn/turn-state.ts';
import { BridgedLine } from './bridge.ts';

/** Format of an operator's voice. */
const OPERATOR = { rateHz: 16_000 } as const;

/** What a take-over may do to its call. */
export interface TakenCall {
  media(): Media | undefined;
  attachment(): Attachment | undefined;
  turn(): TurnState;
  feed(event: TurnEvent): void;
  forgetKeys(): void;
  /** `cancel` gives up an agent being rung. */
  readonly transfers: { readonly whyNotTaken: string | undefined; cancel(): void };
  /** Starts or stops recognition of the caller. */
  listen(on: boolean): void;
  /** Passes a whisper to the dialog's next turn. */
  advise(text: string): unknown;
  /** The bot is unmuted, and says so. */
  givenBack(): void;
}

interface Taken {
  readonly by: string;
  readonly sinceMs: number;
  line: BridgedLine | undefined;
  /** The recogniser was lost during the take-over. */
  isDeaf: boolean;
}

/**
 * Lets an operator talk to the caller in the bot's place: the bot falls silent at once, and the operator's voice goes out on its line and into its
 * channel of the recording. The caller is still recognised, and turns are kept without asking the dialog.
 */
export class VoiceTakeOver implements TakesOver {
  readonly #clock: Clock;
  readonly #callLog: CallLog;
  readonly #call: TakenCall;
  #taken: Taken | undefined;

  constructor(clock: Clock, callLog: CallLog, call: TakenCall) {
    this.#clock = clock;
    this.#callLog = callLog;
    this.#call = call;
  }

  /** The operator who has the call. */
  get by(): string | undefined {
    return this.#taken?.by;
  }

  /** @throws OrderRefusedError */
  begin(by: string): void {
    const media = this.#call.media();
    if (this.#taken !== undefined) throw new OrderRefusedError(`${this.#taken.by} has taken the call over.`);
    const { transfers } = this.#call;
    const why = whyNotNow(this.#call.turn()) ?? transfers.whyNotTaken;
    if (why !== undefined || media === undefined) throw new OrderRefusedError(why ?? 'The call has no audio yet.');
    transfers.cancel();
    this.#call.forgetKeys();
    this.#callLog.ordered('take-over', by);
    const nowMs = this.#clock.nowMs();
    this.#taken = { by, sinceMs: nowMs, line: undefined, isDeaf: false };
    this.#call.feed({ type: 'muted', atMs: nowMs, on: true, forMs: Number.POSITIVE_INFINITY });
    // Drops what a muted bot was to say, and its ambience.
    media.voice.abort();
    media.outbound.lend(nowMs);
    this.reattached();
  }

  /** @throws OrderRefusedError where no operator has the call */
  end(by: string): void {
    const taken = this.#taken;
    if (taken === undefined) throw new OrderRefusedError('No operator has taken the call over.');
    this.#taken = undefined;
    this.#callLog.ordered('give-back', by);
    const nowMs = this.#clock.nowMs();
    this.#call.media()?.outbound.takeBack();
    this.#call.feed({ type: 'muted', atMs: nowMs, on: false });
    if (taken.isDeaf) this.#call.listen(true);
    const seconds = Math.round((nowMs - taken.sinceMs) / 1000);
    this.#call.advise(`An operator talked with the caller for ${seconds} s in your place, and has given the call back to you.`);
    this.#call.givenBack();
  }

  /** Takes in the operator's voice. @param pcm mono at 16 kHz; not kept */
  hear(pcm: Int16Array): void {
    this.#taken?.line?.push(pcm);
  }

  /** The caller's line has a new socket. */
  reattached(): void {
    const attachment = this.#call.attachment();
    const outbound = this.#call.media()?.outbound;
    if (this.#taken === undefined || attachment === undefined) return;
    this.#taken.line = new BridgedLine(OPERATOR, attachment, this.#clock, (...sound) => outbound?.lentSound(...sound));
  }

  /** The recogniser was lost. @returns whether that can wait until the bot needs it again */
  deafens(): boolean {
    if (this.#taken !== undefined) this.#taken.isDeaf = true;
    return this.#taken !== undefined;
  }

  /** Ends the take-over: the bot has urgent words, or the call is over. */
  close(): void {
    if (this.#taken === undefined) return;
    this.#taken = undefined;
    this.#callLog.ordered('give-back', 'call');
    this.#call.media()?.outbound.takeBack();
  }
}

/** A caller keying a secret is heard by no operator either; a leaving caller is not held up. */
function whyNotNow(turn: TurnState): string | undefined {
  if (isLeaving(turn)) return 'The bot is saying its last words.';
  if (turn.farewell.stage === 'connecting') return 'The caller is being transferred.';
  return keysSecret(turn) ? 'The caller is giving a secret value: take over once it is given.' : undefined;
}
