import type { AnswerState } from './classifier.ts';
import { endMs, lengthMs, quietMs } from './hearing.ts';

export interface GreetingTimes {
  /** Latest greeting where nobody knows who answered, after the first sound of whoever did. */
  readonly decideWithinMs: number;
  /** Where nobody says anything the bot speaks first after so long, counted from the last ring. */
  readonly speakFirstMs: number;
}

/** Nobody is talked over: so quiet the line must be where it is not known who answered. */
const UNSURE_QUIET_MS = 520;
/** A room that never falls silent is greeted all the same. */
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
