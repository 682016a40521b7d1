import { optOutSettings } from './control/refusals.ts';
import type { CallIdentity } from './log/call-record.ts';
import { resumedTurn } from './resume/resumed-call.ts';
import type { CallServices, CallTiming } from './services.ts';
import { TurnLoop } from './turn/turn.ts';
import type { TurnEffect } from './turn/turn-state.ts';

/** The turn loop of a call, from its beginning or from where a dead process left it. */
export function callTurns(
  identity: CallIdentity,
  { machine, clock }: Pick<CallServices, 'machine' | 'clock'>,
  timing: CallTiming,
  carryOut: (effect: TurnEffect) => void,
): TurnLoop {
  const { bot, resumed } = identity;
  const settings = machine.settingsOf(bot);
  const farewell = { ...settings.farewell, hangupAfterMarkMs: timing.hangupAfterMarkMs };
  const ours = { stalledMs: timing.stalledMs, farewell, optOut: optOutSettings(identity) };
  return new TurnLoop(machine, { ...settings, ...ours }, carryOut, resumed && resumedTurn(resumed, clock.nowMs()));
}
