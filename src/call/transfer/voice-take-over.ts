import type { CallLine } from '../call-line.ts';
import type { CallLanguage } from '../control/call-language.ts';
import type { CarrierControl } from '../control/carrier-control.ts';
import type { DialogDriver } from '../control/dialog-driver.ts';
import { OrderRefusedError, type TakesOver } from '../control/supervision.ts';
import { keysSecret } from '../turn/asking.ts';
import { isLeaving, type TurnState } from '../turn/turn-state.ts';
import { BridgedLine } from './bridge.ts';
import type { WarmTransfers } from './warm-transfers.ts';

/** Format of an operator's voice. */
const OPERATOR = { rateHz: 16_000 } as const;

interface TakenParts {
  readonly language: CallLanguage;
  readonly carrier: CarrierControl;
  readonly transfers: WarmTransfers;
  readonly dialog: DialogDriver;
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
  readonly #line: CallLine;
  readonly #parts: TakenParts;
  #taken: Taken | undefined;

  constructor(line: CallLine, parts: TakenParts) {
    this.#line = line;
    this.#parts = parts;
  }

  /** The operator who has the call. */
  get by(): string | undefined {
    return this.#taken?.by;
  }

  /** @throws OrderRefusedError */
  begin(by: string): void {
    const { media, turn, clock } = this.#line;
    const { transfers, carrier } = this.#parts;
    if (this.#taken !== undefined) throw new OrderRefusedError(`${this.#taken.by} has taken the call over.`);
    const why = whyNotNow(turn) ?? transfers.whyNotTaken;
    if (why !== undefined || media === undefined) throw new OrderRefusedError(why ?? 'The call has no audio yet.');
    transfers.cancel();
    carrier.forgetKeys();
    this.#line.log.ordered('take-over', by);
    const nowMs = clock.nowMs();
    this.#taken = { by, sinceMs: nowMs, line: undefined, isDeaf: false };
    this.#line.feed({ type: 'muted', atMs: nowMs, on: true, forMs: Number.POSITIVE_INFINITY });
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
    this.#line.log.ordered('give-back', by);
    const nowMs = this.#line.clock.nowMs();
    this.#line.media?.outbound.takeBack();
    this.#line.feed({ type: 'muted', atMs: nowMs, on: false });
    if (taken.isDeaf) this.#parts.language.listen();
    const seconds = Math.round((nowMs - taken.sinceMs) / 1000);
    this.#parts.dialog.advise(
      `An operator talked with the caller for ${seconds} s in your place, and has given the call back to you.`,
    );
    this.#line.emit({ type: 'given-back' });
  }

  /** Takes in the operator's voice. @param pcm mono at 16 kHz; not kept */
  hear(pcm: Int16Array): void {
    this.#taken?.line?.push(pcm);
  }

  /** The caller's line has a new socket. */
  reattached(): void {
    const { attachment, media } = this.#line;
    if (this.#taken === undefined || attachment === undefined) return;
    this.#taken.line = new BridgedLine(OPERATOR, attachment, this.#line.clock, (...sound) => media?.outbound.lentSound(...sound));
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
    this.#line.log.ordered('give-back', 'call');
    this.#line.media?.outbound.takeBack();
  }
}

/** A caller keying a secret is heard by no operator either; a leaving caller is not held up. */
function whyNotNow(turn: TurnState): string | undefined {
  if (isLeaving(turn)) return 'The bot is saying its last words.';
  if (turn.farewell.stage === 'connecting') return 'The caller is being transferred.';
  return keysSecret(turn) ? 'The caller is giving a secret value: take over once it is given.' : undefined;
}
