import { ENGLISH_CLASSES } from './opt-out-english-words.ts';
import { HINDI_CLASSES } from './opt-out-hindi-words.ts';
import { OPT_OUT_WEIGHTS } from './opt-out-weights.ts';

/**
 * How much words are like an opt-out, for those that no pattern knows: the weights of sequences of up to four words, summed. Words of one
 * class count as one word. `npx tsx scripts/learn-opt-out.ts` learns the weights from the labelled sentences of the tuning half.
 */

/** Weights are found by a hash of the sequence; two sequences may share one. */
export const BUCKETS = 1 << 15;
/** Steps that make up a weight of 1. */
export const STEPS = 24;
/** A refusal needs a verb and what it is about; in a long turn words of other things would add up to one. */
const LEAST_WORDS = 3;
const MOST_WORDS = 12;

const FOLDED =
  'CALLING CALLS CALLED BOTHER BOTHERED STOP HREMOVE REMOVE LIST DETAILS THREAT CONSENT RELATIVE KIN LINE DAY PART CUT HBOTHER POLITE WHOM LASTING TELL CALL';

let folds: ReadonlyMap<string, string> | undefined;
let weights: Int8Array | undefined;

/** @param words as `refusalWords` gives them @returns 0 for words that are as much like one as like anything else */
export function optOutScore(words: readonly string[]): number {
  if (words.length < LEAST_WORDS || words.length > MOST_WORDS) return Number.NEGATIVE_INFINITY;
  weights ??= new Int8Array(Buffer.from(OPT_OUT_WEIGHTS, 'base64'));
  let sum = 0;
  for (const bucket of bucketsOf(words)) sum += weights[bucket] ?? 0;
  return sum / STEPS;
}

/** Where the weights of these words are; each bucket once. */
export function bucketsOf(words: readonly string[]): ReadonlySet<number> {
  folds ??= foldsOf({ ...ENGLISH_CLASSES, ...HINDI_CLASSES });
  const known = folds;
  const all = ['^', ...words, '$'];
  const folded = all.map((word) => known.get(word) ?? word);
  // What every utterance has stands for the bias.
  const found = new Set([bucketOf('')]);
  for (const [at, word] of folded.entries()) {
    found.add(bucketOf(`1${word}`));
    if (all[at] !== word) found.add(bucketOf(`1${all[at]}`));
    const [next, third, fourth] = [folded[at + 1], folded[at + 2], folded[at + 3]];
    if (next === undefined) break;
    found.add(bucketOf(`2${word} ${next}`));
    if (third === undefined) continue;
    found.add(bucketOf(`3${word} ${next} ${third}`)).add(bucketOf(`4${word} ${third}`));
    if (fourth !== undefined) found.add(bucketOf(`5${word} ${fourth}`));
  }
  return found;
}

/** FNV-1a. */
function bucketOf(sequence: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < sequence.length; at += 1) hash = Math.imul(hash ^ sequence.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 15)) & (BUCKETS - 1);
}

function foldsOf(classes: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const sets = new Map<string, readonly string[]>();
  for (const [name, words] of Object.entries(classes))
    sets.set(
      name,
      words.split(' ').flatMap((word) => (/^[A-Z]/u.test(word) ? (sets.get(word) ?? []) : [word])),
    );
  const found = new Map<string, string>();
  for (const name of FOLDED.split(' ')) for (const word of sets.get(name) ?? []) if (!found.has(word)) found.set(word, name);
  return found;
}
