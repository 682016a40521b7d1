import type { LineSettings } from './turn-settings.ts';
import { isDecision, type Line, type Step, type TurnEvent } from './turn-state.ts';

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
