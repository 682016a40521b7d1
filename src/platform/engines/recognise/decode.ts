import { type AcousticModel, logLikelihood } from './acoustic-model.ts';
import { FEATURES, features, normaliserOf } from './features.ts';
import { type Hypothesis, Search } from './search.ts';
import type { RecognitionResult, RecognisedWord } from './port.ts';
import { FRAME_S } from '../acoustics/mel.ts';
import { type WordNetwork, shownWord } from './network.ts';

/** One language, ready to listen. */
export interface Ear {
  readonly language: string;
  readonly model: AcousticModel;
  readonly network: WordNetwork;
}

const ALTERNATIVES = 3;
/** What a word of a boosted phrase gains, in log likelihood: decides a close race, wins no other. */
const BOOST = 5;
/** The documented weight, at which a word gets `BOOST` (ASR doc, parameter boost_weight). */
const DEFAULT_WEIGHT = 10;
/** Beyond this a phrase would be heard whatever is said. */
const MOST_WEIGHT = 100;

/** The bonus of each word under the caller's boost phrases; words outside the vocabulary have no effect. */
export function boostOf(ear: Ear, phrases: readonly string[], weight = DEFAULT_WEIGHT): (word: number) => number {
  const bonus = (BOOST * Math.max(0, Math.min(MOST_WEIGHT, weight))) / DEFAULT_WEIGHT;
  const said = new Set(phrases.flatMap((phrase) => phrase.toLowerCase().split(/[\s,.?!]+/u)));
  const bonuses = ear.model.words.map((word) => {
    const parts = shownWord(word).toLowerCase().split(' ');
    return parts.every((part) => said.has(part)) ? bonus : 0;
  });
  return (word) => bonuses[word] ?? 0;
}

/** How a stretch of sound was understood, and what that costs beside hearing it as another stretch or as no words at all. */
export interface Understanding {
  readonly result: RecognitionResult;
  /** Log likelihood that the words lose to the best states; undefined when they are not believed. */
  readonly lost?: number;
  /** What hearing no words costs, for each frame of sound. */
  readonly allowed: number;
}

/**
 * Understands a whole utterance: the best path through the grammar, if it beats speech in general.
 * @param mel     band energies of the utterance with some silence round it
 * @param startS  the time of its first frame
 * @returns text '' when it is not in the vocabulary
 */
export function understand(ear: Ear, mel: Float32Array, startS: number, bonus: (word: number) => number): Understanding {
  const frames = features(mel, normaliserOf(mel));
  const count = frames.length / FEATURES;
  const search = new Search(ear.model, ear.network, bonus);
  for (let frame = 0; frame < count; frame += 1) search.step(frames, frame);
  const [best, ...others] = search.hypotheses(true, ALTERNATIVES);
  const endS = startS + count * FRAME_S;
  if (best === undefined || best.words.length === 0) return { result: nothing(ear.language, startS, endS), allowed: MAX_GAP };
  const judgement = judge(ear.model, frames, best);
  const { accepted, confidence, lost, allowed } = judgement;
  if (!accepted) return { result: { ...nothing(ear.language, startS, endS), confidence }, allowed };
  const words = timedWords(ear, best, judgement, startS);
  const result = {
    text: textOf(ear, best),
    words,
    startS: words[0]!.startS,
    endS: words.at(-1)!.endS,
    confidence,
    language: ear.language,
    alternatives: others.map((other) => ({
      text: textOf(ear, other),
      confidence: confidence * Math.exp(Math.max(-20, (other.score - best.score) / 10)),
    })),
  };
  return { result, lost, allowed };
}

export function nothing(language: string, startS: number, endS: number): RecognitionResult {
  return { text: '', words: [], startS, endS, confidence: 0, language, alternatives: [] };
}

export function textOf(ear: Ear, hypothesis: Hypothesis): string {
  return hypothesis.words.map(({ word }) => shownWord(ear.model.words[word]!)).join(' ');
}

/** Words that were modelled as one share its time by their length. */
function timedWords(ear: Ear, hypothesis: Hypothesis, judgement: Judgement, startS: number): RecognisedWord[] {
  return hypothesis.words.flatMap(({ word, startFrame, endFrame }, index) => {
    const parts = shownWord(ear.model.words[word]!).split(' ');
    const letters = parts.reduce((sum, part) => sum + part.length, 0);
    const from = startS + startFrame * FRAME_S;
    const lengthS = (endFrame - startFrame) * FRAME_S;
    let before = 0;
    return parts.map((part) => {
      const timed = {
        word: part,
        startS: from + (lengthS * before) / letters,
        endS: from + (lengthS * (before + part.length)) / letters,
        confidence: judgement.wordConfidences[index] ?? judgement.confidence,
      };
      before += part.length;
      return timed;
    });
  });
}

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
