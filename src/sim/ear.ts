import { rmsLevelDb } from '../audio/level.ts';

export interface Heard {
  readonly fromMs: number;
  /** Undefined while it goes on. */
  readonly toMs: number | undefined;
}

const FRAME_SAMPLES = 160;
const FRAME_MS = 20;
/** Louder than this is the bot speaking; speech comes at about −20 dBFS. */
const SOUND_DB = -45;
/** A pause shorter than this lies inside one utterance. */
const PAUSE_MS = 700;

/** Follows what the caller's ear hears, by level alone, in 20 ms steps on the carrier's sample clock. */
export class CallerEar {
  readonly #spells: { fromMs: number; lastSoundMs: number }[] = [];
  #frames = 0;

  /** Takes in what was heard since the last call. @param heard everything heard since the stream began */
  listen(heard: Int16Array): void {
    while ((this.#frames + 1) * FRAME_SAMPLES <= heard.length) {
      const frame = heard.subarray(this.#frames * FRAME_SAMPLES, (this.#frames + 1) * FRAME_SAMPLES);
      const startMs = this.#frames * FRAME_MS;
      this.#frames += 1;
      if (rmsLevelDb(frame) < SOUND_DB) continue;
      const last = this.#spells.at(-1);
      if (last !== undefined && startMs - last.lastSoundMs <= PAUSE_MS) last.lastSoundMs = startMs + FRAME_MS;
      else this.#spells.push({ fromMs: startMs, lastSoundMs: startMs + FRAME_MS });
    }
  }

  get nowMs(): number {
    return this.#frames * FRAME_MS;
  }

  /** Spells of the bot speaking, oldest first; pauses inside one are shorter than 700 ms. */
  get spells(): readonly Heard[] {
    return this.#spells.map(({ fromMs, lastSoundMs }) => ({
      fromMs,
      toMs: this.nowMs - lastSoundMs > PAUSE_MS ? lastSoundMs : undefined,
    }));
  }

  /** When the bot was last heard; undefined before it spoke. */
  get lastSoundMs(): number | undefined {
    return this.#spells.at(-1)?.lastSoundMs;
  }
}
