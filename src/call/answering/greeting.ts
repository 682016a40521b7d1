import type { AnswerState } from './classifier.ts';
import { endMs, lengthMs, quietMs } from './hearing.ts';

export interface GreetingTimes {
  /** Latest greeting, after the other side's first sound, where the kind of answer is still unknown. */
  readonly decideWithinMs: number;
  /** Silence after the last ring until the bot speaks first. */
  readonly speakFirstMs: number;
}

/** Quiet required before the greeting while the kind of answer is unknown, so that it talks over no person. */
const UNSURE_QUIET_MS = 520;
/** Longest wait in a room that never falls silent. */
const MOST_WAIT_MS = 8_000;

/** Whether the bot should greet now. */
export function greetingIsDue(state: AnswerState, { decideWithinMs, speakFirstMs }: GreetingTimes): boolean {
  const { opinion, hearing } = state;
  const { atMs } = hearing;
  if (opinion?.by === 'silence') return atMs - hearing.ringingUntilMs >= speakFirstMs;
  const quiet = quietMs(hearing) ?? 0;
  if (opinion?.by === 'person') return quiet >= (hearing.run === undefined ? 0 : endMs(lengthMs(hearing.run)));
  if (opinion !== undefined) return false;
  const sinceMs = hearing.firstRunMs;
  if (sinceMs === undefined) return false;
  if (atMs - sinceMs >= MOST_WAIT_MS) return true;
  return atMs - sinceMs >= decideWithinMs && quiet >= UNSURE_QUIET_MS;
}
