import { numberAt } from './numbers.ts';
import { type Found, tokenise } from './tokens.ts';

const ZERO = new Set(['oh', 'o', 'nought', 'naught', 'nil', 'zero']);
const TIMES: ReadonlyMap<string, number> = new Map([
  ['double', 2],
  ['triple', 3],
  ...tokenise('डबल').map((word) => [word, 2] as const),
  ...tokenise('ट्रिपल').map((word) => [word, 3] as const),
]);

/**
 * The longest run of digits in an utterance, as they would be keyed: `four two double seven` is `4277`,
 * `forty two seventy one` is `4271`, `चार दो सात एक` is `4271`.
 */
export function findDigits(tokens: readonly string[]): Found<string> | undefined {
  let best: Found<string> | undefined;
  for (let index = 0; index < tokens.length;) {
    const run = runAt(tokens, index);
    if (run !== undefined && (best === undefined || run.value.length > best.value.length)) best = run;
    index = run?.to ?? index + 1;
  }
  return best;
}

function runAt(tokens: readonly string[], from: number): Found<string> | undefined {
  let value = '';
  let index = from;
  for (let piece = pieceAt(tokens, index); piece !== undefined; piece = pieceAt(tokens, index)) {
    value += piece.value;
    index = piece.to;
  }
  return value === '' ? undefined : { value, from, to: index };
}

function pieceAt(tokens: readonly string[], index: number): Found<string> | undefined {
  const word = tokens[index] ?? '';
  if (/^\d+$/.test(word)) return { value: word, from: index, to: index + 1 };
  if (/^\d+:\d+$/.test(word)) return { value: word.replace(':', ''), from: index, to: index + 1 };
  if (ZERO.has(word)) return { value: '0', from: index, to: index + 1 };
  const times = TIMES.get(word);
  if (times !== undefined) {
    const digit = pieceAt(tokens, index + 1);
    return digit?.value.length === 1 ? { value: digit.value.repeat(times), from: index, to: digit.to } : undefined;
  }
  const number = numberAt(tokens, index);
  return number === undefined ? undefined : { ...number, value: String(number.value) };
}
