import { ask } from './asking.ts';
import { turnMayBeComplete, turnMayEnd } from './endpointing.ts';
import { lineBack } from './farewell.ts';
import type { TurnSettings } from './turn-settings.ts';
import { type In, NO_EFFECTS, type Phase, type Step, type TurnEvent, quietly } from './turn-state.ts';
import { callerSpeaks, isOnset, withPauseLearned } from './voice.ts';

type Frame = TurnEvent & { readonly type: 'frame' };

/** Silence: a voice takes the floor, and a long pause is reported to the dialog. */
export function callerBegins(settings: TurnSettings, state: In<'listening'>, { frame }: Frame): Step {
  if (isOnset(settings.voice, state.voice)) return callerSpeaks(state, frame.atMs, false);
  return noInputDue(settings, state, frame.atMs);
}

/** The expected caller stays silent. */
export function noInputDue(settings: TurnSettings, state: In<'listening'>, atMs: number): Step {
  if (state.bot.muted || state.consulting) return quietly(state);
  const { noInputMs = settings.noInputMs } = state.dialog.expectation;
  if (atMs - state.phase.sinceMs < noInputMs) return quietly(state);
  const attempt = state.caller.noInputs + 1;
  if (attempt > settings.noInputAttempts && state.dialog.expectation.waits !== true)
    return { state, effects: [{ type: 'give-up', reason: 'no-input' }] };
  return ask(state, { kind: 'no-input', attempt }, atMs, false);
}

/** The dialog tells the silent caller what it promised before. */
export function dialogDue(
  _settings: TurnSettings,
  state: In<'listening'>,
  event: TurnEvent & { readonly type: 'dialog-due' },
): Step {
  if (state.bot.muted || state.consulting) return quietly(state);
  return ask(state, { kind: 'tool-result', tool: event.tool }, event.atMs, false);
}

/** The line was away: the silence before its return does not count. */
export function waitAnew(
  settings: TurnSettings,
  state: In<'listening'>,
  { atMs }: TurnEvent & { readonly type: 'reattached' },
): Step {
  const { state: back } = lineBack(settings, state);
  return quietly({ ...back, phase: { ...state.phase, sinceMs: atMs } });
}

/** One more frame of the speaking caller. */
export function callerSpeaksOn(settings: TurnSettings, state: In<'caller-speaking'>, { frame }: Frame): Step {
  const { pauseMs, burst } = state.voice;
  const goesOn = pauseMs !== undefined && burst.evidenceMs >= settings.voice.goingOnMs;
  return turnMayEnd(settings, goesOn ? withPauseLearned(state) : state, frame.atMs, frame.cameMs);
}

/** The caller goes on after the commit: the turn was not over. */
export function callerGoesOn(settings: TurnSettings, state: In<'settling'>, { frame }: Frame): Step {
  const { phase, voice } = state;
  const goesOn = isOnset(settings.voice, voice) && voice.burstSinceMs !== undefined && voice.burstSinceMs >= phase.committedAtMs;
  if (!goesOn) return turnMayBeComplete(settings, state, frame.atMs, frame.cameMs);
  const speaking: Phase = {
    name: 'caller-speaking',
    sinceMs: voice.burstSinceMs,
    voicedMs: phase.voicedMs,
    evidenceMs: voice.burst.evidenceMs,
    interrupted: phase.interrupted,
  };
  return {
    state: { ...withPauseLearned(state), phase: speaking },
    effects: phase.fillerSaid ? [{ type: 'cancel-reply', takesBack: false, atMs: frame.atMs }] : NO_EFFECTS,
  };
}
