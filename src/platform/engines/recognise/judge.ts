import { type AcousticModel, logLikelihood, SILENCE_STATE } from './acoustic-model.ts';
import type { Hypothesis } from './search.ts';

/** Whether a hypothesis is believed. */
export interface Judgement {
  readonly accepted: boolean;
  /** 0 to 1, one half at the border of acceptance. */
  readonly confidence: number;
  /** As `confidence`, for each word of the hypothesis. */
  readonly wordConfidences: readonly number[];
}

/** Log likelihood a frame by which the words must beat speech of any kind. */
const ACCEPT = 0;
/** Log likelihood a frame from "even odds" to "about 0.73". */
const SOFTNESS = 1.5;

/**
 * Compares the words with the filler sounds over the same frames: a phrase outside the vocabulary is explained better by
 * fillers, which may be anything, than by the nearest phrase of the grammar.
 */
export function judge(model: AcousticModel, frames: Float32Array, hypothesis: Hypothesis): Judgement {
  const first = hypothesis.words[0]!.startFrame;
  const end = hypothesis.words.at(-1)!.endFrame;
  const fillers = fillerScores(model, frames, hypothesis);
  const total = fillers.reduce((sum, score) => sum + score, 0);
  const margin = (hypothesis.score - total) / Math.max(8, end - first);
  const confidence = 1 / (1 + Math.exp(-(margin - ACCEPT) / SOFTNESS));
  return { accepted: margin > ACCEPT, confidence, wordConfidences: hypothesis.words.map(() => confidence) };
}

/** For each frame, the likelihood of its best filler sound or of silence. */
function fillerScores(model: AcousticModel, frames: Float32Array, _hypothesis: Hypothesis): Float64Array {
  const count = frames.length / (model.filler.means.length / model.filler.count);
  return Float64Array.from({ length: count }, (_, frame) => {
    let best = logLikelihood(model.states, SILENCE_STATE, frames, frame);
    for (let index = 0; index < model.filler.count; index += 1) {
      best = Math.max(best, logLikelihood(model.filler, index, frames, frame));
    }
    return best;
  });
}
