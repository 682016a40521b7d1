import { activeLevelDb, amplify } from '../../../audio/level.ts';
import { seededRandom } from '../../../audio/tone.ts';
import { setImmediate } from 'node:timers/promises';
import { type SceneName, scenes } from './scenes.ts';

/** Length of a scene's loop; the repetition is inaudible behind speech. */
const SCENE_S = 12;
/** The end of a loop fades into its start, so that it repeats without a click. */
const OVERLAP_S = 0.25;
/** Discarded at the start, while the filters settle. */
const SETTLE_S = 0.5;
const SEED = 20_240;

const loops = new Map<string, Promise<Int16Array>>();

/**
 * A preset as a loop: random with a fixed seed, so that every call hears the same; cached by rate and level.
 * @param levelDb level of its loud parts, dBFS
 */
export function sceneLoop(name: SceneName, rateHz: number, levelDb: number): Promise<Int16Array> {
  const key = `${name} ${rateHz} ${levelDb}`;
  let loop = loops.get(key);
  if (loop === undefined) loops.set(key, (loop = makeScene(name, rateHz, levelDb)));
  return loop;
}

async function makeScene(name: SceneName, rateHz: number, levelDb: number): Promise<Int16Array> {
  const sound = scenes[name]({ random: seededRandom(SEED), rateHz });
  for (let left = SETTLE_S * rateHz; left > 0; left -= 1) sound();
  const samples = new Float64Array(SCENE_S * rateHz);
  let peak = 1e-9;
  for (let at = 0; at < samples.length; at += 1) {
    // One second of audio takes some 20 ms to compute.
    if (at % rateHz === 0) await setImmediate();
    const sample = sound();
    samples[at] = sample;
    peak = Math.max(peak, Math.abs(sample));
  }
  return loopOf(
    Int16Array.from(samples, (sample) => (sample / peak) * 20_000),
    rateHz,
    levelDb,
  );
}

/** A clip as a loop at this level; the end of a clip fades into its start. */
export function loopOf(pcm: Int16Array, rateHz: number, levelDb: number): Int16Array {
  const levelled = amplify(pcm, levelDb - activeLevelDb(pcm, rateHz));
  const overlap = Math.min(Math.round(OVERLAP_S * rateHz), pcm.length >> 2);
  const loop = levelled.slice(0, levelled.length - overlap);
  for (let index = 0; index < overlap; index += 1) {
    // Equal-power fade: the two ends are uncorrelated.
    const turn = (Math.PI / 2) * (index / overlap);
    loop[index] = Math.round((loop[index] ?? 0) * Math.sin(turn) + (levelled[loop.length + index] ?? 0) * Math.cos(turn));
  }
  return loop;
}

/** Mixes a loop under speech as it streams. */
export class Backdrop {
  readonly #loop: Int16Array;
  readonly #volume: number;
  #at = 0;

  /** @param volume 0 to 1; at 1 the background is as loud as the speech */
  constructor(loop: Int16Array, volume: number) {
    this.#loop = loop;
    this.#volume = volume;
  }

  /** @returns a new array with the mix, limited to 16 bits */
  under(pcm: Int16Array): Int16Array {
    return Int16Array.from(pcm, (sample) => {
      const behind = this.#loop[this.#at] ?? 0;
      this.#at = (this.#at + 1) % this.#loop.length;
      return Math.max(-32_768, Math.min(32_767, Math.round(sample + this.#volume * behind)));
    });
  }
}
