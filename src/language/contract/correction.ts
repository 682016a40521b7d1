import { digitRuns, pieceAt } from '../understand/digits.ts';
import { tokenise } from '../understand/tokens.ts';
import type { AnswerContract } from './contract.ts';
import { wordsIn } from './parts.ts';
import { readParts } from './read-answer.ts';
import type { AnswerContext } from './reading.ts';

const AT_END = new Set(tokenise('last end ends ending आखिरी अंतिम अंत लास्ट आख़िर'));
const AT_START = new Set(tokenise('first start starts starting beginning शुरू शुरुआत पहला पहले फर्स्ट'));
const NOT = new Set(tokenise('not नहीं नही isnt'));
const COUNTED = new Set(tokenise('digit digits number numbers अंक नंबर डिजिट'));
/** A group shorter than this would fit in too many places. */
const SHORTEST_GROUP = 3;

/**
 * A value with what the caller corrects in it: `the last two digits are four five`, `it starts with nine seven`,
 * `nine, not five`, or one group said again (`no, 43218`). Only kinds made of digits, and only where one correction is
 * meant.
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
  const [right, wrong] = between ? [said[0]!, said[1]!] : [said[1]!, said[0]!];
  const place = digits.indexOf(wrong);
  return place < 0 || place !== digits.lastIndexOf(wrong) ? undefined : digits.slice(0, place) + right + digits.slice(place + 1);
}

/** Where the group fits but for one digit, if it is one place. */
function oneGroup(digits: string, said: string): string | undefined {
  const fitting: string[] = [];
  for (let from = 0; from + said.length <= digits.length; from++) {
    const differing = said.split('').filter((digit, place) => digit !== digits[from + place]).length;
    if (differing === 0) return undefined;
    if (differing === 1) fitting.push(digits.slice(0, from) + said + digits.slice(from + said.length));
  }
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** "The last two digits are …": the two is no digit of it. */
function withoutCounts(tokens: readonly string[]): string[] {
  const kept: string[] = [];
  for (let index = 0; index < tokens.length; index++) {
    const piece = pieceAt(tokens, index);
    if (piece !== undefined && COUNTED.has(tokens[piece.to] ?? '')) index = piece.to;
    else kept.push(tokens[index]!);
  }
  return kept;
}
