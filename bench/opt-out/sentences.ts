import { readFileSync } from 'node:fs';
import type { OptOut } from '../../src/language/index.ts';
import { readOptOut } from '../../src/language/index.ts';
import { rateOf } from '../document.ts';

export const HALVES = ['tuning', 'held-out'] as const;
export const SPOKEN = ['en', 'hi'] as const;

export interface Sentence {
  readonly label: OptOut | 'none';
  readonly text: string;
}

/** The labelled sentences of `test/fixtures/opt-out`: `== LABEL` starts the lines of one label, `#` a comment. */
export function sentences(language: (typeof SPOKEN)[number], half: (typeof HALVES)[number]): readonly Sentence[] {
  const file = new URL(`../../test/fixtures/opt-out/${language}-${half}.txt`, import.meta.url);
  const read: Sentence[] = [];
  let label: Sentence['label'] = 'none';
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line.startsWith('== ')) label = labelOf(line.slice(3));
    else if (line !== '' && !line.startsWith('#')) read.push({ label, text: line });
  }
  return read;
}

function labelOf(name: string): Sentence['label'] {
  if (name === 'opt-out' || name === 'wrong-number' || name === 'none') return name;
  throw new Error(`unknown label ${name}`);
}

/** Rates with one-sided bounds of 95 %, and the sentences behind them. A false one is an opt-out where none was said. */
export function rates(all: readonly Sentence[]) {
  const read = all.map((sentence) => ({ ...sentence, read: readOptOut(sentence.text) }));
  const optOuts = read.filter(({ label }) => label === 'opt-out');
  const wrongNumbers = read.filter(({ label }) => label === 'wrong-number');
  const others = read.filter(({ label }) => label !== 'opt-out');
  const none = read.filter(({ label }) => label === 'none');
  const missed = optOuts.filter((one) => one.read !== 'opt-out');
  const falseOptOuts = others.filter((one) => one.read === 'opt-out');
  const missedWrongNumbers = wrongNumbers.filter((one) => one.read !== 'wrong-number');
  const falseWrongNumbers = none.filter((one) => one.read === 'wrong-number');
  return {
    missed: rateOf(missed.length, optOuts.length),
    falseOptOuts: rateOf(falseOptOuts.length, others.length),
    missedWrongNumbers: rateOf(missedWrongNumbers.length, wrongNumbers.length),
    falseWrongNumbers: rateOf(falseWrongNumbers.length, none.length),
    errors: [...new Set([...missed, ...falseOptOuts, ...missedWrongNumbers, ...falseWrongNumbers])],
  };
}
