/** What somebody says, and what it means. Written out by enumeration, without a line of the code that is tested. */
export interface Row {
  readonly kind: 'integer' | 'digits' | 'phone' | 'money' | 'dollars' | 'date' | 'time' | 'code' | 'email' | 'name' | 'yes-no';
  readonly text: string;
  readonly value: string;
  /** This is the way in which the value is said back; the other rows are only understood. */
  readonly said: boolean;
}

/** Numbers that look random and are the same in every run: a full-period generator modulo 2^32 (Numerical Recipes). */
export function* draws(seed: number): Generator<number, never> {
  let state = seed >>> 0;
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

export function row(kind: Row['kind'], text: string, value: string, said = false): Row {
  return { kind, text, value, said };
}

/** @param names of the digits, from 0 on */
export function spokenDigits(digits: string, names: readonly string[]): string {
  return Array.from(digits, (digit) => names[Number(digit)]!).join(' ');
}

/** Pairs and triples as people say them. @param times the words for two and for three of a digit */
export function withDoubles(digits: string, names: readonly string[], times: readonly [string, string]): string {
  const runs = digits.match(/(\d)\1\1|(\d)\2|\d/g)!;
  return runs.map((run) => (run.length === 1 ? '' : `${times[run.length - 2]!} `) + names[Number(run[0])]!).join(' ');
}

/** Every second day of a year, each in another year between 1931 and 2040. */
export function* someDays(): Generator<{
  readonly day: number;
  readonly month: number;
  readonly year: number;
  readonly value: string;
}> {
  let year = 1931;
  for (const [index, length] of [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].entries()) {
    for (let day = 1; day <= length; day += 2) {
      year = 1931 + ((year - 1931 + 7) % 110);
      const month = index + 1;
      yield { day, month, year, value: `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}` };
    }
  }
}

/** The first phrase of each list is the one that is said. */
export function* yesNo(yes: string, no: string): Generator<Row> {
  for (const [value, list] of Object.entries({ yes, no }))
    for (const [at, text] of list.split(',').entries()) yield row('yes-no', text, value, at === 0);
}
