import type { TransferOutcome } from '../port.ts';
import { commandIn } from './after-end.ts';
import { builtInWords } from './built-in-words.ts';
import type { FlowContext, FlowInput, FlowState, FlowStep } from './flow-state.ts';
import type { Flow } from './schema.ts';
import { endPolitely, walk } from './walk.ts';

/** Goes where the transfer's state says for this outcome; silently where it does not, and the caller hears the apology. */
export function afterTransfer(flow: Flow, state: FlowState, outcome: TransferOutcome, context: FlowContext): FlowStep {
  const failed = flow.states[state.at]?.transfer?.failed;
  const target = typeof failed === 'string' ? failed : (failed?.[outcome] ?? failed?.['otherwise']);
  if (outcome === 'answered' || target === undefined) return { state, actions: [] };
  return walk(flow, { ...state, ending: [] }, target, context);
}

/** The caller talks while an agent is rung: a key of the queue, or a command with a destination, cancels the transfer; otherwise the wait goes on. */
export function whileConsulting(flow: Flow, state: FlowState, input: FlowInput, context: FlowContext): FlowStep {
  const leave = flow.states[state.at]?.transfer?.warm?.queue?.leave ?? {};
  const away = input.kind === 'keyed' && Object.hasOwn(leave, input.digits) ? leave[input.digits] : undefined;
  const command = away === undefined ? commandIn(flow, state, input) : undefined;
  const target = away ?? command?.go;
  const cancel = { type: 'cancel-transfer' } as const;
  if (target !== undefined) {
    const { state: next, actions } = walk(flow, { ...state, ending: [] }, target, context);
    return { state: next, actions: [cancel, ...actions] };
  }
  if (command?.name === 'goodbye' || command?.name === 'stop') {
    const ended = endPolitely(state, 'caller-said-goodbye');
    return { state: ended.state, actions: [cancel, ...ended.actions] };
  }
  return { state, actions: [{ type: 'say', text: builtInWords(state.language).moment }] };
}
