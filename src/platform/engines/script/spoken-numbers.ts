import type { Replacement } from '../analyse/glossary.ts';

/** Number words below 100, English and Hindi. */
export const units = new Map<string, number>();
/** Words that multiply the number before them. */
export const scales = new Map<string, number>(
  Object.entries({
    hundred: 100,
    thousand: 1_000,
    lakh: 100_000,
    lakhs: 100_000,
    million: 1_000_000,
    crore: 10_000_000,
    crores: 10_000_000,
    सौ: 100,
    हज़ार: 1_000,
    हजार: 1_000,
    लाख: 100_000,
    करोड़: 10_000_000,
  }).map(([word, value]) => [word.normalize('NFC'), value]),
);

function addUnits(from: number, step: number, words: string): void {
  for (const [index, variants] of words.split(/\s+/).entries()) {
    for (const word of variants.split('/')) units.set(word.normalize('NFC'), from + index * step);
  }
}
addUnits(
  0,
  1,
  `zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen`,
);
addUnits(20, 10, 'twenty thirty forty/fourty fifty sixty seventy eighty ninety');
addUnits(
  0,
  1,
  `शून्य/ज़ीरो/जीरो एक दो तीन चार पाँच/पांच छह/छः/छे सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह/पन्द्रह सोलह सत्रह अठारह उन्नीस
  बीस इक्कीस बाईस/बाइस तेईस/तेइस चौबीस पच्चीस छब्बीस सत्ताईस/सत्ताइस अट्ठाईस/अट्ठाइस/अठाईस उनतीस/उन्तीस तीस इकतीस/इकत्तीस बत्तीस तैंतीस चौंतीस पैंतीस छत्तीस सैंतीस
  अड़तीस उनतालीस/उन्तालीस चालीस इकतालीस बयालीस तैंतालीस चौवालीस/चवालीस पैंतालीस छियालीस सैंतालीस अड़तालीस उनचास/उन्चास पचास इक्यावन बावन तिरपन चौवन/चौअन पचपन
  छप्पन सत्तावन अट्ठावन/अठावन उनसठ साठ इकसठ बासठ तिरसठ चौंसठ पैंसठ छियासठ सड़सठ अड़सठ उनहत्तर सत्तर इकहत्तर बहत्तर तिहत्तर चौहत्तर पचहत्तर छिहत्तर सतहत्तर
  अठहत्तर उनासी/उन्यासी अस्सी इक्यासी बयासी तिरासी चौरासी पचासी छियासी सत्तासी अट्ठासी/अठासी नवासी नब्बे इक्यानवे/इक्यानबे बानवे/बानबे तिरानवे/तिरानबे चौरानवे/चौरानबे
  पचानवे/पंचानबे छियानवे/छियानबे सत्तानवे/सत्तानबे अट्ठानवे/अट्ठानबे निन्यानवे/निन्यानबे`,
);

/** A number read from a run of number words. */
interface Read {
  readonly value: number;
  /** Number of words read. */
  readonly count: number;
  /** A single digit, possibly one of a telephone number. */
  readonly digit: boolean;
}

const repeats = new Map([
  ['double', 2],
  ['triple', 3],
  ['डबल', 2],
  ['ट्रिपल', 3],
]);
/** Units: before these words even a single `one` is a number. */
const counted = new Set(
  "बजे बजकर रुपये रुपए रुपया नंबर प्रतिशत दिन घंटे मिनट महीने साल am pm percent rupees dollars minutes hours days o'clock".split(' '),
);
/** Number words that are also other words. */
const doubtful = new Set(['one', 'एक', 'दो']);
/** Hindi fractions, by what they add to the number after them. */
const fractions = new Map([
  ['साढ़े', 0.5],
  ['सवा', 0.25],
  ['पौने', -0.25],
]);
const alone = new Map([
  ['डेढ़', 1.5],
  ['ढाई', 2.5],
]);
const nfc = (map: Map<string, number>): ReadonlyMap<string, number> =>
  new Map([...map].map(([word, value]) => [word.normalize('NFC'), value]));
const [parts, wholes] = [nfc(fractions), nfc(alone)];

/**
 * Spoken numbers as digits, English and Hindi: `twenty five` is 25, `four two seven` is 427, `double four` is 44,
 * `साढ़े दस बजे` is 10:30 बजे. A single `one`, `एक` or `दो` stays a word unless a unit follows.
 */
export function spokenNumbers(words: readonly string[]): Replacement[] {
  const plain = words.map((word) => bare(word));
  const out: Replacement[] = [];
  for (let from = 0; from < words.length;) {
    const found = fractionAt(plain, from) ?? numberAt(plain, words, from);
    if (found !== undefined) out.push({ ...found, text: found.text + tail(words[from + found.count - 1]) });
    from += found?.count ?? 1;
  }
  return out;
}

function bare(word: string): string {
  return word
    .toLowerCase()
    .normalize('NFC')
    .replaceAll(/[.,?!।]+$/gu, '');
}

