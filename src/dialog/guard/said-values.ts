import { numberAt, tokenise } from '../../language/index.ts';

// Values in what a bot says and in what it has them from: numbers in figures and words, months and weekdays.

/** What number words are multiplied by, in English and Hindi. */
const MULTIPLIERS: ReadonlyMap<string, number> = new Map(
  (
    [
      [100, 'hundred सौ'],
      [1_000, 'thousand हजार'],
      [100_000, 'lakh lakhs लाख'],
      [1_000_000, 'million'],
      [10_000_000, 'crore crores करोड'],
    ] as const
  ).flatMap(([value, words]) => words.split(' ').map((word) => [tokenise(word)[0] ?? word, value] as const)),
);

const MONTHS = rows([
  'january jan जनवरी',
  'february feb फरवरी',
  'march mar मार्च',
  'april apr अप्रैल',
  'may मई',
  'june jun जून',
  'july jul जुलाई',
  'august aug अगस्त',
  'september sep sept सितंबर सितम्बर',
  'october oct अक्टूबर',
  'november nov नवंबर नवम्बर',
  'december dec दिसंबर दिसम्बर',
]);
const WEEKDAYS = rows([
  'sunday sun रविवार इतवार',
  'monday mon सोमवार',
  'tuesday tue मंगलवार',
  'wednesday wed बुधवार',
  'thursday thu गुरुवार बृहस्पतिवार',
  'friday fri शुक्रवार',
  'saturday sat शनिवार',
]);
/** Words that are months or days only beside a number. */
const AMBIGUOUS = new Set(['may', 'march', 'mar', 'sun', 'sat', 'mon', 'jan', 'wed']);

function rows(lists: readonly string[]): ReadonlyMap<string, number> {
  return new Map(lists.flatMap((words, index) => words.split(' ').map((word) => [tokenise(word)[0] ?? word, index] as const)));
}

/** The values of a text. */
export interface Values {
  /** Numbers without leading zeros. */
  readonly numbers: ReadonlySet<string>;
  /** Runs of three digits or more, as of a phone number. */
  readonly runs: readonly string[];
  /** `month 2`, `weekday 0`: both counted from 0. */
  readonly dates: ReadonlySet<string>;
}

/** Reads all values of a text; a single `one` is no number. */
export function valuesIn(text: string): Values {
  const numbers = new Set<string>();
  const runs: string[] = [];
  const dates = new Set<string>();
  const tokens = tokenise(text);
  for (let at = 0; at < tokens.length;) {
    const word = tokens[at] ?? '';
    const found = digitRunAt(tokens, at) ?? wholeNumberAt(tokens, at);
    if (found !== undefined) {
      if (found.digits.length >= 3) runs.push(found.digits);
      if (!(found.digits === '1' && found.to === at + 1 && !/\d/u.test(word))) numbers.add(plain(found.digits));
      at = found.to;
      continue;
    }
    const clock = /^(\d{1,2}):(\d{2})$/u.exec(word);
    if (clock !== null) for (const part of clock.slice(1)) if (Number(part) !== 0) numbers.add(plain(part));
    const isDate =
      !AMBIGUOUS.has(word) || [tokens[at - 1], tokens[at + 1], tokens[at + 2]].some((beside) => /^\d/u.test(beside ?? ''));
    const [month, weekday] = [MONTHS.get(word), WEEKDAYS.get(word)];
    if (isDate && month !== undefined) dates.add(`month ${month}`);
    if (isDate && weekday !== undefined) dates.add(`weekday ${weekday}`);
    at += 1;
  }
  for (const [, year, month, day] of text.matchAll(/(\d{4})-(\d{2})-(\d{2})/gu)) {
    const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
    dates.add(`month ${date.getUTCMonth()}`).add(`weekday ${date.getUTCDay()}`);
  }
  for (const run of text.match(/\d[\d\s-]{5,}\d/gu) ?? []) runs.push(run.replaceAll(/\D/gu, ''));
  return { numbers, runs, dates };
}

/** Three or more single digits in a row, as of a number that is read out. */
function digitRunAt(tokens: readonly string[], from: number): { digits: string; to: number } | undefined {
  let digits = '';
  let to = from;
  for (; to < tokens.length; to += 1) {
    const found = numberAt(tokens, to);
    if (found === undefined || found.to !== to + 1 || found.value > 9) break;
    digits += String(found.value);
  }
  return digits.length >= 3 ? { digits, to } : undefined;
}

/** A number in figures, or in words up to crores (`two thousand five hundred`). */
function wholeNumberAt(tokens: readonly string[], from: number): { digits: string; to: number } | undefined {
  const first = tokens[from] ?? '';
  let sum = 0;
  let part: number | undefined;
  let at = from;
  if (/^\d+$/u.test(first)) {
    const multiplier = MULTIPLIERS.get(tokens[from + 1] ?? '');
    if (multiplier === undefined || first.length > 9) return { digits: first, to: from + 1 };
    part = Number(first);
    at = from + 1;
  }
  while (at < tokens.length) {
    const multiplier = MULTIPLIERS.get(tokens[at] ?? '');
    if (multiplier !== undefined && part !== undefined) {
      if (multiplier === 100) part *= 100;
      else {
        sum += part * multiplier;
        part = undefined;
      }
      at += 1;
      continue;
    }
    const isAnd = tokens[at] === 'and' && at > from && MULTIPLIERS.has(tokens[at - 1] ?? '');
    const next = isAnd ? at + 1 : at;
    const small = numberAt(tokens, next);
    // A second number of the same size is another number, as in `five six`.
    if (small === undefined || (part !== undefined && part % 100 !== 0)) break;
    part = (part ?? 0) + small.value;
    at = small.to;
  }
  return at === from ? undefined : { digits: String(sum + (part ?? 0)), to: at };
}

function plain(digits: string): string {
  return digits.replace(/^0+(?=\d)/u, '');
}
