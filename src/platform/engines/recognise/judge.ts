import { type AcousticModel, logLikelihood } from './acoustic-model.ts';
import { FEATURES } from './features.ts';
import type { Hypothesis } from './search.ts';

/** Whether a hypothesis is believed. */
export interface Judgement {
  readonly accepted: boolean;
  /** 0 to 1, one half at the border of acceptance. */
  readonly confidence: number;
  /** Of each word by itself, on the same scale. */
  readonly wordConfidences: readonly number[];
  /** Log likelihood that the words lose to the best states, over all frames. */
  readonly lost: number;
  /** What may be lost for each frame of words. */
  readonly allowed: number;
}

/**
 * Log likelihood a frame that the words may lose to "whichever state fits best", where that best one is as likely as it
 * is for voices like those learnt from. Measured on voices and phrases outside the training (bench/recogniser.md).
 */
export const MAX_GAP = 11;
const USUAL_BEST = 15;
/** Sound that no state fits well (other voices, other lines) must be followed more closely; noise lifts both alike. */
const GAP_SHARE = 0.4;
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
  const first = hypothesis.words[0]!.startFrame;
  const end = hypothesis.words.at(-1)!.endFrame;
  const count = frames.length / FEATURES;
  let [all, looked, inWords, lookedInWords] = [0, 0, 0, 0];
  const best = new Float64Array(count);
  for (let frame = 0; frame < count; frame += STRIDE) {
    let most = -Infinity;
    for (let state = 0; state < model.states.count; state += 1) {
      const score = logLikelihood(model.states, state, frames, frame, most);
      if (score > most) most = score;
    }
    best.fill(most, frame, frame + STRIDE);
    all += most;
    looked += 1;
    if (frame < first || frame >= end) continue;
    inWords += most;
    lookedInWords += 1;
  }
  const lost = (all / Math.max(1, looked)) * count - hypothesis.score;
  const gap = lost / Math.max(MIN_FRAMES, end - first);
  const allowed = MAX_GAP + GAP_SHARE * (inWords / Math.max(1, lookedInWords) - USUAL_BEST);
  const confidenceAt = (frameGap: number): number => 1 / (1 + Math.exp((frameGap - allowed) / SOFTNESS));
  const wordConfidences = hypothesis.words.map(({ startFrame, endFrame, score }, index) => {
    const before = hypothesis.words[index - 1];
    // The silence before a word is in its score.
    const fit = best.subarray(before?.endFrame ?? 0, endFrame).reduce((sum, each) => sum + each, 0);
    return confidenceAt((fit - (score - (before?.score ?? 0))) / Math.max(MIN_FRAMES, endFrame - startFrame));
  });
  return { accepted: gap < allowed, confidence: confidenceAt(gap), wordConfidences, lost, allowed };
}
