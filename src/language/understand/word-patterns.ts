/**
 * Patterns over words: a table of short sequences that is searched in time linear in the words. A pattern is elements with spaces
 * between them:
 *
 * - `stop`, `call|ring`, `CALL`: one of these words, or of the words of a named class;
 * - `^CALL|stop`: any word but these;
 * - `..3`: up to three words of any kind; `.`: one word of any kind;
 * - `$`: the end of the utterance;
 * - `again?` may be missing, `SOFT*` may be missing or repeated.
 */
export interface PatternRow<Verdict> {
  readonly verdict: Verdict;
  readonly patterns: readonly string[];
  /** Patterns that undo a match when they follow it directly. */
  readonly unless?: readonly string[];
}

/** Names in capitals, with their words separated by spaces. A class may name classes before it. */
export type WordClasses = Readonly<Record<string, string>>;

interface Step {
  /** By the number of a word: 1 where the step takes it. */
  readonly takes: Uint8Array;
  readonly optional: boolean;
  readonly repeats: boolean;
}

/** The steps of a pattern; those that are optional or repeat are bits. */
interface Steps {
  readonly takes: readonly Uint8Array[];
  readonly optional: number;
  readonly repeats: number;
}

interface Pattern<Verdict> {
  readonly verdict: Verdict;
  readonly steps: Steps;
  /** By the number of a word: patterns that undo a match when they begin with this word behind it. */
  readonly unless: readonly (readonly Steps[])[];
}

export interface PatternTable<Verdict> {
  readonly numbers: ReadonlyMap<string, number>;
  /** By the number of a word: the patterns that can begin with it. */
  readonly beginning: readonly (readonly Pattern<Verdict>[])[];
}

const UNKNOWN = 0;
const END = 1;
/** No pattern reads on for longer, which bounds the time of an utterance that repeats one word for ever. */
const MOST_WORDS = 24;
/** Active steps are bits of one number. */
const MOST_STEPS = 30;

/**
 * @throws RangeError for a pattern of more than 30 steps, one that matches nothing at all, or an unknown class
 */
export function patternTable<Verdict>(classes: WordClasses, rows: readonly PatternRow<Verdict>[]): PatternTable<Verdict> {
  const sets = new Map<string, readonly string[]>();
  const wordsOf = (name: string): readonly string[] => {
    if (!/^[A-Z]/.test(name)) return [name];
    const words = sets.get(name);
    if (words === undefined) throw new RangeError(`no word class ${name}`);
    return words;
  };
  for (const [name, words] of Object.entries(classes)) sets.set(name, words.split(' ').flatMap(wordsOf));

  const numbers = new Map<string, number>([['$', END]]);
  const elements = rows.flatMap(({ patterns, unless = [] }) => [...patterns, ...unless]).flatMap((pattern) => pattern.split(' '));
  for (const element of elements) {
    if (element.startsWith('.')) continue;
    for (const name of element.replaceAll(/[?*^]/g, '').split('|')) {
      for (const word of wordsOf(name)) if (!numbers.has(word)) numbers.set(word, numbers.size + 1);
    }
  }

  const size = numbers.size + 2;
  const any = new Uint8Array(size).fill(1);
  any[END] = 0;
  const known = new Map<string, readonly Step[]>();
  const stepsOf = (element: string): readonly Step[] => {
    const steps = known.get(element) ?? newSteps(element);
    known.set(element, steps);
    return steps;
  };
  const newSteps = (element: string): readonly Step[] => {
    const gap = /^\.\.(\d)$/.exec(element)?.[1];
    if (gap !== undefined) return Array.from({ length: Number(gap) }, () => ({ takes: any, optional: true, repeats: false }));
    if (element === '.') return [{ takes: any, optional: false, repeats: false }];
    const excepted = element.startsWith('^');
    const takes = excepted ? any.slice() : new Uint8Array(size);
    for (const name of element.replaceAll(/[?*^]/g, '').split('|')) {
      for (const word of wordsOf(name)) takes[numbers.get(word) ?? UNKNOWN] = excepted ? 0 : 1;
    }
    const repeats = element.endsWith('*');
    return [{ takes, optional: repeats || element.endsWith('?'), repeats }];
  };
  const compile = (text: string): { readonly steps: Steps; readonly first: readonly Step[] } => {
    const steps = text.split(' ').flatMap(stepsOf);
    const last = steps.findIndex(({ optional }) => !optional);
    if (steps.length > MOST_STEPS || last < 0) throw new RangeError(`bad pattern: ${text}`);
    const bits = (name: 'optional' | 'repeats'): number => steps.reduce((sum, step, at) => sum | (step[name] ? 1 << at : 0), 0);
    const takes = steps.map((step) => step.takes);
    return { steps: { takes, optional: bits('optional'), repeats: bits('repeats') }, first: steps.slice(0, last + 1) };
  };
  const byFirstWord = <Kind>(
    compiled: readonly { readonly value: Kind; readonly first: readonly Step[] }[],
  ): readonly Kind[][] => {
    if (compiled.length === 0) return [];
    const found = Array.from({ length: size }, (): Kind[] => []);
    for (const { value, first } of compiled) {
      for (const { takes } of first) {
        for (let word = takes.indexOf(1); word >= 0; word = takes.indexOf(1, word + 1)) {
          const values = found[word];
          // Another step of the same pattern may take the word too.
          if (values?.at(-1) !== value) values?.push(value);
        }
      }
    }
    return found;
  };

  const beginning = byFirstWord(
    rows.flatMap(({ verdict, patterns, unless = [] }) => {
      const undoing = byFirstWord(unless.map(compile).map(({ steps, first }) => ({ value: steps, first })));
      return patterns.map(compile).map(({ steps, first }) => ({ value: { verdict, steps, unless: undoing }, first }));
    }),
  );
  return { numbers, beginning };
}

