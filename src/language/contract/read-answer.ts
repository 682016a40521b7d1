import { tokenise } from '../understand/tokens.ts';
import type { AnswerContract, ContractOf } from './contract.ts';
import {
  fused,
  keyedDigits,
  keyedIn,
  spokenIn,
  type AnswerContext,
  type AnswerPart,
  type AnswerReading,
  impossible,
} from './reading.ts';
import { readChoice, readYesNo, readDate, readEmail, readName, readTime, readMoney } from './read-words.ts';
import { digitBounds, digitsSaid, readCard, readDigits, readPhone, saysPlus } from './read-digits.ts';
import { readCode } from './read-code.ts';

const MOST_CHARACTERS = 1_000;
const LEADS_IN = new Set(tokenise("is it's its number code email mail date amount name नंबर है हैं कोड ईमेल तारीख नाम"));

/**
 * Reads the answer so far by its contract. Pure, and cheap enough for every partial.
 * @param heard all words of the answer so far, across pauses
 * @param keys all keys so far, read after the words. `#` ends the answer, `*` restarts the keys
 */
export function readAnswer(contract: AnswerContract, context: AnswerContext, heard: string, keys = ''): AnswerReading {
  const parts: AnswerPart[] = [];
  if (heard.trim() !== '') parts.push({ by: 'voice', text: heard });
  if (keys !== '') parts.push({ by: 'keys', keys });
  return readParts(contract, context, parts);
}

/** The same for words and keys in any order: four digits spoken, four typed. */
export function readParts(contract: AnswerContract, context: AnswerContext, parts: readonly AnswerPart[]): AnswerReading {
  const read = parts.map(shortened);
  const reading = readKind(contract, context, read);
  const last = read.at(-1);
  if (reading.status === 'incomplete' && !reading.begun && last?.by === 'voice') return { ...reading, begun: leadsIn(last.text) };
  const ended = last?.by === 'keys' && last.keys.endsWith('#');
  // The caller ended the answer with `#`.
  return ended && reading.status === 'complete' ? { ...reading, more: 'no' } : reading;
}

/** Keeps the end of a long text: values are short, and corrections come last. */
function shortened(part: AnswerPart): AnswerPart {
  if (part.by === 'keys' || part.text.length <= MOST_CHARACTERS) return part;
  const end = part.text.slice(-MOST_CHARACTERS);
  return { by: 'voice', text: end.slice(end.indexOf(' ') + 1) };
}

/** Whether the words lead up to a value: `my number is`, `it's`, `मेरा नंबर है`. */
function leadsIn(text: string): boolean {
  return LEADS_IN.has(tokenise(text).at(-1) ?? '');
}

/** Secure kinds: keypad only, and stored nowhere. */
export function isSecure(contract: AnswerContract): contract is ContractOf<'card'> | ContractOf<'otp'> {
  return contract.kind === 'card' || contract.kind === 'otp';
}

function readKind(contract: AnswerContract, context: AnswerContext, parts: readonly AnswerPart[]): AnswerReading {
  switch (contract.kind) {
    case 'digits': {
      const digits = digitsSaid(fused(parts, context.language), digitBounds(contract).most);
      return readDigits(digits, contract);
    }
    case 'phone': {
      const digits = digitsSaid(fused(parts, context.language), 12);
      return readPhone(digits, contract.region, saysPlus(spokenIn(parts)));
    }
    case 'yes-no':
      return readYesNo(parts, context);
    case 'choice':
      return readChoice(parts, contract, context);
    case 'card':
    case 'otp': {
      const digits = keyedDigits(keyedIn(parts));
      if (digits === '' && spokenIn(parts).trim() !== '') return impossible('', 'keypad-only');
      return contract.kind === 'card' ? readCard(digits) : readDigits(digits, { kind: 'digits', length: contract.length });
    }
    case 'date':
      return readDate(parts, contract, context);
    case 'time':
      return readTime(parts, contract, context);
    case 'money':
      return readMoney(parts, contract.currency, context);
    case 'name':
      return readName(parts, contract);
    case 'email':
      return readEmail(parts);
    case 'code':
      return readCode(parts, contract, context);
  }
}
