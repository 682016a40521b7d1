import { Recording } from './recording.ts';

/** Audio block for listeners; with the recording's margin, they are less than 300 ms behind. */
const BLOCK_MS = 40;
const MOST_LISTENERS = 20;

/** Takes the sound of a call as it is heard. */
export type SoundSink = Pick<Recording, 'caller' | 'bot' | 'other' | 'cleared' | 'silenceCaller' | 'detached'>;

/** Hears the sound of a call. @param stereo interleaved signed 16-bit samples, little-endian: caller left, bot right; not changed afterwards */
export type SoundListener = (stereo: Uint8Array) => void;

export interface SoundRates {
  /** Rate of the caller's audio and of what listeners get. */
  readonly rateHz: number;
  readonly sentRateHz: number;
}

/**
 * The sound of a call as both sides hear it, for the recording and for listeners. Listeners get what a recording would hold, silenced parts included,
 * whether or not the call is recorded; without listeners this costs nothing.
 */
export class HeardSound implements SoundSink {
  readonly recording: Recording | undefined;
  readonly rateHz: number;
  readonly #sentRateHz: number;
  readonly #aheadMs: number;
  readonly #listeners = new Set<SoundListener>();
  #tap: Recording | undefined;

  /** @param aheadMs most time between sending the bot's audio and its playout */
  constructor(recording: Recording | undefined, aheadMs: number, { rateHz, sentRateHz }: SoundRates) {
    this.recording = recording;
    this.rateHz = rateHz;
    this.#aheadMs = aheadMs;
    this.#sentRateHz = sentRateHz;
  }

  /** @returns stops listening; undefined where too many listen already */
  listen(listener: SoundListener): (() => void) | undefined {
    if (this.#listeners.size >= MOST_LISTENERS) return undefined;
    this.#listeners.add(listener);
    this.#tap ??= this.#opened();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#tap = undefined;
    };
  }

  caller(pcm: Int16Array, timestampMs: number | undefined, nowMs: number, wallMs: number): void {
    this.recording?.caller(pcm, timestampMs, nowMs, wallMs);
    this.#tap?.caller(pcm, timestampMs, nowMs, wallMs);
  }

  bot(pcm: Int16Array, startMs: number, nowMs: number): void {
    this.recording?.bot(pcm, startMs, nowMs);
    this.#tap?.bot(pcm, startMs, nowMs);
  }

  other(pcm: Int16Array, timestampMs: number | undefined, nowMs: number): void {
    this.recording?.other(pcm, timestampMs, nowMs);
    this.#tap?.other(pcm, timestampMs, nowMs);
  }

  cleared(nowMs: number): void {
    this.recording?.cleared(nowMs);
    this.#tap?.cleared(nowMs);
  }

  silenceCaller(nowMs: number): void {
    this.recording?.silenceCaller(nowMs);
    this.#tap?.silenceCaller(nowMs);
  }

  detached(nowMs: number, reason: string): void {
    this.recording?.detached(nowMs, reason);
    this.#tap?.detached(nowMs, reason);
  }

  tick(nowMs: number): void {
    this.recording?.tick(nowMs);
    this.#tap?.tick(nowMs);
  }

  #opened(): Recording {
    const write = (_atByte: number, lent: Uint8Array): void => {
      const stereo = lent.slice();
      for (const listener of this.#listeners) listener(stereo);
    };
    const files = { create: () => ({ failure: undefined, write, finish: async () => false }) };
    const rates = { rateHz: this.rateHz, botRateHz: this.#sentRateHz };
    return new Recording('', '', { files, aheadMs: this.#aheadMs, ...rates, blockMs: BLOCK_MS });
  }
}
