import type { LineSettings, TurnSettings } from './turn-settings.ts';
import { reasonToEnd } from './farewell.ts';
import { isDecision, type Line, quietly, type Step, type TurnEvent, type TurnState } from './turn-state.ts';

/**
 * Whether nothing has come of the line for a little while. Time alone tells nothing then: after a stall of the network, or of
 * this process, a tick comes before the frames that have waited, and would take what nobody has heard yet for silence.
 */
export function isLate(settings: LineSettings, { frame }: Line, nowMs: number): boolean {
  if (frame === undefined) return false;
  const { atMs, cameMs = atMs } = frame;
  return nowMs - atMs > settings.lateAfterMs && nowMs - cameMs < settings.lateUntilMs;
}

/** Frames that come late are dated back, to when they were said, but never to before something that was decided meanwhile. */
export function dated(line: Line, event: TurnEvent): TurnEvent {
  if (event.type !== 'frame' || event.frame.atMs >= line.decidedMs) return event;
  return { type: 'frame', frame: { ...event.frame, atMs: line.decidedMs } };
}

/** When an event was; undefined for one that has no time. */
export function timeOf(event: TurnEvent): number | undefined {
  if (event.type === 'frame') return event.frame.atMs;
  return 'atMs' in event ? event.atMs : undefined;
}

/** A step that decided something has the frames to come dated behind it. */
export function withDecision(step: Step, event: TurnEvent): Step {
  const atMs = timeOf(event);
  const { state, effects } = step;
  if (!effects.some(isDecision) || atMs === undefined || atMs <= state.line.decidedMs) return step;
  return { state: { ...state, line: { ...state.line, decidedMs: atMs } }, effects };
}

/** The carrier's socket is gone; another one may come, as after a redirect or a broken connection. */
export function lineLost(_settings: TurnSettings, state: TurnState, event: TurnEvent & { readonly type: 'line-lost' }): Step {
  const { reason, graceMs, awayMs } = event;
  const ours = reasonToEnd(state);
  if (ours !== undefined && awayMs === 0) return { state, effects: [{ type: 'end-call', reason: ours, atCarrier: false }] };
  const lost = { reason: ours ?? reason, atCarrier: reason === 'carrier-lost' };
  return waitForLine(state, lost, Math.max(graceMs, awayMs));
}

/** The carrier has connected the caller to somebody else: only its stop is still to come, and nothing is ended there. */
export function callerTransferred(
  _settings: TurnSettings,
  state: TurnState,
  { graceMs }: TurnEvent & { readonly type: 'transferred' },
): Step {
  return waitForLine(state, { reason: 'transferred', atCarrier: false }, graceMs);
}

function waitForLine(state: TurnState, lost: NonNullable<Line['lost']>, afterMs: number): Step {
  return {
    state: { ...state, line: { ...state.line, lost } },
    effects: [{ type: 'start-timer', timer: 'line-wait-over', afterMs }],
  };
}

export function lineBack(_settings: TurnSettings, state: TurnState): Step {
  return quietly(state.line.lost === undefined ? state : { ...state, line: { ...state.line, lost: undefined } });
}

export function lineWaitOver(_settings: TurnSettings, state: TurnState): Step {
  const { lost } = state.line;
  return lost === undefined ? quietly(state) : { state, effects: [{ type: 'end-call', ...lost }] };
}
