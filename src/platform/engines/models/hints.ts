import type { RecognisedWord, RecognitionResult } from '../recognise/port.ts';
import { COMMON_WORDS, EXACT_WORDS } from './common-words.ts';
import { beginAlike, soundDistance, soundsOf } from './sounds.ts';

/** Largest distance between heard words and a hint, for each sound; for short ones in all: a vowel and a weak consonant. */
const MOST_DISTANCE = 0.2;
const MOST_OF_SHORT = 0.75;
const SHORT_SOUNDS = 8;
/** Fewer sounds must match exactly. */
const FEWEST_SOUNDS = 5;
/** The same for a hint heard as more words than it has. */
const MOST_OF_SPLIT = 0.16;
/** Largest distance at which common words are replaced. */
const NEARLY_SAME = 0.1;
/** Lead over the second best hint. */
const CLEARLY = 0.08;
/** Most extra words in a group compared with a hint. */
const MORE_WORDS = 2;
/** Endings that inflect a word. */
const ENDING = /^(?:e?s|e?d|l?ed|l?ing|ly|er|s|ों|ें|ी|े|ा)$/u;

interface Hint {
  readonly text: string;
  readonly sounds: string;
  readonly words: readonly string[];
}

interface Found {
  readonly from: number;
  readonly count: number;
  readonly hint: Hint;
  /** For each sound. */
  readonly distance: number;
}

/** A word without punctuation, to be compared. */
const bare = (word: string): string => word.toLowerCase().replaceAll(/[^\p{L}\p{M}\p{N}]/gu, '');
const wordsOf = (text: string): string[] => text.split(/\s+/u).filter((word) => bare(word) !== '');

/**
 * Replaces words that sound like a hint. Not replaced: words that two hints match equally, hints themselves, numbers, days and answers. The heard
 * words stay in the alternatives, after the first.
 */
export function withHints(result: RecognitionResult, hints: readonly string[]): RecognitionResult {
  const known = hintsOf(hints);
  if (known.length === 0 || result.words.length === 0) return result;
  const found = findHints(
    result.words.map(({ word }) => word),
    known,
  );
  if (found.length === 0) return result;
  const words: RecognisedWord[] = [];
  let at = 0;
  for (const { from, count, hint, distance } of found) {
    words.push(...result.words.slice(at, from), ...hintWords(hint, result.words.slice(from, from + count), distance));
    at = from + count;
  }
  words.push(...result.words.slice(at));
  const text = words.map(({ word }) => word).join(' ');
  const confidence = result.confidence * (1 - Math.max(...found.map(({ distance }) => distance)));
  const heard = { text: result.text, confidence: result.confidence };
  const others = result.alternatives.filter((each) => each.text !== heard.text && each.text !== text);
  return { ...result, text, words, confidence, alternatives: [{ text, confidence }, heard, ...others] };
}

function hintsOf(texts: readonly string[]): Hint[] {
  return texts.flatMap((text) => {
    const words = wordsOf(text);
    const sounds = words.map(soundsOf).join('');
    return sounds === '' || words.some((word) => EXACT_WORDS.has(bare(word))) ? [] : [{ text, words, sounds }];
  });
}

function findHints(heard: readonly string[], hints: readonly Hint[]): Found[] {
  const taken = heard.map((word) => EXACT_WORDS.has(bare(word)));
  for (const { words } of hints) {
    for (let from = 0; from + words.length <= heard.length; from += 1) {
      const isThere = words.every((word, index) => bare(word) === bare(heard[from + index] ?? ''));
      if (isThere) taken.fill(true, from, from + words.length);
    }
  }
  const all: Found[] = [];
  for (let from = 0; from < heard.length; from += 1) {
    const most = Math.max(...hints.map(({ words }) => words.length)) + MORE_WORDS;
    for (let count = 1; count <= most && from + count <= heard.length; count += 1) {
      if (taken[from + count - 1] === true) break;
      const best = bestHint(heard.slice(from, from + count), hints);
      if (best !== undefined) all.push({ from, count, ...best });
    }
  }
  // Nearest first; on a tie, the one that covers more.
  all.sort((a, b) => a.distance - b.distance || b.count - a.count);
  const chosen: Found[] = [];
  for (const each of all) {
    if (chosen.every((other) => each.from + each.count <= other.from || other.from + other.count <= each.from)) chosen.push(each);
  }
  return chosen.sort((a, b) => a.from - b.from);
}

