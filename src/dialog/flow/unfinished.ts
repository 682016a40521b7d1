import { readAnswer } from '../../language/index.ts';
import type { DialogAction } from '../port.ts';
import type { FlowContext, FlowInput, FlowState } from './flow-state.ts';
import { plainWords } from './plain-words.ts';
import { contractOfQuestion } from './slot-contract.ts';
import type { Flow } from './schema.ts';

type Answer = Extract<FlowInput, { kind: 'spoken' | 'keyed' }>;

/** A part of a value, and what the caller was told of it. */
export interface Unfinished {
  readonly input: Answer;
  readonly told: string;
}

/** What is kept of an answer that says a part of the value which was asked for; undefined where it does not. */
export function unfinished(
  flow: Flow,
  { at, language }: FlowState,
  input: Answer,
  actions: readonly DialogAction[],
  { today }: FlowContext,
): Unfinished | undefined {
  const slot = flow.slots[flow.states[at]?.ask?.slot ?? ''];
  const contract = slot === undefined ? undefined : contractOfQuestion(slot);
  if (contract === undefined) return undefined;
  const [text, keys] = input.kind === 'spoken' ? [input.text, input.keys ?? ''] : ['', input.digits];
  const reading = readAnswer(contract, { language, today }, text, keys);
  const told = actions.flatMap((action) => (action.type === 'say' ? [action.text] : [])).join(' ');
  return reading.status === 'incomplete' && reading.begun ? { input, told } : undefined;
}

/**
 * The whole answer of a caller who paused in the middle of it and went on over the bot's "sorry". One who has heard that out begins
 * anew.
 * @param heard what the bot has said so far, as it was heard
 */
export function goneOn({ input: before, told }: Unfinished, input: Answer, heard: string): Answer | undefined {
  if (plainWords(heard).endsWith(plainWords(told))) return undefined;
  // From the beginning again
  if (before.kind === 'spoken' && input.kind === 'spoken' && plainWords(input.text).startsWith(plainWords(before.text)))
    return undefined;
  if (before.kind === 'keyed') return input.kind === 'keyed' ? { ...input, digits: before.digits + input.digits } : undefined;
  const keys = before.keys ?? '';
  if (input.kind === 'keyed') return { ...before, keys: keys + input.digits };
  return keys === '' ? { ...input, text: `${before.text} ${input.text}` } : undefined;
}
