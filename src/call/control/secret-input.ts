import { type AnswerReading, withoutCardNumbers } from '../../language/index.ts';
import type { SecretVault } from './secret-vault.ts';
import type { CallerInput } from '../log/call-record.ts';
import type { AskedInput, Expectation } from '../turn/turn-state.ts';
import type { ExpectedValue } from '../turn/value-reader.ts';
import { ANSWER_READER, readExpected } from './answer-reader.ts';

/** Silence that goes on after the last key: its tone may still be on its way. */
const TAIL_MS = 400;
/** Sound of before a secret was asked for that goes with it: keys that were pressed too early. */
const EARLIER_TONES_MS = 250;
/** Card numbers are known by their last four digits; of a password those are too much. */
const SHOWN_DIGITS = 4;
/** A call's id and the keys made of it: the figures in one of thousands have the form and the check digit of a card. */
const OWN_ID = /(call_[0-9a-f]{32}[\w.-]*)/u;
/** A telephone number as a contract writes it: one in ten of thirteen digits has the form and the check digit of a card. */
const E164 = /^\+\d{7,15}$/u;

/**
 * Whether the caller is keying a value that nothing may keep: a card number, a one-time password. While it is so the
 * caller's side is silence to everything behind the line, and keys have no name. A card number that is spoken where no value
 * was asked for is known by its last four digits alone from then on; its sound stays.
 */
export class SecretInput {
  readonly #vault: SecretVault;
  readonly #botName: string;
  #expected: ExpectedValue | undefined;
  /** Whether the next answer is a value that may be spoken, and whether the last one was: then its digits are wanted. */
  #wanted = false;
  #wasWanted = false;
  #quietUntilMs = Number.NEGATIVE_INFINITY;
  /** What finds the values that were keyed in this call, and the tokens given out for them. */
  readonly #secrets: RegExp[] = [];

  constructor(vault: SecretVault, botName: string) {
    this.#vault = vault;
    this.#botName = botName;
  }

  /**
   * What is asked for next; undefined where nothing is, any more.
   * @returns from when on the caller's sound has to be silence, where that is secret and was not before
   */
  expect(expectation: Expectation | undefined, nowMs: number): number | undefined {
    const before = this.#expected;
    const value = expectation?.value;
    const isSecret = value !== undefined && ANSWER_READER.isSecret(value);
    this.#wanted = value !== undefined && !isSecret;
    this.#expected = isSecret ? value : undefined;
    if (before !== undefined && this.#expected === undefined) this.#quietUntilMs = nowMs + TAIL_MS;
    return before === undefined && this.#expected !== undefined ? nowMs - EARLIER_TONES_MS : undefined;
  }

  /** Words of the turn that is not over. */
  hideEarly(text: string): string {
    return this.#wanted ? text : withoutCardNumbers(text);
  }

  /** Better words for the turn that was over last. */
  hideAgain(input: AskedInput): AskedInput {
    if (input.kind !== 'spoken' || this.#wasWanted) return input;
    return { ...input, text: withoutCardNumbers(input.text) };
  }

  /** What a bot wants in the record, without card numbers and without the values of this call that nothing may keep. */
  hideInRecord(text: string): string {
    const hidden = this.#secrets.reduce((rest, secret) => rest.replaceAll(secret, stars), text);
    if (E164.test(hidden)) return hidden;
    const parts = hidden.split(OWN_ID);
    return parts.map((part, index) => (index % 2 === 1 ? part : withoutCardNumbers(part))).join('');
  }

  get keying(): boolean {
    return this.#expected !== undefined;
  }

  /** Whether the caller's sound at this moment is to be silence. */
  isSilent(nowMs: number): boolean {
    return this.keying || nowMs < this.#quietUntilMs;
  }

  /**
   * The turn is over. What a caller who stayed silent was asked for is still expected of them, and as secret as it was.
   * @returns its input as everybody may see it; the value itself is in the vault where it is whole
   */
  hide(input: AskedInput, nowMs: number): CallerInput {
    if (input.kind === 'no-input') return input;
    const expected = this.#expected;
    this.#wasWanted = this.#wanted;
    this.expect(undefined, nowMs);
    const digits = input.kind === 'keyed' ? input.digits : input.kind === 'spoken' ? input.keys : undefined;
    if (expected === undefined || digits === undefined) return this.hideAgain(input);
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
