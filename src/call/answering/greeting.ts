import type { AnswerState } from './classifier.ts';
import { lengthMs, quietMs } from './hearing.ts';

export interface GreetingTimes {
  /** Latest greeting where nobody knows who answered, after the first sound of whoever did. */
  readonly decideWithinMs: number;
  /** Where nobody says anything the bot speaks first after so long, counted from the last ring. */
  readonly speakFirstMs: number;
}

/** Nobody is talked over: so quiet the line must be where a person is likely, longer after longer speech, which may go on; … */
const QUIET_MS = { afterWord: 320, afterGreeting: 420, afterSentence: 520 };
/** … and where it is not known. */
const UNSURE_QUIET_MS = 450;
/** A room that never falls silent is greeted all the same. */
const MOST_WAIT_MS = 8_000;

/** Whether the bot should greet now. */
export function greetingIsDue(state: AnswerState, { decideWithinMs, speakFirstMs }: GreetingTimes): boolean {
  const { opinion, hearing } = state;
  const { atMs } = hearing;
  if (opinion?.by === 'silence') return atMs - hearing.ringingUntilMs >= speakFirstMs;
  const quiet = quietMs(hearing) ?? 0;
  if (opinion?.by === 'person') return quiet >= quietAfter(hearing.run === undefined ? 0 : lengthMs(hearing.run));
  if (opinion !== undefined) return false;
  const sinceMs = hearing.firstRunMs;
  if (sinceMs === undefined) return false;
  if (atMs - sinceMs >= MOST_WAIT_MS) return true;
  return atMs - sinceMs >= decideWithinMs && quiet >= UNSURE_QUIET_MS;
}

function quietAfter(saidMs: number): number {
  if (saidMs < 1_000) return QUIET_MS.afterWord;
  return saidMs < 1_800 ? QUIET_MS.afterGreeting : QUIET_MS.afterSentence;
}
