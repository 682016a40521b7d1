import { type AnswerReading, withoutCardNumbers } from '../../language/index.ts';
import type { SecretVault } from './secret-vault.ts';
import type { CallerInput } from '../log/call-record.ts';
import type { AskedInput } from '../turn/turn-state.ts';
import type { ExpectedValue } from '../turn/value-reader.ts';
import { ANSWER_READER, readExpected } from './answer-reader.ts';

/** Card numbers are known by their last four digits; of a password those are too much. */
const SHOWN_DIGITS = 4;
/** A call's id and the keys made of it: the figures in one of thousands have the form and the check digit of a card. */
const OWN_ID = /(call_[0-9a-f]{32}[\w.-]*)/u;
/** A telephone number as a contract writes it: one in ten of thirteen digits has the form and the check digit of a card. */
const E164 = /^\+\d{7,15}$/u;

/**
 * Keeps values that nothing may keep out of what the bot, the log and the record see: a card number, a one-time password. A card
 * number that is spoken where no value was asked for is known by its last four digits alone from then on; its sound stays.
 */
export class SecretInput {
  readonly #vault: SecretVault;
  readonly #botName: string;
  /** What finds the values that were keyed in this call, and the tokens given out for them. */
  readonly #secrets: RegExp[] = [];

  constructor(vault: SecretVault, botName: string) {
    this.#vault = vault;
    this.#botName = botName;
  }

  /** Words of the caller. @param expected what was asked for: the digits of a value that may be spoken are wanted */
  hideInWords(text: string, expected: ExpectedValue | undefined): string {
    return expected !== undefined && !ANSWER_READER.isSecret(expected) ? text : withoutCardNumbers(text);
  }

  /** What a bot wants in the record, without card numbers and without the values of this call that nothing may keep. */
  hideInRecord(text: string): string {
    const hidden = this.#secrets.reduce((rest, secret) => rest.replaceAll(secret, stars), text);
    if (E164.test(hidden)) return hidden;
    const parts = hidden.split(OWN_ID);
    return parts.map((part, index) => (index % 2 === 1 ? part : withoutCardNumbers(part))).join('');
  }

  /**
   * The turn is over.
   * @returns its input as everybody may see it; the value itself is in the vault where it is whole
   */
  hide(input: AskedInput, expected: ExpectedValue | undefined): CallerInput {
    const digits = input.kind === 'keyed' ? input.digits : input.kind === 'spoken' ? input.keys : undefined;
    if (input.kind === 'start')
      return input.heard === undefined ? input : { ...input, heard: this.hideInWords(input.heard, expected) };
    if (expected === undefined || digits === undefined || !ANSWER_READER.isSecret(expected))
      return input.kind === 'spoken' ? { ...input, text: this.hideInWords(input.text, expected) } : input;
    const reading = readExpected(expected, '', digits);
    if (reading.status !== 'complete') return { kind: 'keyed', digits: masked(digits, 0), reading: withoutDigits(reading) };
    const shown = expected.contract.kind === 'card' ? SHOWN_DIGITS : 0;
    const token = this.#vault.keep(this.#botName, reading.value);
    // A server that redeems the token may send the value back, in groups even.
    const grouped = reading.value.split('').join('[\\s.-]?');
    this.#secrets.push(new RegExp(`(?<!\\d)${grouped}(?!\\d)`, 'gu'), new RegExp(token, 'gu'));
    return { kind: 'keyed', digits: masked(digits, shown), reading: { ...reading, value: token } };
  }
}

function stars(found: string): string {
  return '*'.repeat(found.length);
}

function masked(digits: string, shown: number): string {
  return '*'.repeat(digits.length - shown) + digits.slice(digits.length - shown);
}

/** What is wrong with a value, without any of it. */
function withoutDigits(reading: AnswerReading): AnswerReading {
  return reading.status === 'incomplete' || reading.status === 'impossible' ? { ...reading, soFar: '' } : reading;
}
