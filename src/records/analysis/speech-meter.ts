import { rmsLevelDb, SILENCE_DB } from '../../audio/level.ts';
import { SampleBatch } from '../../audio/samples.ts';

/** Level is judged in frames of 20 ms. */
const FRAMES_A_SECOND = 50;

/** Speech stands at least this far above the channel's own quiet, and above this floor; both in dB, full scale is 0. */
const ABOVE_QUIET_DB = 10;
const FLOOR_DB = -50;

/** Speech goes on through a pause of this many frames: the gaps inside words and between them. */
const HANGOVER_FRAMES = 10;

/** Shorter than any syllable: a click. */
const LEAST_FRAMES = 3;

/** From and up to, in seconds since the recording's first sample. */
export interface Stretch {
  readonly startS: number;
  readonly endS: number;
}

/**
 * Measures the speech in a channel that comes in pieces, by level alone. Quiet is the level that a tenth of the frames stay
 * below; frames of digital silence say nothing about the line and are left out of that. Keeps one number a frame.
 */
export class SpeechMeter {
  readonly #rateHz: number;
  readonly #frameSamples: number;
  readonly #frame: SampleBatch;
  readonly #levels: number[] = [];

  constructor(rateHz: number) {
    this.#rateHz = rateHz;
    this.#frameSamples = Math.max(1, Math.round(rateHz / FRAMES_A_SECOND));
    this.#frame = new SampleBatch(this.#frameSamples);
  }

  push(samples: Int16Array): void {
    for (let from = 0; from < samples.length;) {
      from += this.#frame.add(samples, from);
      if (this.#frame.room === 0) this.#levels.push(rmsLevelDb(this.#frame.take()));
    }
  }

  /** Seconds of speech so far; a frame that is not full does not count. */
  get seconds(): number {
    return this.stretches.reduce((sum, { startS, endS }) => sum + endS - startS, 0);
  }

  /** Stretches of speech, in order; pauses of up to 200 ms are included, sounds of under 60 ms are not. */
  get stretches(): Stretch[] {
    const audible = this.#levels.filter((level) => level > SILENCE_DB).sort((a, b) => a - b);
    const quietDb = audible[Math.floor(audible.length / 10)] ?? SILENCE_DB;
    // A channel that holds nothing but speech has no quiet: then the floor alone decides.
    const threshold = Math.max(FLOOR_DB, Math.min(quietDb + ABOVE_QUIET_DB, (audible.at(-1) ?? 0) - 2 * ABOVE_QUIET_DB));
    const frameS = this.#frameSamples / this.#rateHz;
    const found: Stretch[] = [];
    let first: number | undefined;
    let last = 0;
    const close = (): void => {
      if (first !== undefined && last - first + 1 >= LEAST_FRAMES)
        found.push({ startS: first * frameS, endS: (last + 1) * frameS });
      first = undefined;
    };
    for (const [index, level] of this.#levels.entries()) {
      if (level < threshold) continue;
      if (first === undefined || index - last > HANGOVER_FRAMES + 1) {
        close();
        first = index;
      }
      last = index;
    }
    close();
    return found;
  }
}
