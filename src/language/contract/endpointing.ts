import type { AnswerContract } from './contract.ts';
import { signsOf } from './read-code.ts';
import { digitBounds } from './read-digits.ts';
import type { AnswerReading } from './reading.ts';

/** Silences that end an answer, in ms after the last voiced frame. */
export interface ContractPatience {
  /** While something is missing: longer than people think in the middle of a number. */
  readonly incompleteMs: number;
  /** When it could end here and may as well go on. */
  readonly likelyMoreMs: number;
  /** When it could end here and rarely goes on. */
  readonly unlikelyMoreMs: number;
  /** When nothing can follow: only as long as a breath, so that a slip of the recogniser is not taken for the end. */
  readonly wholeMs: number;
}

export const DEFAULT_PATIENCE: ContractPatience = {
  incompleteMs: 1_800,
  likelyMoreMs: 1_200,
  unlikelyMoreMs: 480,
  wholeMs: 200,
};

/**
 * How long a silence ends the turn, given what has been read. Never longer than `incompleteMs` unless the base is.
 * @param baseMs the silence that ends an ordinary answer of this bot
 */
export function contractSilenceMs(reading: AnswerReading, baseMs: number, patience: ContractPatience = DEFAULT_PATIENCE): number {
  switch (reading.status) {
    case 'incomplete':
      // Nothing of the value was said: a question, a refusal. The bot's own rules know more of those.
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

/** The most keys that an answer has; undefined where it is not typed on a keypad. A `#` ends it earlier. */
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