/**
 * The verdicts of an utterance, in order: at each word the longest pattern counts (of equal ones the first of the table), and the search
 * goes on behind it. A pattern that is undone is passed over like one that matched.
 * @returns the first verdict that `settles` the matter, otherwise the first that `counts`
 */
export function findVerdict<Verdict>(
  table: PatternTable<Verdict>,
  words: readonly string[],
  settles: (verdict: Verdict) => boolean,
  counts: (verdict: Verdict) => boolean,
): Verdict | undefined {
  const utterance = words.map((word) => table.numbers.get(word) ?? UNKNOWN);
  utterance.push(END);
  let first: Verdict | undefined;
  for (let at = 0; at < utterance.length;) {
    let longest: Pattern<Verdict> | undefined;
    let to = at;
    for (const pattern of table.beginning[utterance[at] ?? UNKNOWN] ?? []) {
      const end = endOf(pattern.steps, utterance, at);
      if (end > to) [longest, to] = [pattern, end];
    }
    if (longest === undefined) {
      at++;
      continue;
    }
    at = to;
    const { verdict, unless } = longest;
    if (unless[utterance[to] ?? UNKNOWN]?.some((steps) => endOf(steps, utterance, to) > to) === true) continue;
    if (settles(verdict)) return verdict;
    if (counts(verdict)) first ??= verdict;
  }
  return first;
}

/** Where the longest match that begins at `from` ends; `from` when there is none. All ways to match are followed at once. */
function endOf({ takes, optional, repeats }: Steps, utterance: readonly number[], from: number): number {
  const matched = 1 << takes.length;
  let active = skipOptional(optional, takes.length, 1);
  let end = from;
  const stop = Math.min(utterance.length, from + MOST_WORDS);
  for (let at = from; at < stop; at++) {
    const word = utterance[at] ?? UNKNOWN;
    let next = 0;
    for (let left = active & ~matched; left !== 0; left &= left - 1) {
      const step = left & -left;
      if (takes[31 - Math.clz32(step)]?.[word] === 1) next |= (repeats & step) === 0 ? step << 1 : step;
    }
    if (next === 0) break;
    active = skipOptional(optional, takes.length, next);
    if ((active & matched) !== 0) end = at + 1;
  }
  return end;
}

function skipOptional(optional: number, length: number, active: number): number {
  let reached = active;
  for (let step = 0; step < length; step++) reached |= (reached & optional & (1 << step)) << 1;
  return reached;
}
