import { commandIn } from './after-end.ts';
import type { FlowContext, FlowInput, FlowState, FlowStep } from './flow-state.ts';
import type { Flow } from './schema.ts';
import { askForMessage } from './question.ts';
import { endPolitely, nextOf, scopeOf, walk } from './walk.ts';

/**
 * Continues after a message. A recorded one counts even if its words were not understood. A key before the tone skips to it; a silent caller goes
 * where the flow says.
 */
export function afterMessage(flow: Flow, state: FlowState, input: FlowInput, context: FlowContext): FlowStep {
  const here = flow.states[state.at];
  const voicemail = here?.voicemail;
  if (here === undefined || voicemail === undefined) return endPolitely(state, 'flow-lost');
  const words = input.kind === 'spoken' ? input.text.trim() : '';
  if (context.hasMessage === true || words !== '') {
    const slots = voicemail.slot === undefined ? state.slots : { ...state.slots, [voicemail.slot]: words };
    const target = nextOf(here, slots);
    return target === undefined
      ? endPolitely({ ...state, slots }, 'message-left')
      : walk(flow, { ...state, slots }, target, context);
  }
  const command = commandIn(flow, state, input);
  if (command?.go !== undefined) return walk(flow, state, command.go, context);
  if (input.kind === 'keyed') {
    const { says, gather } = askForMessage(voicemail, scopeOf(flow, state, context));
    return { state, actions: [...says.slice(-1), gather] };
  }
  return voicemail.empty === undefined ? endPolitely(state, 'no-message') : walk(flow, state, voicemail.empty, context);
}
