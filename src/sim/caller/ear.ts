import { rmsLevelDb } from '../../audio/level.ts';

export interface Heard {
  readonly fromMs: number;
  /** Undefined while it goes on. */
  readonly toMs: number | undefined;
}

interface Stretch {
  readonly fromMs: number;
  /** End of the last frame with sound in it. */
  lastSoundMs: number;
}

const SAMPLES_PER_MS = 8;
const FRAME_SAMPLES = 160;
const FRAME_MS = 20;
const FINE_MS = 5;
/** Louder than this is the bot speaking; speech comes at about −20 dBFS. */
const SOUND_DB = -45;
/** A pause shorter than this lies inside one spell of speaking: a listener would not take the turn. */
const PAUSE_MS = 700;
/** A pause shorter than this lies inside one phrase. */
const PHRASE_PAUSE_MS = 200;

/** Follows what the caller's ear hears, by level alone, in 20 ms steps on the carrier's sample clock. */
export class CallerEar {
  readonly #spells: Stretch[] = [];
  readonly #phrases: Stretch[] = [];
  #frames = 0;

  /** Takes in what was heard since the last call. @param heard everything heard since the stream began */
  listen(heard: Int16Array): void {
    while ((this.#frames + 1) * FRAME_SAMPLES <= heard.length) {
      const frame = heard.subarray(this.#frames * FRAME_SAMPLES, (this.#frames + 1) * FRAME_SAMPLES);
      const startMs = this.#frames * FRAME_MS;
      this.#frames += 1;
      if (rmsLevelDb(frame) < SOUND_DB) continue;
      extend(this.#spells, startMs, PAUSE_MS);
      extend(this.#phrases, startMs, PHRASE_PAUSE_MS);
    }
  }

  get nowMs(): number {
    return this.#frames * FRAME_MS;
  }

  /** Whether the bot is silent as one who has finished is. */
  get finished(): boolean {
    return this.nowMs - (this.lastSoundMs ?? -Infinity) > PAUSE_MS;
  }

  /** Spells of the bot speaking, oldest first; pauses inside one are shorter than 700 ms. */
  get spells(): readonly Heard[] {
    return this.#ended(this.#spells, PAUSE_MS);
  }

  /** The same, cut where the bot paused for 200 ms: a new answer is a new phrase, however quickly it came. */
  get phrases(): readonly Heard[] {
    return this.#ended(this.#phrases, PHRASE_PAUSE_MS);
  }

  /** When the bot was last heard; undefined before it spoke. */
  get lastSoundMs(): number | undefined {
    return this.#spells.at(-1)?.lastSoundMs;
  }

  #ended(stretches: readonly Stretch[], pauseMs: number): readonly Heard[] {
    return stretches.map(({ fromMs, lastSoundMs }) => ({
      fromMs,
      toMs: this.nowMs - lastSoundMs > pauseMs ? lastSoundMs : undefined,
    }));
  }
}

function extend(stretches: Stretch[], startMs: number, pauseMs: number): void {
  const last = stretches.at(-1);
  if (last !== undefined && startMs - last.lastSoundMs <= pauseMs) last.lastSoundMs = startMs + FRAME_MS;
  else stretches.push({ fromMs: startMs, lastSoundMs: startMs + FRAME_MS });
}

/**
 * When the bot fell silent after the caller began to speak over it, in steps of 5 ms. Sound that begins after
 * `callerEndMs` is an answer and does not count.
 * @param heard everything heard since the stream began, at least up to `untilMs`
 * @returns `sinceMs` when there was no sound any more; undefined when the bot could still be heard at `untilMs`
 */
export function silentFromMs(heard: Int16Array, sinceMs: number, callerEndMs: number, untilMs: number): number | undefined {
  let silentMs = sinceMs;
  for (let atMs = sinceMs; atMs + FINE_MS <= untilMs; atMs += FINE_MS) {
    const window = heard.subarray(Math.round(atMs * SAMPLES_PER_MS), Math.round((atMs + FINE_MS) * SAMPLES_PER_MS));
    if (rmsLevelDb(window) < SOUND_DB) continue;
    if (atMs >= callerEndMs && atMs - silentMs > PHRASE_PAUSE_MS) break;
    silentMs = atMs + FINE_MS;
  }
  return untilMs - silentMs < PHRASE_PAUSE_MS ? undefined : silentMs;
}
