import type { AnswerContract } from './contract.ts';
import type { AnswerContext, AnswerPart } from './reading.ts';

/** Where collecting a value stands. Plain data: it can be kept, compared and restored. */
export interface ContractState {
  readonly contract: AnswerContract;
  readonly context: AnswerContext;
  /** `choosing`: several values were meant. `confirming`: a value was read back. */
  readonly stage: 'collecting' | 'choosing' | 'confirming' | 'done';
  /** The pieces of the value that is being collected. */
  readonly parts: readonly AnswerPart[];
  /** What was read back, or the values to choose from. */
  readonly candidates: readonly string[];
  /** Values that the caller said no to. */
  readonly rejected: readonly string[];
  readonly readBacks: number;
  /** Answers in a row that brought nothing, silence among them. */
  readonly misses: number;
}

export type ContractInput =
  /** `keys`: pressed behind the words, as a part of the same answer. */
  | { readonly kind: 'spoken'; readonly text: string; readonly keys?: string }
  /** `#` and `*` as they were pressed. */
  | { readonly kind: 'keyed'; readonly keys: string }
  | { readonly kind: 'no-input' };

export type ContractOutcome =
  | { readonly status: 'accepted'; readonly value: string; readonly readBacks: number }
  | { readonly status: 'given-up'; readonly reason: 'no-input' | 'not-understood' | 'too-many-corrections' };

export interface ContractStep {
  readonly state: ContractState;
  /** What the bot says next; empty when it is done. */
  readonly say: string;
  /** What the next answer is expected to be: the value, what is missing of it, or a yes or no. */
  readonly expect: AnswerContract;
  readonly done?: ContractOutcome;
}

/** Before the first answer; the question itself is the bot's. */
export function startContract(contract: AnswerContract, context: AnswerContext): ContractState {
  return {
    contract,
    context,
    stage: 'collecting',
    parts: [],
    candidates: [],
    rejected: [],
    readBacks: 0,
    misses: 0,
  };
}
