/** Answer contracts, and what else is known of spoken values, as the call layer sees them: pure functions, no state of their own. */
export type { AnswerContract } from './contract/contract.ts';
export type { AnswerContext, AnswerReading } from './contract/reading.ts';
export { answerContext } from './contract/context.ts';
export { isSecure, readAnswer } from './contract/read-answer.ts';
export { contractSilenceMs, DEFAULT_PATIENCE } from './contract/endpointing.ts';
export { contractHints } from './contract/hints.ts';
export { mostKeys } from './contract/keys.ts';
export { withoutCardNumbers } from './understand/card-numbers.ts';
