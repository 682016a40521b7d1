import { numberAt } from './numbers.ts';
import { type Found, tokenise } from './tokens.ts';

const HUNDRED = words('hundred hundreds सौ हंड्रेड हन्ड्रेड');
const SCALES: ReadonlyMap<string, number> = new Map([
  ...scale('thousand thousands k हज़ार हजार थाउज़ेंड थाउजेंड', 1e3),
  ...scale('lakh lakhs lac lacs लाख लाखों', 1e5),
  ...scale('million millions मिलियन', 1e6),
  ...scale('crore crores करोड़', 1e7),
  ...scale('billion billions अरब बिलियन', 1e9),
]);
const CRORE = 1e7;
const POINT = words('point दशमलव पॉइंट प्वाइंट');
const HALF = words('half हाफ़');
const QUARTER = words('quarter quarters');
/** A thousand, only after a number: `grand` alone is praise. */
const GRAND = 'grand';
/** Words that make a scale vague: `a few thousand`. */
const VAGUE = words('couple few several many कुछ कई');

/** Fractions added to the next number: साढ़े तीन 3.5, सवा तीन 3.25, पौने तीन 2.75. */
const FRACTIONS: ReadonlyMap<string, number> = new Map([...scale('साढ़े साड़े', 0.5), ...scale('सवा', 0.25), ...scale('पौने', -0.25)]);
/** Fractions that stand alone: डेढ़ 1.5, ढाई 2.5, पौन 0.75; सवा without a number is 1.25. */
const ALONE: ReadonlyMap<string, number> = new Map([
  ...scale('डेढ़', 1.5),
  ...scale('ढाई अढ़ाई', 2.5),
  ...scale('पौन', 0.75),
  ...scale('सवा', 1.25),
]);

export interface Amount extends Found<number> {
  /** The last word is a number, not a scale: only a unit can follow in the same amount. */
  readonly ones: boolean;
  /** The last word needs another one after it (`point`, `साढ़े`, `and`). */
  readonly dangling: boolean;
}

/**
 * The number whose words begin at `index`, of any size up to 999 crore: English and Indian scales, Hindi fractions
 * (`साढ़े तीन लाख`, `डेढ़ सौ`), `two point five lakh`, figures, and all of them mixed.
 */
export function amountAt(tokens: readonly string[], index: number): Amount | undefined {
  if (isScale(tokens[index]) && VAGUE.has(tokens[tokens[index - 1] === 'of' ? index - 2 : index - 1] ?? '')) return undefined;
  let total = 0;
  let group: number | undefined;
  let smallest = Infinity;
  let at = index;
  let ones = false;
  let dangling = false;
  let begun = false;
  while (at < tokens.length) {
    const word = tokens[at] ?? '';
    const scaled = word === GRAND && group !== undefined ? 1e3 : SCALES.get(word);
    if (begun && isJoin(tokens, at)) {
      at += 1;
      continue;
    }
    if (HUNDRED.has(word) && (group ?? 1) < 100 && (group ?? 1) > 0 && (group !== undefined || smallest > 100)) {
      group = (group ?? 1) * 100;
      ones = false;
      at += 1;
    } else if (scaled !== undefined && scaled < smallest && (begun || scaled < 1e7)) {
      total += (group ?? 1) * scaled;
      [group, smallest, ones] = [undefined, scaled, false];
      at += 1;
    } else if (scaled !== undefined && scaled >= CRORE && smallest < CRORE && total > 0) {
      // "One thousand two hundred crore"
      total = (total + (group ?? 0)) * scaled;
      [group, smallest, ones] = [undefined, scaled, false];
      at += 1;
    } else {
      const part = partAt(tokens, at, group);
      if (part === undefined) break;
      if (group !== undefined && !(group % 100 === 0 && group >= 100 && part.value < 100)) break;
      // Figures of a smaller size than the scale before: "2 lakh 50000".
      if (part.value >= smallest) break;
      group = (group ?? 0) + part.value;
      ones = true;
      dangling = part.dangling;
      at = part.to;
    }
    begun = true;
    if (dangling) break;
  }
  if (!begun) return undefined;
  const more = group === undefined && tokens[at] === 'and' ? shareAt(tokens, at + 1) : undefined;
  // "A million and a half"
  if (more !== undefined && !isScale(tokens[more.to])) {
    total += more.value * smallest;
    at = more.to;
  }
  // Amounts have at most two decimals; further digits are rounding errors.
  const value = Math.round((total + (group ?? 0)) * 100) / 100;
  return { value, from: index, to: at, ones, dangling };
}

