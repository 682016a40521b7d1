import type { AnswerContract } from './contract.ts';
import { type AnswerContext, type AnswerPart, type Impossible, keyedIn, spokenIn, wordsIn } from './reading.ts';
import { asksAgain } from '../understand/yes-no.ts';
import { agreement, besidesAgreement, corrected } from './read-back-reply.ts';
import { mostKeys } from './most-keys.ts';
import { contractPhrases, givenAgain } from './phrases.ts';
import { isSecure, readParts } from './read-answer.ts';
import { type ReadBackLevel, sayAnswer } from './say-answer.ts';

/** The state of collecting a value. Plain data: it can be stored, compared and restored. */
export interface ContractState {
  readonly contract: AnswerContract;
  readonly context: AnswerContext;
  /** `choosing`: several values were meant. `confirming`: a value was read back. */
  readonly stage: 'collecting' | 'choosing' | 'confirming' | 'done';
  /** The parts of the value so far. */
  readonly parts: readonly AnswerPart[];
  /** The value that was read back, or the values to choose from. */
  readonly candidates: readonly string[];
  /** Values that the caller denied. */
  readonly rejected: readonly string[];
  readonly readBacks: number;
  /** Useless answers in a row, with silences. */
  readonly misses: number;
}

export type ContractInput =
  /** `keys`: pressed after the words, in the same answer. */
  | { readonly kind: 'spoken'; readonly text: string; readonly keys?: string }
  /** `#` and `*` as they were pressed. */
  | { readonly kind: 'keyed'; readonly keys: string }
  | { readonly kind: 'no-input' };

export type ContractOutcome =
  | { readonly status: 'accepted'; readonly value: string; readonly readBacks: number }
  | { readonly status: 'given-up'; readonly reason: 'no-input' | 'not-understood' | 'too-many-corrections' };

export interface ContractStep {
  readonly state: ContractState;
  /** The bot's next words; empty when done. */
  readonly say: string;
  /** The expected next answer: the value, its missing part, or a yes or no. */
  readonly expect: AnswerContract;
  readonly done?: ContractOutcome;
}

/** The state before the first answer. The bot asks the question itself. */
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

const MOST_MISSES = 3;
const MOST_READ_BACKS = 5;
/** After this many denied values the caller is asked to use the keypad. */
const DENIED_FOR_KEYS = 2;
const YES_NO: AnswerContract = { kind: 'yes-no' };

/**
 * One answer on the way to a confirmed value: pure, never throws. Parts are joined until the value is complete. It is read back, the
 * second time in groups and the third sign by sign, and accepted only after a yes. A no with a correction (`no, the last digit is
 * five`) corrects it; a plain no asks again. Choices, yes or no, and secure values are accepted without a read-back.
 */
export function contractStep(state: ContractState, input: ContractInput): ContractStep {
  if (state.stage === 'done') return { state, say: '', expect: state.contract };
  if (input.kind === 'no-input') return missed(state, repeated(state), 'no-input');
  const answer = partsOf(input);
  switch (state.stage) {
    case 'collecting':
      return collect(state, answer);
    case 'choosing':
      return choose(state, answer);
    case 'confirming':
      return confirm(state, answer);
  }
}

/** Whether a value is read back before it is accepted. */
export function isReadBack(contract: AnswerContract): boolean {
  if (isSecure(contract)) return false;
  if (contract.readBack !== undefined) return contract.readBack === 'always';
  return contract.kind !== 'yes-no' && contract.kind !== 'choice';
}

function partsOf(input: Exclude<ContractInput, { kind: 'no-input' }>): AnswerPart[] {
  if (input.kind === 'keyed') return [{ by: 'keys', keys: input.keys }];
  const keys: AnswerPart[] = input.keys === undefined ? [] : [{ by: 'keys', keys: input.keys }];
  return [{ by: 'voice', text: input.text }, ...keys];
}

