import { decodeMulaw, encodeMulaw } from '../../src/audio/g711.ts';
import { FRAME_BYTES, type Sound } from './sounds.ts';

const FRAME_PCM_BYTES = 2 * FRAME_BYTES;
/** Send times of the last frames of a call, by frame number. */
const REMEMBERED = 1_024;

/** What one call has sent and got. */
export class CallLedger {
  readonly sentAtMs = new Float64Array(REMEMBERED);
  /** Frames sent so far. */
  frames = 0;
  spokenSinceMs: number | undefined;
  /** What the last message to the recogniser took, until it is known whether a commit followed it. */
  heardAfterMs: number | undefined;
  /** Bytes of the bot's voice got since its sentence began. */
  got = 0;
}

/** The gateway's answer to what a caller did. */
export interface Reaction {
  readonly call: number;
  /** The frame in which the caller did it. */
  readonly frame: number;
  /** From that frame's sending to the answer's first byte. */
  readonly afterMs: number;
}

/** What went in and came out, on one clock; checks that it was the same. */
export class Ledger {
  readonly calls: CallLedger[] = [];
  readonly toRecogniserMs: number[] = [];
  readonly toCarrierMs: number[] = [];
  /** There and back, of an echo server: what sockets and this process take by themselves. */
  readonly echoMs: number[] = [];
  /** From the last frame of speech to the first sound of the bot's answer. */
  readonly turns: Reaction[] = [];
  /** Turns of callers who spoke again before an answer, which were then no turns of their own, and the time until they did. */
  readonly wentOn: Reaction[] = [];
  /** Turns that the bot had not answered when the caller's next one ended, and the time until then. */
  readonly unanswered: Reaction[] = [];
  /** From the first frame of speech over the bot to `clear`. */
  readonly clears: Reaction[] = [];
  wrongToRecogniser = 0;
  wrongToCarrier = 0;
  samplesHeard = 0;
  bytesPlayed = 0;
  measuring = false;
  readonly #voice: Buffer;
  readonly #frameOf: (call: number, frame: number) => Buffer;

  /**
   * @param voice what every sentence of the bot sounds like
   * @param frameOf the PCM of a caller's frame
   */
  constructor(voice: Sound, frameOf: (call: number, frame: number) => Buffer) {
    // As calls are linear inside, mu-law's two codes for nothing become one.
    this.#voice = Buffer.from(encodeMulaw(decodeMulaw(Buffer.concat(voice.frames))));
    this.#frameOf = frameOf;
  }

  /** The recogniser of a call got samples. @param at number of samples it had before */
  heard(call: number, at: number, pcm: Buffer): void {
    const ledger = this.calls[call];
    if (ledger === undefined) {
      this.wrongToRecogniser += 1;
      return;
    }
    const nowMs = performance.now();
    let position = at * 2;
    for (let from = 0; from < pcm.length;) {
      const within = position % FRAME_PCM_BYTES;
      const count = Math.min(FRAME_PCM_BYTES - within, pcm.length - from);
      const expected = this.#frameOf(call, Math.floor(position / FRAME_PCM_BYTES));
      if (pcm.compare(expected, within, within + count, from, from + count) !== 0) this.wrongToRecogniser += 1;
      position += count;
      from += count;
    }
    this.samplesHeard += pcm.length / 2;
    const last = Math.ceil(position / FRAME_PCM_BYTES) - 1;
    if (ledger.heardAfterMs !== undefined) this.toRecogniserMs.push(ledger.heardAfterMs);
    const isKnown = this.measuring && last > ledger.frames - REMEMBERED;
    ledger.heardAfterMs = isKnown ? nowMs - ledger.sentAtMs[last % REMEMBERED]! : undefined;
  }

  /** A turn of this call was committed: what was sent for that had waited for more, and for the turn to end, not for the gateway. */
  committed(call: number): void {
    const ledger = this.calls[call];
    if (ledger !== undefined) ledger.heardAfterMs = undefined;
  }

  /** An echo server sent a frame back. */
  echoed(call: number, frame: number): void {
    const sentAtMs = this.calls[call]?.sentAtMs[frame % REMEMBERED];
    if (this.measuring && sentAtMs !== undefined) this.echoMs.push(performance.now() - sentAtMs);
  }

  /** A sentence's first audio leaves the synthesizer. */
  speaks(call: number): void {
    const ledger = this.calls[call];
    if (ledger === undefined) return;
    ledger.spokenSinceMs = performance.now();
  }

  /** A carrier got audio. @param dry it had nothing left to play */
  played(call: number, audio: Buffer, dry: boolean): void {
    const ledger = this.calls[call];
    if (ledger === undefined) return;
    for (let from = 0; from < audio.length;) {
      const within = ledger.got % this.#voice.length;
      const count = Math.min(this.#voice.length - within, audio.length - from);
      if (audio.compare(this.#voice, within, within + count, from, from + count) !== 0) this.wrongToCarrier += 1;
      ledger.got += count;
      from += count;
    }
    this.bytesPlayed += audio.length;
    if (this.measuring && dry && ledger.spokenSinceMs !== undefined)
      this.toCarrierMs.push(performance.now() - ledger.spokenSinceMs);
    ledger.spokenSinceMs = undefined;
  }
}
