import { ENGLISH_CLASSES, HINDI_CLASSES, HINDI_SPELLINGS } from './opt-out-words.ts';
import { OPT_OUT_WEIGHTS } from './opt-out-weights.ts';
import { ENGLISH, type OptOutRow } from './opt-out-english.ts';
import { HINDI } from './opt-out-hindi.ts';
import { plainText } from './tokens.ts';
import { findVerdict, patternTable, type PatternTable } from './word-patterns.ts';

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

/**
 * How much words are like an opt-out, for those that no pattern knows: the weights of sequences of up to four words, summed. Words of one
 * class count as one word. `npx tsx scripts/learn-opt-out.ts` learns the weights from the labelled sentences of the tuning half.
 * @param words as `refusalWords` gives them
 * @returns 0 for words that are as much like one as like anything else
 */
function optOutScore(words: readonly string[]): number {
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

/** `opt-out`: no more calls to this number. `wrong-number`: the called person is not there, now or ever. */
export type OptOut = 'opt-out' | 'wrong-number';

/** Words that no pattern needs: articles, hesitations, politeness and swearing. */
const DROPPED = new Set(
  'a an the um uh uhm er erm hmm mm ah please plz pls kindly really simply fucking fuckin bloody damn goddamn freaking frigging bleeding okay ok प्लीज कृपया'.split(
    ' ',
  ),
);

/** Two words that patterns know as one. */
const JOINED = new Map(
  (
    'do not/dont did not/didnt does not/doesnt can not/cant could not/couldnt will not/wont would not/wouldnt is not/isnt was not/wasnt ' +
    'are not/arent have not/havent has not/hasnt should not/shouldnt must not/mustnt need not/neednt no one/nobody any more/anymore ' +
    'any one/anyone any body/anybody opt out/optout opting out/optout i am/im i will/ill there is/theres no longer/nolonger'
  )
    .split(/ (?=\S+ \S+\/)/)
    .map((row) => row.split('/') as [string, string]),
);
/** Spellings that recognisers and hurried writers use. */
const ALONE = new Map([
  ['cannot', 'cant'],
  ['noone', 'nobody'],
  ['donot', 'dont'],
  ['dnt', 'dont'],
]);

const SHORTER = new Map([
  ['ee', 'i'],
  ['oo', 'u'],
  ['ph', 'f'],
  ['w', 'v'],
  ['z', 'j'],
  ['chh', 'ch'],
]);

interface Grammar {
  readonly table: PatternTable<OptOutRow['verdict']>;
  /** Hindi by its spellings, and by what is left of them when folded. */
  readonly spellings: ReadonlyMap<string, string>;
  readonly folded: ReadonlyMap<string, string>;
}

let made: Grammar | undefined;

/** Made when it is first needed: tens of milliseconds that a program which reads no caller should not pay at its start. */
function grammar(): Grammar {
  made ??= makeGrammar();
  return made;
}

function makeGrammar(): Grammar {
  const spellings = new Map<string, string>();
  const byFold = new Map<string, string>();
  for (const [word, variants] of HINDI_SPELLINGS) {
    for (const spelling of variants.split(' ')) {
      spellings.set(plainText(spelling), word);
      byFold.set(folded(spelling), word);
    }
  }
  const table = patternTable({ ...ENGLISH_CLASSES, ...HINDI_CLASSES }, [...ENGLISH, ...HINDI]);
  return { table, spellings, folded: byFold };
}

/** Words that no pattern knows are an opt-out when they score so high, and those that a pattern takes for something else when they score higher. */
const LIKELY_SCORE = 1.5;
const SURE_SCORE = 4;

/** Longer turns are read from their end: what was said earlier was read when it was new. */
const MOST_CHARACTERS = 4_000;

/**
 * What a caller's words, in English, Hindi or both, mean for further calls. A call-back (`not now, call me tomorrow`), a limit
 * (`don't call me after nine`), reported speech (`he told me not to call`) and its opposite (`don't stop calling`) are neither. When both
 * are said it is an opt-out.
 * @param text of a partial or a final, as recognisers write it: case, punctuation and repeated words do not matter
 */
export function readOptOut(text: string): OptOut | undefined {
  const words = refusalWords(text);
  const verdict = findVerdict(
    grammar().table,
    words,
    (found) => found === 'opt-out',
    () => true,
  );
  if (verdict === 'opt-out' || verdict === 'wrong-number') return verdict;
  return optOutScore(words) > (verdict === 'aside' ? SURE_SCORE : LIKELY_SCORE) ? 'opt-out' : undefined;
}

/** Lower case, contractions and Hindi spelled as the patterns spell them. */
export function refusalWords(text: string): string[] {
  const words: string[] = [];
  let last = '';
  const recent = text.length > MOST_CHARACTERS ? text.slice(-MOST_CHARACTERS) : text;
  for (const raw of plainText(recent)
    .toLowerCase()
    .match(/[\p{L}\p{M}]+|\d+/gu) ?? []) {
    if (DROPPED.has(raw)) continue;
    const word = spelled(raw);
    if (last === word) continue;
    last = word;
    const before = words.at(-1);
    const joined = before === undefined ? undefined : JOINED.get(`${before} ${word}`);
    if (joined === undefined) words.push(word);
    else words[words.length - 1] = joined;
  }
  return words;
}

function spelled(word: string): string {
  const { table, spellings, folded: byFold } = grammar();
  const known = spellings.get(word) ?? ALONE.get(word);
  if (known !== undefined) return known;
  return table.numbers.has(word) || !/^[a-z]/.test(word) ? word : (byFold.get(folded(word)) ?? word);
}

/** Romanised Hindi without what its writers disagree on: the length of vowels, aspiration of `ph`, a last nasal. */
function folded(word: string): string {
  const short = word.replaceAll(
    /ee|oo|ph|w|z|chh|(.)\1/g,
    (letters, twice: string | undefined) => SHORTER.get(letters) ?? twice ?? letters,
  );
  return /[aeiou][nh]$/.test(short) ? short.slice(0, -1) : short;
}
