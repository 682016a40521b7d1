import { optOutSettings } from './control/refusals.ts';
import type { CallIdentity } from './log/call-record.ts';
import { resumedTurn } from './resume/resumed-call.ts';
import type { CallServices, CallTiming } from './services.ts';
import { TurnLoop } from './turn/turn.ts';
import type { TurnEffect } from './turn/turn-state.ts';

/** Quiet after which the model is asked: a pause that is not within a word, with time left for the answer. */
const ASK_MODEL_MS = 180;

/** The turn loop of a call, from its beginning or from where a dead process left it. */
export function callTurns(
  identity: CallIdentity,
  { machine, clock, endOfTurn }: Pick<CallServices, 'machine' | 'clock' | 'endOfTurn'>,
  timing: CallTiming,
  carryOut: (effect: TurnEffect) => void,
): TurnLoop {
  const { bot, resumed } = identity;
  const settings = machine.settingsOf(bot);
  const farewell = { ...settings.farewell, hangupAfterMarkMs: timing.hangupAfterMarkMs };
  const endpointing = { ...settings.endpointing, askModelMs: endOfTurn && ASK_MODEL_MS };
  const ours = { endpointing, stalledMs: timing.stalledMs, farewell, optOut: optOutSettings(identity) };
  return new TurnLoop(machine, { ...settings, ...ours }, carryOut, resumed && resumedTurn(resumed, clock.nowMs()));
}