/** The hint that these words stand for; undefined without one, or for two. */
function bestHint(heard: readonly string[], hints: readonly Hint[]): { hint: Hint; distance: number } | undefined {
  const near = hints
    .flatMap((hint) => {
      const distance = distanceTo(hint, heard);
      return distance === undefined ? [] : [{ hint, distance }];
    })
    .toSorted((a, b) => a.distance - b.distance);
  const [first, second] = near;
  if (first === undefined) return undefined;
  return second !== undefined && second.distance - first.distance < CLEARLY ? undefined : first;
}

/** Distance of the words from the hint, for each sound; undefined where they do not match. */
function distanceTo(hint: Hint, heard: readonly string[]): number | undefined {
  if (heard.length > hint.words.length + MORE_WORDS) return undefined;
  const isCommon = heard.every((word) => COMMON_WORDS.has(bare(word)));
  const sounds = heard.map(soundsOf);
  const all = soundsAlike(sounds.join(''), hint.sounds);
  // With more words than the hint has, one of them may be another word.
  if (all === undefined || (heard.length > hint.words.length && all > MOST_OF_SPLIT)) return undefined;
  if (heard.length === hint.words.length) {
    // Word by word: one of them may be another word altogether, as in two names.
    for (const [index, word] of heard.entries()) {
      const wanted = hint.words[index] ?? '';
      if (isForm(bare(word), bare(wanted))) return undefined;
      if (soundsAlike(sounds[index] ?? '', soundsOf(wanted)) === undefined) return undefined;
    }
    if (isCommon && heard.length === 1) return undefined;
  }
  if (isCommon && all > NEARLY_SAME) return undefined;
  // A short sound has another word in the other script, for example dial and dil.
  const otherScript = isDevanagari(heard.join('')) !== isDevanagari(hint.text);
  return otherScript && (hint.sounds.length < SHORT_SOUNDS - 2 || all > NEARLY_SAME) ? undefined : all;
}

/** @returns distance of two words, for each sound; undefined where it is too large for their length */
function soundsAlike(a: string, b: string): number | undefined {
  if (!beginAlike(a, b)) return undefined;
  const distance = soundDistance(a, b);
  const sounds = Math.max(a.length, b.length);
  const most =
    b.length < FEWEST_SOUNDS
      ? 0
      : b.length < SHORT_SOUNDS
        ? Math.min(MOST_OF_SHORT, MOST_DISTANCE * sounds)
        : MOST_DISTANCE * sounds;
  return distance <= most ? distance / sounds : undefined;
}

/** Whether two words are forms of one, such as cancel and cancelled, which is not a mishearing. */
function isForm(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short !== '' && long.startsWith(short) && ENDING.test(long.slice(short.length));
}

const isDevanagari = (text: string): boolean => /\p{Script=Devanagari}/u.test(text);

/** The hint's words at the place and time of the heard ones, with their final punctuation. */
function hintWords(hint: Hint, heard: readonly RecognisedWord[], distance: number): RecognisedWord[] {
  const startS = heard[0]?.startS ?? 0;
  const endS = heard.at(-1)?.endS ?? startS;
  const confidence = Math.min(...heard.map((word) => word.confidence)) * (1 - distance);
  const ending = /[^\p{L}\p{M}\p{N}]*$/u.exec(heard.at(-1)?.word ?? '')?.[0] ?? '';
  const words = hint.text.split(/\s+/u);
  const each = (endS - startS) / words.length;
  return words.map((word, index) => ({
    word: index === words.length - 1 ? `${word}${ending}` : word,
    startS: startS + index * each,
    endS: startS + (index + 1) * each,
    confidence,
  }));
}
