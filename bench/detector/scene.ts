import { decodeMulaw, encodeMulaw } from '../../src/audio/g711.ts';
import { noise, seededRandom } from '../../src/audio/tone.ts';
import type { LineKind } from '../conversation/measure-interruptions.ts';
import { lineNoise, SPEECH_LEVEL_DB, type Stimulus } from '../conversation/stimuli.ts';

/** A sound on a line, at this sample of it. */
export interface Placed {
  readonly stimulus: Stimulus;
  readonly atSample: number;
}

/** The caller's side of one call, as the carrier sends it. */
export interface Scene {
  readonly pcm: Int16Array;
  readonly placed: readonly Placed[];
}

export interface ScenePlan {
  readonly line: LineKind;
  readonly sounds: number;
  /** Until the first sound, whose line is new to the detector, and from one onset to the next; `random` chooses between them. */
  readonly firstMs: readonly [number, number];
  readonly nextMs: readonly [number, number];
}

const PER_MS = 8;
const SNR_DB = 20;
/** What is heard of every sound, and of the line behind the last. */
const TAIL_MS = 4_000;

/** One call: sounds of the pool, one after the other, anywhere in a frame, over the noise of its line. */
export function makeScene(plan: ScenePlan, poolOf: (sound: number) => readonly Stimulus[], seed: number): Scene {
  const random = seededRandom(seed);
  const between = ([least, most]: readonly [number, number]): number => least + (most - least) * random();
  const placed: Placed[] = [];
  let atMs = between(plan.firstMs);
  for (let sound = 0; sound < plan.sounds; sound += 1) {
    const pool = poolOf(sound);
    const stimulus = pool[Math.floor(random() * pool.length)]!;
    placed.push({ stimulus, atSample: Math.round(atMs * PER_MS) });
    atMs += between(plan.nextMs);
  }
  const length = Math.ceil((placed.at(-1)!.atSample / PER_MS + TAIL_MS) / 20) * 20 * PER_MS;
  const background =
    plan.line === 'noisy' ? lineNoise(SPEECH_LEVEL_DB - SNR_DB, seed) : noise(1_000, 8_000, 0.0004, seededRandom(7));
  const pcm = Int16Array.from({ length }, (_, at) => background[at % background.length]!);
  for (const { stimulus, atSample } of placed) {
    for (let at = 0; at < stimulus.pcm.length; at += 1) {
      const sum = pcm[atSample + at]! + stimulus.pcm[at]!;
      pcm[atSample + at] = Math.max(-32_768, Math.min(32_767, sum));
    }
  }
  return { pcm: decodeMulaw(encodeMulaw(pcm)), placed };
}
