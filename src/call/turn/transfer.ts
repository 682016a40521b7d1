import { ask } from './asking.ts';
import { apologise } from './farewell.ts';
import type { TurnSettings } from './turn-settings.ts';
import { type Step, type TurnEvent, type TurnState, quietly } from './turn-state.ts';

/** Transfers: what follows a failed one, and the time in which an agent is rung. */

type EventOf<Type extends TurnEvent['type']> = TurnEvent & { readonly type: Type };

/** The transfer failed. A dialog that asked for it continues the call; otherwise the caller hears the apology. */
export function transferFailed(settings: TurnSettings, state: TurnState, event: EventOf<'transfer-over'>): Step {
  const { farewell } = state;
  if (farewell.stage !== 'transferring') return quietly(state);
  const stays: TurnState = { ...state, farewell: { stage: 'none' }, line: { ...state.line, lost: undefined } };
  if (farewell.asksDialog) return ask(stays, { kind: 'transfer', ...event.result }, event.atMs, false);
  return apologise(settings, stays, { type: 'apologise', phrase: 'apology', reason: 'transfer-failed' });
}

/** No agent took the call: the dialog continues it. */
export function consultOver(_settings: TurnSettings, state: TurnState, { result, atMs }: EventOf<'transfer-over'>): Step {
  return ask({ ...state, consulting: false }, { kind: 'transfer', ...result }, atMs, false);
}

/** The caller is expected to speak again, unless they already do. */
export function consultCancelled(_settings: TurnSettings, state: TurnState, { atMs }: EventOf<'consult-cancelled'>): Step {
  const { phase } = state;
  return quietly({ ...state, consulting: false, phase: phase.name === 'listening' ? { ...phase, sinceMs: atMs } : phase });
}

/** From here on the caller talks to the agent. A call that is already ending is not connected. */
export function agentAccepted(_settings: TurnSettings, state: TurnState): Step {
  if (!state.consulting || state.farewell.stage !== 'none') return quietly(state);
  return {
    state: { ...state, consulting: false, farewell: { stage: 'transferring', asksDialog: true } },
    effects: [{ type: 'silence' }],
  };
}
