import type { PersonalKind } from '../profile.ts';
import { covering } from '../transcript.ts';
import { codeRuns, digitRuns, type SaidSymbol } from '../../../language/index.ts';

/** Characters of a text that are a personal value. */
export interface PersonalSpan {
  readonly kind: PersonalKind;
  readonly from: number;
  readonly to: number;
}

/**
 * Finds personal values, written or said in English or Hindi:
 * - `card`: 13 to 19 digits that pass Luhn's check;
 * - `aadhaar`: 12 digits, the first one 2 to 9, that pass Verhoeff's check;
 * - `pan`: five letters, four digits and a letter (India's tax number);
 * - `phone`: ten digits of an Indian mobile number with or without 0 or 91, ten of a North American one, or 8 to 15 after a plus;
 * - `email`: an address, also `name at host dot com`;
 * - `long-number`: nine or more digits in a row, so that a number with a misheard digit is found too.
 * @returns spans in order, without overlaps; where kinds compete the more exact one wins
 */
export function findPersonal(text: string, kinds: readonly PersonalKind[]): PersonalSpan[] {
  const wanted = new Set(kinds);
  const found: PersonalSpan[] = [];
  const add = (spans: readonly PersonalSpan[]): void => {
    for (const span of spans) if (found.every(({ from, to }) => span.to <= from || span.from >= to)) found.push(span);
  };
  const runs = digitRuns(text);
  if (wanted.has('email')) add(emails(text));
  if (wanted.has('pan')) add(pans(text));
  if (wanted.has('card')) for (const run of runs) add(windows(run, 19, 13, 'card', passesLuhn));
  if (wanted.has('aadhaar'))
    for (const run of runs) add(windows(run, 12, 12, 'aadhaar', (digits) => /^[2-9]/.test(digits) && passesVerhoeff(digits)));
  if (wanted.has('phone')) for (const run of runs) add(phones(text, run));
  if (wanted.has('long-number')) for (const run of runs) if (run.length >= 9) add(spanning('long-number', run));
  return found.sort((left, right) => left.from - right.from);
}

function spanning(kind: PersonalKind, symbols: readonly SaidSymbol[]): PersonalSpan[] {
  const span = covering(symbols);
  return span === undefined ? [] : [{ kind, ...span }];
}

/** Every stretch of a run that passes, the longest first, then from the left. */
function windows(
  run: readonly SaidSymbol[],
  longest: number,
  shortest: number,
  kind: PersonalKind,
  passes: (digits: string) => boolean,
): PersonalSpan[] {
  const spans: PersonalSpan[] = [];
  for (let length = Math.min(longest, run.length); length >= shortest; length -= 1) {
    for (let start = 0; start + length <= run.length; start += 1) {
      const part = run.slice(start, start + length);
      const digits = part.map(({ value }) => value).join('');
      // All the same digit is a sound check and no number.
      if (/^(\d)\1*$/.test(digits) || !passes(digits)) continue;
      spans.push(...spanning(kind, part));
    }
  }
  return spans;
}

function phones(text: string, run: readonly SaidSymbol[]): PersonalSpan[] {
  const whole = covering(run);
  if (whole === undefined) return [];
  const { from, to } = whole;
  const digits = run.map(({ value }) => value).join('');
  const plus = /(?:\+|\bplus)\s{0,3}\(?$/iu.exec(text.slice(Math.max(0, from - 10), from));
  if (plus !== null && digits.length >= 8 && digits.length <= 15) return [{ kind: 'phone', from: from - plus[0].length, to }];
  const indian = windows(run, 13, 10, 'phone', (part) => /^(?:0|91|091)?[6-9]\d{9}$/.test(part));
  const american = windows(run, 11, 10, 'phone', (part) => /^1?[2-9]\d{2}[2-9]\d{6}$/.test(part));
  return [...indian, ...american];
}

const WRITTEN_PAN = /(?<![\p{L}\p{N}])[A-Z]{5}\s?\d{4}\s?[A-Z](?![\p{L}\p{N}])/giu;

function pans(text: string): PersonalSpan[] {
  const written = [...text.matchAll(WRITTEN_PAN)].map((match) => spanOf('pan', match));
  const spoken = codeRuns(text).flatMap((run) => {
    const code = run.map(({ value }) => value).join('');
    return [...code.matchAll(/[A-Z]{5}\d{4}[A-Z]/g)].flatMap(({ index }) => spanning('pan', run.slice(index, index + 10)));
  });
  return [...written, ...spoken];
}

const WRITTEN_EMAIL = /[\p{L}\p{N}][\p{L}\p{N}._%+-]{0,63}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,5}/giu;
const DOT = '(?:dot|डॉट|डाट)';
const JOINT = `(?:${DOT}|underscore|अंडरस्कोर|dash|hyphen|minus)`;
const ENDING = '(?:com|in|org|net|edu|gov|info|io|co|कॉम|इन|ओआरजी|नेट|को)';
const DIGIT = '(?:zero|one|two|three|four|five|six|seven|eight|nine)';
/** The local part is one word, words joined by a spoken sign, or letters and digits one by one before the last of it. */
const SPOKEN_EMAIL = new RegExp(
  `(?<![\\p{L}\\p{M}\\p{N}])(?:(?:[\\p{L}\\p{N}]|${DIGIT})\\s+){0,30}[\\p{L}\\p{M}\\p{N}]{1,64}\\s+` +
    `(?:${JOINT}\\s+[\\p{L}\\p{M}\\p{N}]{1,64}\\s+){0,5}(?:\\d{1,10}\\s+){0,2}` +
    `(?:at(?:\\s+the\\s+rate)?|एट(?:\\s+द\\s+रेट)?)\\s+[\\p{L}\\p{M}\\p{N}]{1,63}(?:\\s+[\\p{L}\\p{M}\\p{N}]{1,63})?` +
    `\\s+${DOT}\\s+${ENDING}(?:\\s+${DOT}\\s+${ENDING})?(?![\\p{L}\\p{M}\\p{N}])`,
  'giu',
);

function emails(text: string): PersonalSpan[] {
  return [...text.matchAll(WRITTEN_EMAIL), ...text.matchAll(SPOKEN_EMAIL)].map((match) => spanOf('email', match));
}

function spanOf(kind: PersonalKind, match: RegExpMatchArray): PersonalSpan {
  const from = match.index ?? 0;
  return { kind, from, to: from + match[0].length };
}

/** Luhn's check of a card number (ISO/IEC 7812-1, annex B). @param digits digits alone */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? 2 * digit : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return digits !== '' && sum % 10 === 0;
}

/** Products of the dihedral group D5, in which Verhoeff's check calculates. */
function product(left: number, right: number): number {
  if (left < 5) return right < 5 ? (left + right) % 5 : 5 + ((left + right - 5) % 5);
  return right < 5 ? 5 + ((left - 5 - right + 5) % 5) : (left - right + 5) % 5;
}

const PERMUTATION = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];

/** Verhoeff's check, which an Aadhaar number ends with. @param digits digits alone */
export function passesVerhoeff(digits: string): boolean {
  let check = 0;
  for (let index = 0; index < digits.length; index += 1) {
    let value = Number(digits[digits.length - 1 - index]);
    for (let times = 0; times < index % 8; times += 1) value = PERMUTATION[value] ?? 0;
    check = product(check, value);
  }
  return digits !== '' && check === 0;
}
