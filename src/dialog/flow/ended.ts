import type { AudibleAction, DialogAction } from '../port.ts';
import { tokenise } from '../../language/index.ts';
import { type Command, commandOfKeys, findCommand } from './commands.ts';
import type { FlowContext, FlowInput, FlowState, FlowStep } from './flow-state.ts';
import type { Flow } from './schema.ts';
import { plainWords } from './plain-words.ts';
import { walk } from './walk.ts';

/** So often the last words are said again to a caller who talks over them. */
const MOST_ENDINGS = 3;

/** What a flow does at its end besides speaking: keys that it presses, and whom the caller is given to, or the hang-up. */
export function endingOf(actions: readonly DialogAction[]): readonly DialogAction[] {
  return actions.filter(({ type }) => type === 'digits' || type === 'hangup' || type === 'transfer' || type === 'bot');
}

/**
 * A caller who talks over the last words, or answers them, takes back the end with them. So the flow comes to the same end again:
 * it says what was not heard to its end, all of it to a caller who asks for that, and nothing to one who says goodbye. A
 * command that leads somewhere is obeyed where the call was to be hung up. Who goes on and on is told no more.
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

/** What is said or keyed in an answer that is understood anywhere. */
export function commandIn(flow: Flow, { language }: FlowState, input: FlowInput): Command | undefined {
  if (input.kind === 'spoken') return findCommand(flow, language, tokenise(input.text))?.value;
  return input.kind === 'keyed' ? commandOfKeys(flow, language, input.digits) : undefined;
}

/** A sound without words is not waited for. */
function wasHeard({ text = '' }: AudibleAction, heard: string): boolean {
  return ` ${plainWords(heard)} `.includes(plainWords(text) === '' ? '' : ` ${plainWords(text)} `);
}
