import { FRAME_S } from '../acoustics/mel.ts';
import { type AcousticModel, logLikelihood, wordStatesOf } from './acoustic-model.ts';
import { FEATURES, features, normaliserOf } from './features.ts';
import { shownWord } from './network.ts';
import type { RecognisedWord, RecognitionResult } from './port.ts';
import { type Hypothesis, Search, type SearchNetwork } from './search.ts';

/** What the recogniser needs for one language. */
export interface RecognitionModel {
  readonly language: string;
  readonly model: AcousticModel;
  readonly network: SearchNetwork;
  /**
   * States of the vocabulary, the first of the model, in all of which the best is looked for to measure confidence: many learnt phrases
   * would cost much and change the measure. All states when absent.
   */
  readonly common?: number;
}

/** A decoded stretch of audio, with the costs to compare it with other divisions of the audio. */
export interface Decoded {
  readonly result: RecognitionResult;
  /** Log likelihood that the words lose to the best states; undefined when they were rejected. */
  readonly lost?: number;
  /** The cost of recognising no words, for each frame of sound. */
  readonly allowed: number;
}

const ALTERNATIVES = 3;
/** Log likelihood added to a word of a boosted phrase: decides between close hypotheses only. */
const BOOST = 5;
/** The documented weight, at which a word gets `BOOST` (ASR doc, parameter boost_weight). */
const DEFAULT_WEIGHT = 10;
/** With a larger weight a phrase would be recognised whatever is said. */
const MOST_WEIGHT = 100;

/**
 * Decodes a whole utterance: the best path through the grammar, if it beats speech in general.
 * @param mel     band energies of the utterance with some silence round it
 * @param startS  the time of its first frame
 * @returns text '' when it is not in the vocabulary
 */
export function decodeUtterance(
  language: RecognitionModel,
  mel: Float32Array,
  startS: number,
  bonus: (word: number) => number,
): Decoded {
  const frames = features(mel, normaliserOf(mel));
  const count = frames.length / FEATURES;
  const search = new Search(language.model, language.network, bonus);
  for (let frame = 0; frame < count; frame += 1) search.step(frames, frame);
  const [best, ...others] = search.hypotheses(true, ALTERNATIVES);
  const empty = emptyResult(language.language, startS, startS + count * FRAME_S);
  if (best === undefined || best.words.length === 0) return { result: empty, allowed: MAX_GAP };
  const measured = measureConfidence(language, frames, best);
  const { accepted, confidence, lost, allowed } = measured;
  if (!accepted) return { result: { ...empty, confidence }, allowed };
  const words = timedWords(language, best, measured, startS);
  const result = {
    ...empty,
    text: textOf(language, best),
    words,
    startS: words[0]?.startS ?? empty.startS,
    endS: words.at(-1)?.endS ?? empty.endS,
    confidence,
    alternatives: others.map((other) => ({
      text: textOf(language, other),
      confidence: confidence * Math.exp(Math.max(-20, (other.score - best.score) / 10)),
    })),
  };
  return { result, lost, allowed };
}

/** The bonus of each word of the client's boost phrases; words outside the vocabulary have no effect. */
export function boostBonus(
  language: RecognitionModel,
  phrases: readonly string[],
  weight = DEFAULT_WEIGHT,
): (word: number) => number {
  const bonus = (BOOST * Math.max(0, Math.min(MOST_WEIGHT, weight))) / DEFAULT_WEIGHT;
  const boosted = new Set(phrases.flatMap((phrase) => phrase.toLowerCase().split(/[\s,.?!]+/u)));
  const bonuses = language.model.words.map((word) => {
    const parts = shownWord(word).toLowerCase().split(' ');
    return parts.every((part) => boosted.has(part)) ? bonus : 0;
  });
  return (word) => bonuses[word] ?? 0;
}

/** The result for audio without recognised words. */
export function emptyResult(language: string, startS: number, endS: number): RecognitionResult {
  return { text: '', words: [], startS, endS, confidence: 0, language, alternatives: [] };
}

