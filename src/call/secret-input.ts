import { type AnswerReading, isSecure, readAnswer, withoutCardNumbers } from '../dialog/port-contracts.ts';
import type { SecretVault } from './secret-vault.ts';
import type { AskedInput, Expectation, ExpectedValue } from './turn-state.ts';

/** Silence that goes on after the last key: its tone may still be on its way. */
const TAIL_MS = 400;
/** Card numbers are known by their last four digits; of a password those are too much. */
const SHOWN_DIGITS = 4;

/**
 * Whether the caller is keying a value that nothing may keep: a card number, a one-time password. While it is so the
 * caller's side is silence to everything behind the line, and keys have no name. A card number that is spoken where no value
 * was asked for is known by its last four digits alone from then on; its sound stays.
 */
export class SecretInput {
  readonly #vault: SecretVault;
  readonly #botName: string;
  #expected: ExpectedValue | undefined;
  /** Whether the next answer is a value that was asked for, and whether the last one was: then its digits are wanted. */
  #wanted = false;
  #wasWanted = false;
  #quietUntilMs = Number.NEGATIVE_INFINITY;

  constructor(vault: SecretVault, botName: string) {
    this.#vault = vault;
    this.#botName = botName;
  }

  /** What is asked for next. @returns whether it is secret, and was not before */
  expect({ value }: Expectation): boolean {
    this.#wanted = value !== undefined;
    const begins = this.#expected === undefined && value !== undefined && isSecure(value.contract);
    if (value !== undefined && isSecure(value.contract)) this.#expected = value;
    return begins;
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

  get keying(): boolean {
    return this.#expected !== undefined;
  }

  /** Whether the caller's sound at this moment is to be silence. */
  isSilent(nowMs: number): boolean {
    return this.keying || nowMs < this.#quietUntilMs;
  }

  /** The turn is over. @returns its input as everybody may see it; the value itself is in the vault where it is whole */
  hide(input: AskedInput, nowMs: number): AskedInput {
    const expected = this.#expected;
    this.#wasWanted = this.#wanted;
    this.#wanted = false;
    if (expected === undefined) return this.hideAgain(input);
    this.#expected = undefined;
    this.#quietUntilMs = nowMs + TAIL_MS;
    if (input.kind !== 'keyed') return input;
    const { digits } = input;
    const reading = readAnswer(expected.contract, expected.context, '', digits);
    if (reading.status !== 'complete') return { kind: 'keyed', digits: masked(digits, 0), reading: withoutDigits(reading) };
    const shown = expected.contract.kind === 'card' ? SHOWN_DIGITS : 0;
    const token = this.#vault.keep(this.#botName, reading.value);
    return { kind: 'keyed', digits: masked(digits, shown), reading: { ...reading, value: token } };
  }
}

function masked(digits: string, shown: number): string {
  return '*'.repeat(digits.length - shown) + digits.slice(digits.length - shown);
}

/** What is wrong with a value, without any of it. */
function withoutDigits(reading: AnswerReading): AnswerReading {
  return reading.status === 'incomplete' || reading.status === 'impossible' ? { ...reading, soFar: '' } : reading;
}