/** A number below a scale word: words, figures, a fraction with or without a number, with a decimal point. */
function partAt(
  tokens: readonly string[],
  index: number,
  group: number | undefined,
): (Found<number> & { dangling: boolean }) | undefined {
  const word = tokens[index] ?? '';
  const added = FRACTIONS.get(word);
  if (added !== undefined) {
    const number = wholeAt(tokens, index + 1);
    if (number !== undefined) return { value: number.value + added, from: index, to: number.to, dangling: false };
    const alone = ALONE.get(word);
    if (alone === undefined)
      return index + 1 === tokens.length ? { value: 0, from: index, to: index + 1, dangling: true } : undefined;
  }
  const alone = ALONE.get(word);
  if (alone !== undefined) return { value: alone, from: index, to: index + 1, dangling: false };
  const share = group === undefined ? shareAt(tokens, index) : undefined;
  if (share !== undefined) {
    // "Half a million", "a quarter of a million"
    const to = tokens[share.to] === 'of' ? share.to + 1 : share.to;
    if (isScale(tokens[to])) return { ...share, to, dangling: false };
  }
  const number = wholeAt(tokens, index);
  if (number === undefined) return undefined;
  const next = tokens[number.to];
  const more = next === 'and' ? shareAt(tokens, number.to + 1) : undefined;
  if (more !== undefined) return { value: number.value + more.value, from: index, to: more.to, dangling: false };
  if (next === undefined || !POINT.has(next)) return { ...number, dangling: false };
  const digits = decimalsAt(tokens, number.to + 1);
  if (digits === undefined) return { value: number.value, from: index, to: number.to + 1, dangling: true };
  return { value: Number(`${number.value}.${digits.value}`), from: index, to: digits.to, dangling: false };
}

/** `Half`, `quarter`, `three quarters`. */
function shareAt(tokens: readonly string[], index: number): Found<number> | undefined {
  if (HALF.has(tokens[index] ?? '')) return { value: 0.5, from: index, to: index + 1 };
  if (QUARTER.has(tokens[index] ?? '')) return { value: 0.25, from: index, to: index + 1 };
  if (tokens[index] !== 'three' || !QUARTER.has(tokens[index + 1] ?? '')) return undefined;
  return { value: 0.75, from: index, to: index + 2 };
}

function wholeAt(tokens: readonly string[], index: number): Found<number> | undefined {
  const word = tokens[index] ?? '';
  if (/^\d{1,12}$/.test(word)) return { value: Number(word), from: index, to: index + 1 };
  // "1.25 lakh" and "1.5" arrive as a time would.
  const decimal = /^(\d+):(\d+)$/.exec(word);
  if (decimal !== null) return { value: Number(`${decimal[1]}.${decimal[2]}`), from: index, to: index + 1 };
  return numberAt(tokens, index);
}

/** Digits after a decimal point: `five`, `two five`, `twenty five`, `05`. */
function decimalsAt(tokens: readonly string[], index: number): Found<string> | undefined {
  let digits = '';
  let at = index;
  while (digits.length < 2) {
    const word = tokens[at] ?? '';
    const found = /^\d+$/.test(word) ? { value: word, to: at + 1 } : numberAt(tokens, at);
    if (found === undefined || digits.length + String(found.value).length > 2) break;
    digits += String(found.value);
    at = found.to;
  }
  return digits === '' ? undefined : { value: digits, from: index, to: at };
}

/** `and` between parts of one number: `two hundred and five`, `one lakh and fifty`. */
function isJoin(tokens: readonly string[], index: number): boolean {
  if (tokens[index] !== 'and' || !isScale(tokens[index - 1])) return false;
  return index + 1 < tokens.length && wholeAt(tokens, index + 1) !== undefined;
}

function isScale(word: string | undefined): boolean {
  return word !== undefined && (SCALES.has(word) || HUNDRED.has(word) || word === GRAND);
}

function words(text: string): ReadonlySet<string> {
  return new Set(tokenise(text));
}

function scale(text: string, value: number): (readonly [string, number])[] {
  return tokenise(text).map((word) => [word, value] as const);
}
