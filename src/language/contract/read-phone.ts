import { type PhoneRegion, readPhoneNumber } from '../understand/phone-number.ts';
import { type AnswerReading, complete, impossible, incomplete } from './reading.ts';

/** A plus in front of the digits, said or written. */
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
