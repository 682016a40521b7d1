import { findChoice } from '../understand/choice.ts';
import { digitRuns } from '../understand/digits.ts';
import { tokenise } from '../understand/tokens.ts';
import { findYesNo } from '../understand/yes-no.ts';
import type { ContractOf } from './contract.ts';
import { keyedDigits, spokenIn, keyedIn, wordsIn } from './parts.ts';
import {
  type AnswerContext,
  type AnswerPart,
  type AnswerReading,
  complete,
  impossible,
  incomplete,
  NOTHING_READ,
} from './reading.ts';

/** `yes` is key 1, `no` is key 2. */
export function readYesNo(parts: readonly AnswerPart[], context: AnswerContext): AnswerReading {
  const keyed = keyedDigits(keyedIn(parts));
  if (keyed === '1' || keyed === '2') return complete(keyed === '1' ? 'yes' : 'no');
  if (keyed !== '') return impossible(keyed, 'no-such-value');
  const found = findYesNo(wordsIn(spokenIn(parts), context.language));
  // "No" may become "no problem", and "yes" "yes but".
  return found === undefined ? NOTHING_READ : complete(found.value, 'unlikely');
}

export function readChoice(parts: readonly AnswerPart[], contract: ContractOf<'choice'>, context: AnswerContext): AnswerReading {
  const keyed = keyedDigits(keyedIn(parts));
  if (keyed !== '') return chosenByKey(keyed, contract);
  const tokens = wordsIn(spokenIn(parts), context.language);
  const choices = contract.options.map(({ name, phrases }) => ({ name, phrases: phrases.map(tokenise) }));
  const found = findChoice(tokens, choices);
  if (found !== undefined) return complete(found.value, 'unlikely');
  const named = choices.filter((choice) => findChoice(tokens, [choice]) !== undefined).map(({ name }) => name);
  if (named.length > 1) return { status: 'ambiguous', values: named, more: 'likely' };
  // "Number two", "press two": the key, said instead of pressed.
  const [number, ...others] = digitRuns(tokens);
  if (number === undefined || others.length > 0 || tokens.length > number.value.length + 2) return NOTHING_READ;
  const reading = chosenByKey(number.value, contract);
  return reading.status === 'complete' ? { ...reading, more: 'unlikely' } : NOTHING_READ;
}

function chosenByKey(keyed: string, contract: ContractOf<'choice'>): AnswerReading {
  const option = contract.options.find(({ key }) => key === keyed);
  const longer = contract.options.some(({ key }) => key !== undefined && key !== keyed && key.startsWith(keyed));
  if (option !== undefined) return complete(option.name, longer ? 'likely' : 'no');
  return longer ? incomplete(keyed) : impossible(keyed, 'no-such-value');
}
