import { type PhoneRegion, readPhoneNumber } from '../understand/phone-number.ts';
import { type AnswerReading, complete, impossible, incomplete } from './reading.ts';
import { digitRuns } from '../understand/digits.ts';
import { phraseAt, phraseTable } from '../understand/tokens.ts';
import { checkHolds } from '../understand/check-digits.ts';
import type { ContractOf } from './contract.ts';

/** Phrases of a correction; `true`: everything before is dropped. */
const RESTARTS = phraseTable<boolean>([
  [false, 'sorry, no, no no, wait, i mean, correction, oops, नहीं, नहीं नहीं, सॉरी, माफ़ कीजिए, गलत, मतलब, रुकिए'.split(', ')],
  [true, ['let me start again', 'start again', 'start over', 'from the beginning', 'scratch that', 'फिर से', 'दोबारा', 'शुरू से']],
]);
/** Digits that show whether the caller starts again or goes on. */
const TELLING = 2;

/** The longest form of a telephone number, card or code that people say in digits. */
const MOST = 64;

export function digitBounds(contract: ContractOf<'digits'>): { least: number; most: number } {
  const { length, least, most } = contract;
  return length === undefined ? { least: least ?? 1, most: most ?? MOST } : { least: length, most: length };
}

/**
 * The digits of an answer, across pauses and words (`98765, and then 43210`). A correction (`nine eight, sorry, nine seven ...`)
 * starts again.
 * @param enough digits of a complete value: with fewer in all, digits before and after a correction are joined
 */
export function digitsSaid(tokens: readonly string[], enough: number): string {
  let said = '';
  let since = 0;
  for (let index = 0; index <= tokens.length; index++) {
    const restart = index === tokens.length ? undefined : phraseAt(tokens, index, RESTARTS);
    if (restart === undefined && index < tokens.length) continue;
    said = corrected(said, joined(tokens.slice(since, index)), enough);
    if (restart === undefined) break;
    if (restart.value) said = '';
    since = restart.to;
    index = restart.to - 1;
  }
  return said;
}

function corrected(before: string, after: string, enough: number): string {
  if (after === '' || before === '') return before + after;
  const anew = after.length >= TELLING && before.startsWith(after.slice(0, TELLING));
  return anew || before.length + after.length > enough ? after : before + after;
}

function joined(tokens: readonly string[]): string {
  return digitRuns(tokens)
    .map(({ value }) => value)
    .join('');
}

export function readDigits(digits: string, contract: ContractOf<'digits'>): AnswerReading {
  const { least, most } = digitBounds(contract);
  if (digits.length < least) return incomplete(digits, least - digits.length);
  if (digits.length > most) return impossible(digits, 'too-long');
  const whole = digits.length === most;
  if (contract.check !== undefined && !checkHolds(contract.check, digits)) {
    return whole ? impossible(digits, 'check-digit') : incomplete(digits);
  }
  return complete(digits, whole ? 'no' : 'likely');
}

/** ISO/IEC 7812: 12 to 19 digits with a Luhn digit; the prefix gives the length of common schemes. */
export function readCard(digits: string): AnswerReading {
  const length = /^3[47]/.test(digits) ? 15 : /^(?:4|5[1-5]|2[2-7]|6|8[1-9])/.test(digits) ? 16 : undefined;
  const least = length ?? 12;
  const most = length ?? 19;
  if (digits.length < least) return incomplete(digits, least - digits.length);
  if (digits.length > most) return impossible(digits, 'too-long');
  if (!checkHolds('luhn', digits)) return digits.length === most ? impossible(digits, 'check-digit') : incomplete(digits);
  return complete(digits, digits.length === most ? 'no' : 'likely');
}

/** Whether a plus precedes the digits, said or written. */
export function saysPlus(text: string): boolean {
  return /\+\s*\d|\bplus\b|प्लस/iu.test(text);
}

export function readPhone(digits: string, region: PhoneRegion, plus: boolean): AnswerReading {
  if (digits === '') return incomplete('', 10);
  const { number, missing, impossible: none, open } = readPhoneNumber(digits, region, plus);
  if (none) return impossible(digits, missing < 0 ? 'too-long' : 'no-such-value');
  if (number === undefined) return incomplete(digits, missing);
  return complete(number, open ? 'unlikely' : 'no');
}
