import { aroundYesNo, findAgreement, findYesNo, type YesNo } from '../understand/yes-no.ts';
import { type AnswerContext, wordsIn } from './reading.ts';
import { digitRuns, pieceAt } from '../understand/digits.ts';
import { tokenise } from '../understand/tokens.ts';
import type { AnswerContract } from './contract.ts';
import { readParts } from './read-answer.ts';

/** Whether the caller agreed to a read-back. */
export function agreement(text: string, context: AnswerContext): YesNo | undefined {
  return findAgreement(wordsIn(text, context.language))?.value;
}

/**
 * The words besides a yes or no at the beginning or end of an answer, for values that any word could be: `no, it's Jon`, `Jon, okay`.
 * Empty when they say yes or no again, or thanks.
 */
export function besidesAgreement(text: string, context: AnswerContext): string {
  const around = aroundYesNo(wordsIn(text, context.language));
  const words = text.trim().split(/\s+/u);
  const count = (to: number): number => wordsIn(words.slice(0, to).join(' '), context.language).length;
  let from = 0;
  while (from < words.length && count(from) < around.from) from += 1;
  let to = words.length;
  while (to > from && count(to - 1) >= around.to) to -= 1;
  const rest = words.slice(from, to).join(' ');
  const says = findYesNo(wordsIn(rest, context.language)) !== undefined || /^(?:thanks|thank you|धन्यवाद|शुक्रिया)/iu.test(rest);
  return says ? '' : rest;
}

const AT_END = new Set(tokenise('last end ends ending आखिरी अंतिम अंत लास्ट आख़िर'));
const AT_START = new Set(tokenise('first start starts starting beginning शुरू शुरुआत पहला पहले फर्स्ट'));
const NOT = new Set(tokenise('not नहीं नही isnt'));
const COUNTED = new Set(tokenise('digit digits number numbers अंक नंबर डिजिट'));
/** Shorter groups fit in too many places. */
const SHORTEST_GROUP = 3;

/**
 * Applies a caller's correction to a value of digits: `the last two digits are four five`, `it starts with nine seven`, `nine, not
 * five`, or one group said again (`no, 43218`). Only an unambiguous correction counts.
 * @returns the corrected value, when the contract takes it
 */
export function corrected(contract: AnswerContract, value: string, text: string, context: AnswerContext): string | undefined {
  if (contract.kind !== 'digits' && contract.kind !== 'phone') return undefined;
  const digits = contract.kind === 'phone' ? value.slice(-10) : value;
  const tokens = withoutCounts(wordsIn(text, context.language));
  const said = digitRuns(tokens)
    .map((run) => run.value)
    .join('');
  if (said === '' || said.length >= digits.length) return undefined;
  const better = replaced(digits, said, tokens);
  if (better === undefined || better === digits) return undefined;
  const reading = readParts(contract, context, [{ by: 'voice', text: better }]);
  return reading.status === 'complete' ? reading.value : undefined;
}

function replaced(digits: string, said: string, tokens: readonly string[]): string | undefined {
  const atEnd = tokens.some((token) => AT_END.has(token));
  const atStart = tokens.some((token) => AT_START.has(token));
  if (atEnd !== atStart) {
    return atEnd ? digits.slice(0, -said.length) + said : said + digits.slice(said.length);
  }
  if (said.length === 2) return oneForAnother(digits, said, tokens);
  return said.length >= SHORTEST_GROUP ? oneGroup(digits, said) : undefined;
}

/** `nine, not five`: the only five becomes a nine; `not five, nine` as well. */
function oneForAnother(digits: string, said: string, tokens: readonly string[]): string | undefined {
  const not = tokens.findIndex((token) => NOT.has(token));
  if (not < 0) return undefined;
  const between = tokens.slice(0, not).some((_, index) => pieceAt(tokens, index) !== undefined);
  const [right, wrong] = between ? [said.slice(0, 1), said.slice(1)] : [said.slice(1), said.slice(0, 1)];
  const place = digits.indexOf(wrong);
  return place < 0 || place !== digits.lastIndexOf(wrong) ? undefined : digits.slice(0, place) + right + digits.slice(place + 1);
}

/** Replaces the group at the only place where all but one digit match. */
function oneGroup(digits: string, said: string): string | undefined {
  const fitting: string[] = [];
  for (let from = 0; from + said.length <= digits.length; from++) {
    const differing = said.split('').filter((digit, place) => digit !== digits[from + place]).length;
    if (differing === 0) return undefined;
    if (differing === 1) fitting.push(digits.slice(0, from) + said + digits.slice(from + said.length));
  }
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** Drops counts: the two in "the last two digits are …". */
function withoutCounts(tokens: readonly string[]): string[] {
  const kept: string[] = [];
  let next = 0;
  for (const [index, token] of tokens.entries()) {
    if (index < next) continue;
    const piece = pieceAt(tokens, index);
    const counts = piece !== undefined && COUNTED.has(tokens[piece.to] ?? '');
    if (!counts) kept.push(token);
    next = counts ? piece.to + 1 : index + 1;
  }
  return kept;
}
