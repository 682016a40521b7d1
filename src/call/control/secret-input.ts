import { type AnswerReading, withoutCardNumbers } from '../../language/index.ts';
import type { SecretVault } from './secret-vault.ts';
import type { CallerInput } from '../log/call-record.ts';
import type { AskedInput } from '../turn/turn-state.ts';
import type { ExpectedValue } from '../turn/value-reader.ts';
import { ANSWER_READER, readExpected } from './answer-reader.ts';

/** A card number shows its last four digits; of a password those would be too much. */
const SHOWN_DIGITS = 4;
/** A call's id and keys made of it: one in thousands looks like a card number with a valid check digit. */
const OWN_ID = /(call_[0-9a-f]{32}[\w.-]*)/u;
/** A telephone number in a contract: one in ten numbers of thirteen digits looks like a card number with a valid check digit. */
const E164 = /^\+\d{7,15}$/u;

/**
 * Hides secret values from the bot, the log and the record: card numbers and one-time passwords. A card number spoken unasked is reduced to its last
 * four digits; the recorded sound stays.
 */
export class SecretInput {
  readonly #vault: SecretVault;
  readonly #botName: string;
  /** Matches the values keyed in this call, and the tokens issued for them. */
  readonly #secrets: RegExp[] = [];

  constructor(vault: SecretVault, botName: string) {
    this.#vault = vault;
    this.#botName = botName;
  }

  /** The caller's words with secrets hidden. @param expected what was asked for: the digits of a value that may be spoken are kept */
  hideInWords(text: string, expected: ExpectedValue | undefined): string {
    return expected !== undefined && !ANSWER_READER.isSecret(expected) ? text : withoutCardNumbers(text);
  }

  /** A bot's text for the record, without card numbers and this call's secret values. */
  hideInRecord(text: string): string {
    const hidden = this.#secrets.reduce((rest, secret) => rest.replaceAll(secret, stars), text);
    if (E164.test(hidden)) return hidden;
    const parts = hidden.split(OWN_ID);
    return parts.map((part, index) => (index % 2 === 1 ? part : withoutCardNumbers(part))).join('');
  }

  /**
   * Ends the turn.
   * @returns its input with secrets hidden; a complete value is in the vault
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
    // A server that redeems the token may send the value back, even in groups.
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

/** What is wrong with a value, without its digits. */
function withoutDigits(reading: AnswerReading): AnswerReading {
  return reading.status === 'incomplete' || reading.status === 'impossible' ? { ...reading, soFar: '' } : reading;
}