/** Punctuation after a word. */
function tail(word = ''): string {
  return /[.,?!।]+$/u.exec(word)?.[0] ?? '';
}

function fractionAt(plain: readonly string[], from: number): Replacement | undefined {
  const word = plain[from] ?? '';
  const added = parts.get(word);
  const whole = added === undefined ? undefined : units.get(plain[from + 1] ?? '');
  const value = added === undefined || whole === undefined ? wholes.get(word) : whole + added;
  if (value === undefined) return undefined;
  const count = whole === undefined ? 1 : 2;
  const next = plain[from + count];
  const scale = scales.get(next ?? '');
  if (scale !== undefined) return { from, count: count + 1, text: String(Math.round(value * scale)) };
  const minutes = String(Math.round((value % 1) * 60)).padStart(2, '0');
  return { from, count, text: next === 'बजे' ? `${Math.floor(value)}:${minutes}` : String(value) };
}

function numberAt(plain: readonly string[], words: readonly string[], from: number): Replacement | undefined {
  const reads: Read[] = [];
  let count = 0;
  for (let read = spelledAt(plain, words, from); read !== undefined; read = spelledAt(plain, words, from + count)) {
    reads.push(...read.reads);
    count += read.count;
    if (tail(words[from + count - 1]) !== '') break;
  }
  const first = reads[0];
  if (first === undefined) return undefined;
  const decimals = decimalsAt(plain, words, from + count, reads);
  if (decimals !== undefined) return { from, count: count + decimals.count, text: `${first.value}.${decimals.text}` };
  // "one of them" is no number, and दो also means "give".
  if (count === 1 && doubtful.has(plain[from] ?? '') && !counted.has(plain[from + 1] ?? '')) return undefined;
  const together = reads.every(({ digit }) => digit) || isYear(reads);
  return { from, count, text: reads.map(({ value }) => String(value)).join(together ? '' : ' ') };
}

/** One number, or the digits of `double four`. */
function spelledAt(
  plain: readonly string[],
  words: readonly string[],
  from: number,
): { reads: Read[]; count: number } | undefined {
  const times = repeats.get(plain[from] ?? '');
  const read = readAt(plain, words, from + (times === undefined ? 0 : 1));
  // "oh" is a zero only after another number.
  const nought = plain[from] === 'oh' && units.has(plain[from - 1] ?? '');
  if (nought) return { reads: [{ value: 0, count: 1, digit: true }], count: 1 };
  if (read === undefined || (times !== undefined && !read.digit)) return undefined;
  return { reads: Array.from({ length: times ?? 1 }, () => read), count: read.count + (times === undefined ? 0 : 1) };
}

/** Reads the words of one number: `two thousand five hundred and six`. */
function readAt(plain: readonly string[], words: readonly string[], from: number): Read | undefined {
  let [total, group, at] = [0, 0, from];
  /** Upper bound of what may still be added: 100 after hundred, 10 after twenty. */
  let room = Number.POSITIVE_INFINITY;
  for (; at < plain.length && (at === from || tail(words[at - 1]) === ''); at += 1) {
    const word = plain[at] ?? '';
    const unit = units.get(word);
    const scale = scales.get(word);
    if (unit !== undefined && unit < room && (room > 10 || unit > 0)) {
      group += unit;
      room = unit >= 20 && unit % 10 === 0 && /^[a-z]/.test(word) ? 10 : 0;
    } else if (
      scale !== undefined &&
      (group > 0 || at === from) &&
      (scale === 100 || total === 0 || total % (scale * 10) === 0)
    ) {
      if (scale === 100) group = Math.max(1, group) * 100;
      else {
        total += Math.max(1, group) * scale;
        group = 0;
      }
      room = 100;
    } else if (word === 'and' && room === 100 && at > from && units.has(plain[at + 1] ?? '')) {
      continue;
    } else break;
  }
  if (at === from) return undefined;
  return { value: total + group, count: at - from, digit: at - from === 1 && total + group < 10 };
}

/** `three point five`: the digits after the point. */
function decimalsAt(
  plain: readonly string[],
  words: readonly string[],
  at: number,
  reads: readonly Read[],
): { text: string; count: number } | undefined {
  if (reads.length !== 1 || !['point', 'दशमलव'].includes(plain[at] ?? '')) return undefined;
  let text = '';
  let count = 1;
  for (let read = readAt(plain, words, at + count); read?.digit === true; read = readAt(plain, words, at + count)) {
    text += String(read.value);
    count += 1;
  }
  return text === '' ? undefined : { text, count };
}

/** `nineteen ninety nine`, `twenty twenty six`. */
function isYear(reads: readonly Read[]): boolean {
  const [century, rest] = reads.map(({ value }) => value);
  return reads.length === 2 && (century === 19 || century === 20) && rest !== undefined && rest >= 10 && rest < 100;
}