function collect(state: ContractState, answer: readonly AnswerPart[]): ContractStep {
  const { contract, context } = state;
  const phrases = contractPhrases(context.language);
  const parts = [...state.parts, ...answer];
  let reading = readParts(contract, context, parts);
  // A complete value in this answer alone replaces earlier parts.
  if (state.parts.length > 0 && reading.status !== 'complete') {
    const alone = readParts(contract, context, answer);
    if (alone.status === 'complete') reading = alone;
  }
  switch (reading.status) {
    case 'complete':
      return propose({ ...state, parts }, reading.value);
    case 'ambiguous': {
      const said = reading.values.map((value) => sayAnswer(contract, value, context, 'grouped'));
      return ask({ ...state, stage: 'choosing', parts: [], candidates: reading.values, misses: 0 }, phrases.which(said));
    }
    case 'incomplete': {
      if (reading.soFar === '') return missed(state, phrases.notUnderstood, 'not-understood');
      const digits = contract.kind === 'digits' || contract.kind === 'phone';
      const said = digits ? sayAnswer({ kind: 'digits' }, reading.soFar, context, 'grouped') : '';
      const text = isSecure(contract) ? phrases.noInput : phrases.missing(said, digits ? reading.missing : undefined);
      return missed({ ...state, parts }, text, 'not-understood');
    }
    case 'impossible':
      return missed({ ...state, parts: [] }, impossibleText(state, reading.why), 'not-understood');
  }
}

/** Chooses one of several values: by a clearer answer, an ordinal or a number. */
function choose(state: ContractState, answer: readonly AnswerPart[]): ContractStep {
  const { contract, context, candidates } = state;
  const reading = readParts(contract, context, answer);
  const text = spokenIn(answer);
  const ordinal = /\b(?:first|former)\b|पहला|पहली|पहले/iu.test(text)
    ? 1
    : /\b(?:second|latter)\b|दूसरा|दूसरी/iu.test(text)
      ? 2
      : undefined;
  // "The second" alone is one of the two, not a day of the month.
  const alone = ordinal !== undefined && wordsIn(text, context.language).length === 1;
  if (reading.status === 'complete' && !alone) return propose(state, reading.value);
  const number = readParts({ kind: 'digits', length: 1 }, context, answer);
  const chosen = candidates[(ordinal ?? (number.status === 'complete' ? Number(number.value) : 0)) - 1];
  if (chosen !== undefined) return propose(state, chosen);
  return missed(state, repeated(state), 'not-understood');
}

function confirm(state: ContractState, parts: readonly AnswerPart[]): ContractStep {
  const { contract, context } = state;
  const [candidate = ''] = state.candidates;
  const answer = agreed(parts, state);
  const asks =
    answer !== 'yes' && keyedIn(parts) === '' && asksAgain(wordsIn(spokenIn(parts), context.language), context.language);
  if (asks && contract.kind === 'name') return missed(state, repeated(state), 'not-understood');
  const reading = readParts(contract, context, contract.kind === 'name' ? besides(parts, context) : parts);
  const said = reading.status === 'complete' ? reading.value : undefined;
  if (said !== undefined && said !== candidate) return propose(denied(state, candidate), said);
  // The same value said once more is a yes, unless a no came with it.
  if (answer === 'yes' || (said === candidate && answer === undefined)) return accept(state, candidate);
  const better = corrected(contract, candidate, spokenIn(parts), context);
  if (better !== undefined) return propose(denied(state, candidate), better);
  if (asks) return missed(state, repeated(state), 'not-understood');
  if (answer !== 'no') return missed(state, contractPhrases(context.language).yesOrNo, 'not-understood');
  if (state.readBacks >= MOST_READ_BACKS) return giveUp(state, 'too-many-corrections');
  const next: ContractState = { ...denied(state, candidate), stage: 'collecting', parts: [], candidates: [], misses: 0 };
  return ask(next, againText(next));
}

/** Removes yes and no from an answer, for names, which any word could be. */
function besides(parts: readonly AnswerPart[], context: AnswerContext): readonly AnswerPart[] {
  return parts.map((part) => (part.by === 'voice' ? { ...part, text: besidesAgreement(part.text, context) } : part));
}

function agreed(parts: readonly AnswerPart[], state: ContractState): 'yes' | 'no' | undefined {
  const keys = keyedIn(parts);
  if (keys === '') return agreement(spokenIn(parts), state.context);
  return keys === '1' || keys === '1#' ? 'yes' : keys === '2' || keys === '2#' ? 'no' : undefined;
}

