import { FRAME_S } from '../acoustics/mel.ts';
import { type AcousticModel, logLikelihood, wordStatesOf } from './acoustic-model.ts';
import { FEATURES, features, normaliserOf } from './features.ts';
import { shownWord } from './grammar.ts';
import type { RecognisedWord, RecognitionResult } from './port.ts';
import { type FoundWord, type Hypothesis, JOIN_PENALTY, Search, type SearchNetwork } from './search.ts';

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
  /** Its sentences in order, at least one; text '' for one that is not in the vocabulary. */
  readonly results: readonly RecognitionResult[];
  /** Log likelihood that the sentences lose to the best states; undefined when none was accepted. */
  readonly lost?: number;
  /** The cost of recognising no words, for each frame of sound. */
  readonly allowed: number;
  /** The first frame of a sentence that the end of the audio cuts; it is not in the results. */
  readonly cutFrame?: number | undefined;
}

const ALTERNATIVES = 3;
/** Log likelihood added to a word of a boosted phrase: decides between close hypotheses only. */
const BOOST = 5;
/** The documented weight, at which a word gets `BOOST` (ASR doc, parameter boost_weight). */
const DEFAULT_WEIGHT = 10;
/** With a larger weight a phrase would be recognised whatever is said. */
const MOST_WEIGHT = 100;

/**
 * Decodes a stretch of audio: the best path through one or more sentences of the grammar.
 * @param mel     band energies of the audio with some silence round it
 * @param startS  the time of its first frame
 * @param isCut   whether speech goes on after its end: its last sentence, if not the only one, is left out
 */
export function decodeUtterance(
  language: RecognitionModel,
  mel: Float32Array,
  startS: number,
  bonus: (word: number) => number,
  isCut = false,
): Decoded {
  const frames = features(mel, normaliserOf(mel));
  const count = frames.length / FEATURES;
  const search = new Search(language.model, language.network, { bonus, joins: true });
  for (let frame = 0; frame < count; frame += 1) search.step(frames, frame);
  const cut = isCut ? search.underWay() : undefined;
  const isJoined = cut?.words.some(({ starts }, index) => starts && index > 0) === true;
  const [best, ...others] = isJoined ? [cut] : search.hypotheses(true, ALTERNATIVES);
  const empty = emptyResult(language.language, startS, startS + count * FRAME_S);
  if (best === undefined || best.words.length === 0) return { results: [empty], allowed: MAX_GAP };
  const fits = bestFits(language, frames, best);
  const sentences = sentencesOf(best, count).map((sentence) => ({ ...sentence, ...measureConfidence(fits, sentence) }));
  const cutFrame = isJoined ? sentences.pop()?.fromFrame : undefined;
  const allowed = sentences.reduce((sum, each) => sum + each.allowed, 0) / sentences.length;
  const lengthOf = (some: readonly Sentence[]): number =>
    some.reduce((sum, { fromFrame, toFrame }) => sum + toFrame - fromFrame, 0);
  const isMostlyKnown = lengthOf(sentences.filter(({ accepted }) => !accepted)) <= MOST_UNKNOWN * lengthOf(sentences);
  const results = sentences.map(({ words, confidence, wordConfidences }, index): RecognitionResult => {
    const timed = timedWords(language, words, wordConfidences, startS);
    const [from, to] = [timed[0]?.startS ?? empty.startS, timed.at(-1)?.endS ?? empty.endS];
    // Unknown speech without a pause before or after it may have taken some of its words, or lent it some.
    const isKnown = isMostlyKnown && sentences.slice(Math.max(0, index - 1), index + 2).every(({ accepted }) => accepted);
    if (!isKnown) return { ...empty, ...(sentences.length === 1 ? {} : { startS: from, endS: to }), confidence };
    const alternatives = sentences.length > 1 ? [] : alternativesOf(language, best, others, confidence);
    return { ...empty, text: textOf(language, words), words: timed, startS: from, endS: to, confidence, alternatives };
  });
  if (results.every(({ text }) => text === '')) return { results, allowed, cutFrame };
  return { results, allowed, lost: sumOf(fits) - best.score, cutFrame };
}

/** Other sentences that the audio could be. */
function alternativesOf(
  language: RecognitionModel,
  best: Hypothesis,
  others: readonly Hypothesis[],
  confidence: number,
): RecognitionResult['alternatives'] {
  return others
    .filter(({ words }) => words.every(({ starts }, index) => index === 0 || !starts))
    .map(({ words, score }) => ({
      text: textOf(language, words),
      confidence: confidence * Math.exp(Math.max(-20, (score - best.score) / 10)),
    }));
}

/** A sentence of a hypothesis with the silence before it, and after the last one. */
interface Sentence {
  readonly words: readonly FoundWord[];
  readonly fromFrame: number;
  readonly toFrame: number;
  /** Log likelihood of the path before its first frame. */
  readonly scoreBefore: number;
  readonly score: number;
}

