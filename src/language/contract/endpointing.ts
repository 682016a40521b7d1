import type { AnswerContract } from './contract.ts';
import { signsOf } from './read-code.ts';
import { digitBounds } from './read-digits.ts';
import type { AnswerReading } from './reading.ts';

/** Silences that end an answer, in ms after the last voiced frame. */
export interface ContractPatience {
  /** While a part is missing: longer than people pause in a number. */
  readonly incompleteMs: number;
  /** When the value may be complete, and more is likely. */
  readonly likelyMoreMs: number;
  /** When the value may be complete, and more is unlikely. */
  readonly unlikelyMoreMs: number;
  /** When nothing can follow: a breath, so that a recognition error does not end the answer. */
  readonly wholeMs: number;
}

export const DEFAULT_PATIENCE: ContractPatience = {
  incompleteMs: 1_800,
  likelyMoreMs: 1_200,
  unlikelyMoreMs: 480,
  wholeMs: 200,
};

/**
 * The silence that ends the turn after this reading; at most the longer of `incompleteMs` and the base.
 * @param baseMs the silence that ends an ordinary answer of this bot
 */
export function contractSilenceMs(reading: AnswerReading, baseMs: number, patience: ContractPatience = DEFAULT_PATIENCE): number {
  switch (reading.status) {
    case 'incomplete':
      // No part of the value was said, as in a question or a refusal: the bot's own setting applies.
      return reading.begun ? Math.max(baseMs, patience.incompleteMs) : baseMs;
    case 'impossible':
      return baseMs;
    case 'complete':
    case 'ambiguous':
      switch (reading.more) {
        case 'no':
          return Math.min(baseMs, patience.wholeMs);
        case 'unlikely':
          return Math.min(baseMs, patience.unlikelyMoreMs);
        case 'likely':
          return Math.max(baseMs, patience.likelyMoreMs);
      }
  }
}

/** Most keys of an answer; undefined for kinds that cannot be typed. A `#` ends it earlier. */
export function mostKeys(contract: AnswerContract): number | undefined {
  switch (contract.kind) {
    case 'digits':
      return digitBounds(contract).most;
    case 'phone':
      return 14;
    case 'date':
      return 8;
    case 'time':
      return 4;
    case 'money':
      return 12;
    case 'yes-no':
      return 1;
    case 'choice':
      return Math.max(1, ...contract.options.map(({ key }) => key?.length ?? 0));
    case 'code':
      return /[AX]/.test(contract.pattern) ? undefined : signsOf(contract.pattern);
    case 'card':
      return 19;
    case 'otp':
      return contract.length;
    case 'name':
    case 'email':
      return undefined;
  }
}