function denied(state: ContractState, value: string): ContractState {
  return state.rejected.includes(value) ? state : { ...state, rejected: [...state.rejected, value] };
}

/** Reads a value back, or accepts it when its kind has no read-back. */
function propose(state: ContractState, value: string): ContractStep {
  if (!isReadBack(state.contract)) return accept(state, value);
  if (state.readBacks >= MOST_READ_BACKS) return giveUp(state, 'too-many-corrections');
  const next: ContractState = {
    ...state,
    stage: 'confirming',
    parts: [],
    candidates: [value],
    readBacks: state.readBacks + 1,
    misses: 0,
  };
  return ask(next, readBackText(next));
}

function accept(state: ContractState, value: string): ContractStep {
  const done: ContractOutcome = { status: 'accepted', value, readBacks: state.readBacks };
  // Only the outcome has the value: the state must not keep a secure one.
  const ended: ContractState = { ...state, stage: 'done', parts: [], candidates: [], rejected: [] };
  return { state: ended, say: '', expect: state.contract, done };
}

function giveUp(state: ContractState, reason: 'no-input' | 'not-understood' | 'too-many-corrections'): ContractStep {
  const ended: ContractState = { ...state, stage: 'done', parts: [], candidates: [], rejected: [] };
  return { state: ended, say: '', expect: state.contract, done: { status: 'given-up', reason } };
}

function ask(state: ContractState, say: string): ContractStep {
  return { state, say, expect: state.stage === 'confirming' ? YES_NO : missing(state) };
}

/** Digits that were said are not said again, so that the call need not wait for as many as the whole has. */
function missing({ contract, context, parts }: ContractState): AnswerContract {
  if (parts.length === 0 || (contract.kind !== 'digits' && contract.kind !== 'phone')) return contract;
  const reading = readParts(contract, context, parts);
  if (reading.status !== 'incomplete' || reading.missing === undefined) return contract;
  return { kind: 'digits', length: reading.missing };
}

function missed(state: ContractState, say: string, reason: 'no-input' | 'not-understood'): ContractStep {
  const misses = state.misses + 1;
  return misses > MOST_MISSES ? giveUp(state, reason) : ask({ ...state, misses }, say);
}

/** The repeated question after a silence. */
function repeated(state: ContractState): string {
  const { contract, context, candidates } = state;
  const phrases = contractPhrases(context.language);
  switch (state.stage) {
    case 'confirming':
      return readBackText(state);
    case 'choosing':
      return phrases.which(candidates.map((value) => sayAnswer(contract, value, context, 'grouped')));
    case 'collecting':
    case 'done':
      return phrases.noInput;
  }
}

function readBackText({ contract, context, candidates, readBacks, rejected }: ContractState): string {
  const [value = ''] = candidates;
  // The same value again after a no: sign by sign shows where it is wrong.
  const times = rejected.includes(value) ? 2 : Math.min(readBacks - 1, 2);
  const levels: readonly ReadBackLevel[] = ['whole', 'grouped', 'spelled'];
  const phrase = contractPhrases(context.language).confirm[times as 0 | 1 | 2];
  return phrase.replace('{value}', () => sayAnswer(contract, value, context, levels[times]));
}

function againText({ contract, context, rejected }: ContractState): string {
  const phrases = contractPhrases(context.language);
  const typed = mostKeys(contract) !== undefined && givenAgain(contract) === 'digits';
  return typed && rejected.length >= DENIED_FOR_KEYS ? phrases.againByKeys : phrases.again[givenAgain(contract)];
}

function impossibleText({ context }: ContractState, why: Impossible): string {
  const phrases = contractPhrases(context.language);
  switch (why) {
    case 'too-long':
      return phrases.tooLong;
    case 'check-digit':
      return phrases.wrongCheck;
    case 'no-such-value':
      return phrases.noSuchValue;
    case 'keypad-only':
      return phrases.keypadOnly;
    case 'not-agreed':
      return phrases.notUnderstood;
  }
}
