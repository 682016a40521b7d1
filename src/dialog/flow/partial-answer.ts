import { readAnswer } from '../../language/index.ts';
import type { DialogAction } from '../port.ts';
import type { FlowContext, FlowState, GivenAnswer, PartialAnswer } from './flow-state.ts';
import { contractOfQuestion } from './read-slot.ts';
import type { Flow } from './schema.ts';

/** An answer with a part of the expected value, and the bot's reply; undefined for any other answer. */
export function partialAnswer(
  flow: Flow,
  { at, language }: FlowState,
  input: GivenAnswer,
  actions: readonly DialogAction[],
  { today }: FlowContext,
): PartialAnswer | undefined {
  const slot = flow.slots[flow.states[at]?.ask?.slot ?? ''];
  const contract = slot === undefined ? undefined : contractOfQuestion(slot);
  if (contract === undefined) return undefined;
  const [text, keys] = input.kind === 'spoken' ? [input.text, input.keys ?? ''] : ['', input.digits];
  const reading = readAnswer(contract, { language, today }, text, keys);
  const reply = actions.flatMap((action) => (action.type === 'say' ? [action.text] : [])).join(' ');
  return reading.status === 'incomplete' && reading.begun ? { input, reply } : undefined;
}

/**
 * Joins the two parts of an answer interrupted by the bot's "sorry".
 * @param heard the bot's words so far, as heard
 * @returns undefined when the reply was heard to its end, or the value was repeated from its beginning
 */
export function continuedAnswer(
  { input: before, reply }: PartialAnswer,
  input: GivenAnswer,
  heard: string,
): GivenAnswer | undefined {
  if (plainWords(heard).endsWith(plainWords(reply))) return undefined;
  if (before.kind === 'spoken' && input.kind === 'spoken' && plainWords(input.text).startsWith(plainWords(before.text)))
    return undefined;
  if (before.kind === 'keyed') return input.kind === 'keyed' ? { ...input, digits: before.digits + input.digits } : undefined;
  const keys = before.keys ?? '';
  if (input.kind === 'keyed') return { ...before, keys: keys + input.digits };
  return keys === '' ? { ...input, text: `${before.text} ${input.text}` } : undefined;
}

/** Lower-case words without punctuation, to compare spoken with written text. */
export function plainWords(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).join(' ');
}
