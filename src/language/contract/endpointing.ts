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
