import type { AudibleAction, DialogAction } from '../port.ts';
import { tokenise } from '../../language/index.ts';
import { type Command, commandOfKeys, findCommand } from './commands.ts';
import type { FlowContext, FlowInput, FlowState, FlowStep } from './flow-state.ts';
import type { Flow } from './schema.ts';
import { plainWords } from './partial-answer.ts';
import { walk } from './walk.ts';

/** Most repetitions of the last words for a caller who talks over them. */
const MOST_ENDINGS = 3;

/** The actions of a flow's end besides speaking: keys, and the transfer, the other bot or the hang-up. */
export function endingOf(actions: readonly DialogAction[]): readonly DialogAction[] {
  return actions.filter(({ type }) => type === 'digits' || type === 'hangup' || type === 'transfer' || type === 'bot');
}

/**
 * The answer to a caller who talks over the last words, and so cancelled the end. The flow ends the same way again: it repeats unheard sentences (all
 * of them after `repeat`, none after `goodbye`). A command with a `go` is obeyed before a hang-up. Repetitions are limited.
 */
export function afterEnd(flow: Flow, state: FlowState, input: FlowInput, context: FlowContext): FlowStep {
  const { said, ending } = state;
  const end = ending.filter(({ type }) => type !== 'digits');
  const command = commandIn(flow, state, input);
  if (command?.name === 'goodbye') return { state, actions: end };
  if (command?.name === 'repeat') return { state, actions: [...said, ...end] };
  const leaves = end.every(({ type }) => type === 'hangup');
  if (command?.go !== undefined && leaves) return walk(flow, state, command.go, context);
  const from = said.findIndex((action) => !wasHeard(action, context.heard ?? ''));
  if (from < 0 || state.misses >= MOST_ENDINGS) return { state, actions: end };
  return { state: { ...state, misses: state.misses + 1 }, actions: [...said.slice(from), ...ending] };
}

/** The command in an answer, spoken or keyed. */
export function commandIn(flow: Flow, { language }: FlowState, input: FlowInput): Command | undefined {
  if (input.kind === 'spoken') return findCommand(flow, language, tokenise(input.text))?.value;
  return input.kind === 'keyed' ? commandOfKeys(flow, language, input.digits) : undefined;
}

/** A sound without a text counts as heard. */
function wasHeard({ text = '' }: AudibleAction, heard: string): boolean {
  return ` ${plainWords(heard)} `.includes(plainWords(text) === '' ? '' : ` ${plainWords(text)} `);
}