export function textOf({ model }: RecognitionModel, hypothesis: Hypothesis): string {
  return hypothesis.words.map(({ word }) => shownWord(model.words[word] ?? '')).join(' ');
}

/** Words that are modelled as one share its time by their length. */
function timedWords({ model }: RecognitionModel, hypothesis: Hypothesis, measured: Confidence, startS: number): RecognisedWord[] {
  return hypothesis.words.flatMap(({ word, startFrame, endFrame }, index) => {
    const parts = shownWord(model.words[word] ?? '').split(' ');
    const letters = parts.reduce((sum, part) => sum + part.length, 0);
    const from = startS + startFrame * FRAME_S;
    const lengthS = (endFrame - startFrame) * FRAME_S;
    let before = 0;
    return parts.map((part) => {
      const timed = {
        word: part,
        startS: from + (lengthS * before) / letters,
        endS: from + (lengthS * (before + part.length)) / letters,
        confidence: measured.wordConfidences[index] ?? measured.confidence,
      };
      before += part.length;
      return timed;
    });
  });
}

/** Whether a hypothesis is accepted or rejected as out of vocabulary. */
interface Confidence {
  readonly accepted: boolean;
  /** 0 to 1, one half at the border of acceptance. */
  readonly confidence: number;
  /** Of each word, on the same scale. */
  readonly wordConfidences: readonly number[];
  /** Log likelihood that the words lose to the best states, over all frames. */
  readonly lost: number;
  /** The loss accepted for each frame of words. */
  readonly allowed: number;
}

/**
 * Log likelihood per frame that the words may lose to "whichever state fits best", where that state fits as well as it does for the
 * trained voices. Measured on voices and phrases outside the training (bench/recogniser/README.md).
 */
export const MAX_GAP = 10.07;
const USUAL_BEST = 15;
/** Audio that no state fits well (other voices, other lines) must be followed more closely; noise lifts both likelihoods. */
const GAP_SHARE = 0.4;
const SOFTNESS = 1.5;
/** The best state is looked up for every second frame: enough for a mean, at half the work. */
const STRIDE = 2;
/** Shorter words are measured as if they had this length. */
const MIN_FRAMES = 8;

/** The common states, and those of the hypothesis. */
function comparedStates(model: AcousticModel, common: number, hypothesis: Hypothesis): Uint32Array {
  const states = Array.from({ length: common }, (_, state) => state);
  for (const word of new Set(hypothesis.words.map((found) => found.word))) {
    const { first, count } = wordStatesOf(model, word);
    for (let state = Math.max(first, common); state < first + count; state += 1) states.push(state);
  }
  return Uint32Array.from(states);
}

/**
 * Compares the path with the best state of any word at each frame. Words that were said follow the best states closely; a phrase outside
 * the vocabulary fits pieces of many words, and no path of the grammar follows those.
 */
function measureConfidence({ model, common }: RecognitionModel, frames: Float32Array, hypothesis: Hypothesis): Confidence {
  const states = comparedStates(model, common ?? model.states.count, hypothesis);
  const first = hypothesis.words[0]?.startFrame ?? 0;
  const end = hypothesis.words.at(-1)?.endFrame ?? 0;
  const count = frames.length / FEATURES;
  let [all, looked, inWords, lookedInWords] = [0, 0, 0, 0];
  const best = new Float64Array(count);
  for (let frame = 0; frame < count; frame += STRIDE) {
    let most = -Infinity;
    for (const state of states) {
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
    // A word's score includes the silence before it.
    const fit = best.subarray(before?.endFrame ?? 0, endFrame).reduce((sum, each) => sum + each, 0);
    return confidenceAt((fit - (score - (before?.score ?? 0))) / Math.max(MIN_FRAMES, endFrame - startFrame));
  });
  return { accepted: gap < allowed, confidence: confidenceAt(gap), wordConfidences, lost, allowed };
}
