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
