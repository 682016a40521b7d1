/** Filters of the page, as its address has them: shareable, and what the back button goes through. */
export const FILTERS = [
  'text',
  'from',
  'to',
  'number',
  'bot',
  'version',
  'language',
  'carrier',
  'direction',
  'endReason',
  'answeredBy',
  'disposition',
  'campaign',
  'result',
  'cutOff',
  'interrupted',
  'notUnderstood',
  'optedOut',
  'attention',
  'minReplyMs',
  'minCost',
  'minDurationS',
  'maxDurationS',
  'variable',
] as const;
export type FilterName = (typeof FILTERS)[number];
/** What is set; a filter that is absent or empty asks nothing. Days are `2026-11-23`, of the reader's own time zone. */
export type Filters = Readonly<Partial<Record<FilterName, string>>>;

/** Parses the filters in an address; unknown names are ignored. */
export function readFilters(search: string): Filters {
  const given = new URLSearchParams(search);
  return Object.fromEntries(
    FILTERS.flatMap((name) => {
      const value = given.get(name)?.trim() ?? '';
      return value === '' ? [] : [[name, value] as const];
    }),
  );
}

/** In one order, so that the same search has one address. */
export function writeFilters(filters: Filters): string {
  const set = new URLSearchParams();
  for (const name of FILTERS) {
    const value = filters[name]?.trim() ?? '';
    if (value !== '') set.set(name, value);
  }
  return set.toString();
}

/** The same in the API's words: a day is its beginning, the last day is included, and seconds are milliseconds. */
export function apiQuery({ from, to, minDurationS, maxDurationS, ...rest }: Filters): Record<string, string | undefined> {
  return {
    ...rest,
    from: dayStart(from, 0),
    to: dayStart(to, 1),
    minDurationMs: milliseconds(minDurationS),
    maxDurationMs: milliseconds(maxDurationS),
  };
}

function dayStart(day: string | undefined, after: number): string | undefined {
  const [year = 0, month = 0, date = 0] = day?.split('-').map(Number) ?? [];
  const start = new Date(year, month - 1, date + after);
  return day === undefined || Number.isNaN(start.getTime()) ? undefined : start.toISOString();
}

function milliseconds(seconds: string | undefined): string | undefined {
  const count = Number(seconds);
  return seconds === undefined || Number.isNaN(count) ? undefined : String(Math.round(count * 1000));
}

/** Splits a text at the words that a search looks for, as the gateway compares them. Every second part is such a word. */
export function splitAtWords(text: string, wanted: ReadonlySet<string>): string[] {
  if (wanted.size === 0) return [text];
  const parts: string[] = [''];
  for (const [token, word] of text.matchAll(/([\p{L}\p{M}\p{N}\u200B-\u200D]+)|[^\p{L}\p{M}\p{N}\u200B-\u200D]+/gu)) {
    if (word !== undefined && wanted.has(plain(word))) parts.push(token, '');
    else parts[parts.length - 1] += token;
  }
  return parts;
}

/** The words of a search. */
export function wantedWords(text: string | undefined): ReadonlySet<string> {
  return new Set((text ?? '').match(/[\p{L}\p{M}\p{N}\u200B-\u200D]+/gu)?.map(plain) ?? []);
}

function plain(word: string): string {
  return word
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\u200B-\u200D]/gu, '');
}
