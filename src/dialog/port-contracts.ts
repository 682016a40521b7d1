/** Answer contracts as the call layer sees them: pure functions, no state of their own. */
export type { AnswerContract } from './contract/contract.ts';
export type { AnswerContext, AnswerPart, AnswerReading, More } from './contract/reading.ts';
export { answerContext } from './contract/context.ts';
export { isSecure, readAnswer, readParts } from './contract/read-answer.ts';
export { type ContractPatience, contractSilenceMs, DEFAULT_PATIENCE } from './contract/endpointing.ts';
export { contractHints } from './contract/hints.ts';
export { mostKeys } from './contract/keys.ts';
export { contractStep, isReadBack } from './contract/contract-step.ts';
export {
  type ContractInput,
  type ContractOutcome,
  type ContractState,
  type ContractStep,
  startContract,
} from './contract/contract-state.ts';
export { type ReadBackLevel, sayAnswer } from './contract/say-answer.ts';
