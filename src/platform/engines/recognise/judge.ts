import { type AcousticModel, logLikelihood } from './acoustic-model.ts';
import { FEATURES } from './features.ts';
import type { Hypothesis } from './search.ts';

/** Whether a hypothesis is believed. */
export interface Judgement {
  readonly accepted: boolean;
  /** 0 to 1, one half at the border of acceptance. */
  readonly confidence: number;
}

/**
 * Log likelihood a frame that the words may lose to "whichever state fits best". Measured on voices and phrases outside
 * the training (bench/recogniser.md): phrases of the vocabulary lose 5 to 11, others 11 and more.
 */
const MAX_GAP = 11.6;
const SOFTNESS = 1.5;
/** The best states are looked up for every second frame: enough for a mean, half the work. */
const STRIDE = 2;
/** Very short words are judged as if they were this long. */
const MIN_FRAMES = 8;

/**
 * Compares the path with the best state of any word at each frame. Words that were said follow the best states closely;
 * a phrase outside the vocabulary is explained by bits of many words, and no path of the grammar can follow them.
 */
export function judge(model: AcousticModel, frames: Float32Array, hypothesis: Hypothesis): Judgement {
  const length = hypothesis.words.at(-1)!.endFrame - hypothesis.words[0]!.startFrame;
  let best = 0;
  let looked = 0;
  const count = frames.length / FEATURES;
  for (let frame = 0; frame < count; frame += STRIDE) {
    let most = -Infinity;
    for (let state = 0; state < model.states.count; state += 1) {
      const score = logLikelihood(model.states, state, frames, frame, most);
      if (score > most) most = score;
    }
    best += most;
    looked += 1;
  }
  const gap = ((best / Math.max(1, looked)) * count - hypothesis.score) / Math.max(MIN_FRAMES, length);
  return { accepted: gap < MAX_GAP, confidence: 1 / (1 + Math.exp((gap - MAX_GAP) / SOFTNESS)) };
}