function sentencesOf(hypothesis: Hypothesis, frames: number): Sentence[] {
  const sentences: FoundWord[][] = [];
  for (const word of hypothesis.words) {
    if (word.starts || sentences.length === 0) sentences.push([word]);
    else sentences.at(-1)?.push(word);
  }
  return sentences.map((words, index) => {
    const before = sentences[index - 1]?.at(-1);
    const last = index === sentences.length - 1 ? undefined : words.at(-1);
    return {
      words,
      fromFrame: before?.endFrame ?? 0,
      toFrame: last?.endFrame ?? frames,
      // What it costs to go on after a sentence says nothing of how well the next one fits.
      scoreBefore: before === undefined ? 0 : before.score + JOIN_PENALTY,
      score: last?.score ?? hypothesis.score,
    };
  });
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

export function textOf({ model }: RecognitionModel, words: readonly FoundWord[]): string {
  return words.map(({ word }) => shownWord(model.words[word] ?? '')).join(' ');
}

/** Words that are modelled as one share its time by their length. */
function timedWords(
  { model }: RecognitionModel,
  words: readonly FoundWord[],
  wordConfidences: readonly number[],
  startS: number,
): RecognisedWord[] {
  return words.flatMap(({ word, startFrame, endFrame }, index) => {
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
        confidence: wordConfidences[index] ?? 0,
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
/**
 * Words in a row, or one word, that lose so much more than is accepted are unknown speech, however well the words beside them fit.
 * Measured: words that were said lose up to 75, one sentence in 75 up to 149.
 */
const MOST_LOST = 150;
const MOST_LOST_BY_ONE = 200;
/** The best state is looked up for every second frame: enough for a mean, at half the work. */
const STRIDE = 2;
/** Share of speech without a pause that may be unknown: in more, single words would be found whatever was said. */
const MOST_UNKNOWN = 0.25;
/** Words beside a pause, which are none alone, must fit so well. */
const SURE_BESIDE_PAUSE = 0.85;
/** Shorter words are measured as if they had this length. */
const MIN_FRAMES = 8;

function sumOf(values: Float64Array): number {
  return values.reduce((sum, each) => sum + each, 0);
}

/** For each frame the log likelihood of whichever common state fits it best, or state of the hypothesis. */
function bestFits({ model, common }: RecognitionModel, frames: Float32Array, { words }: Hypothesis): Float64Array {
  const first = common ?? model.states.count;
  const states = Array.from({ length: first }, (_, state) => state);
  for (const word of new Set(words.map((found) => found.word))) {
    const own = wordStatesOf(model, word);
    for (let state = Math.max(own.first, first); state < own.first + own.count; state += 1) states.push(state);
  }
  const fits = new Float64Array(frames.length / FEATURES);
  for (let frame = 0; frame < fits.length; frame += STRIDE) {
    let most = -Infinity;
    for (const state of states) most = Math.max(most, logLikelihood(model.states, state, frames, frame, most));
    fits.fill(most, frame, frame + STRIDE);
  }
  return fits;
}

/**
 * Compares the path with the best state of any word at each frame. Words that were said follow the best states closely; a phrase outside
 * the vocabulary fits pieces of many words, and no path of the grammar follows those.
 */
function measureConfidence(fits: Float64Array, { words, fromFrame, toFrame, scoreBefore, score }: Sentence): Confidence {
  const first = words[0]?.startFrame ?? fromFrame;
  const end = words.at(-1)?.endFrame ?? toFrame;
  const inWords = sumOf(fits.subarray(first, end)) / Math.max(1, end - first);
  const allowed = MAX_GAP + GAP_SHARE * (inWords - USUAL_BEST);
  const confidenceAt = (frameGap: number): number => 1 / (1 + Math.exp((frameGap - allowed) / SOFTNESS));
  let run = { lost: 0, words: 0 };
  let hasUnknown = false;
  const wordConfidences = words.map(({ startFrame, endFrame, score: wordScore }, index) => {
    const before = words[index - 1];
    const length = Math.max(MIN_FRAMES, endFrame - startFrame);
    // A word's score includes the silence before it.
    const lost = sumOf(fits.subarray(before?.endFrame ?? fromFrame, endFrame)) - (wordScore - (before?.score ?? scoreBefore));
    const more = run.lost + lost - allowed * length;
    run = more > 0 ? { lost: more, words: run.words + 1 } : { lost: 0, words: 0 };
    hasUnknown ||= run.lost > (run.words > 1 ? MOST_LOST : MOST_LOST_BY_ONE);
    return confidenceAt(lost / length);
  });
  const gap = (sumOf(fits.subarray(fromFrame, toFrame)) - (score - scoreBefore)) / Math.max(MIN_FRAMES, end - first);
  return { accepted: gap < allowed && !hasUnknown, confidence: confidenceAt(gap), wordConfidences, allowed };
}

/** Whether the words between these times fit well enough to be believed where they make no sentence alone. */
export function areSure(results: readonly RecognitionResult[], fromS: number, toS: number): boolean {
  let [sum, lengthS] = [0, 0];
  for (const { startS, endS, confidence } of results.flatMap(({ words }) => words)) {
    if ((startS + endS) / 2 < fromS || (startS + endS) / 2 > toS) continue;
    // The loss by frame, which the confidence was made of.
    sum += Math.log(Math.max(1e-9, confidence) / Math.max(1e-9, 1 - confidence)) * (endS - startS);
    lengthS += endS - startS;
  }
  return lengthS === 0 || 1 / (1 + Math.exp(-sum / lengthS)) >= SURE_BESIDE_PAUSE;
}
