import type { Interruptible } from '../dialog/port.ts';

/**
 * Who keeps the floor when the caller makes a sound while the bot speaks. In two steps: a *hold* stops feeding the
 * carrier and costs nothing if it was a cough; a *clear* takes back what is queued and gives the caller the floor.
 */
export interface InterruptionSettings {
  /** Voiced time in the recent window that starts a contest (hold). */
  readonly holdAfterMs: number;
  /** Evidence of speech that decides the contest for the caller (clear). */
  readonly clearAfterMs: number;
  /** How much a frame counts that is loud but has no pitch, against one that has: a cough is mostly such frames. */
  readonly unpitchedWeight: number;
  /** Quiet inside a contest that decides it for the bot (resume). */
  readonly resumeAfterQuietMs: number;
  /** A contest never lasts longer; undecided, the bot goes on. */
  readonly decideWithinMs: number;
  /** Time from the caller's first sound in which words may still turn what sound decided. */
  readonly reverseWithinMs: number;
  /** Words that stop the bot however they sound, in plain words. */
  readonly stopPhrases: readonly string[];
}

export const DEFAULT_INTERRUPTION: InterruptionSettings = {
  holdAfterMs: 40,
  clearAfterMs: 120,
  unpitchedWeight: 0.25,
  resumeAfterQuietMs: 160,
  decideWithinMs: 500,
  reverseWithinMs: 1_500,
  stopPhrases: [],
};

/** An open question of who has the floor. */
export interface Contest {
  readonly sinceMs: number;
  readonly evidenceMs: number;
  readonly lastVoicedMs: number;
}

export interface VoiceFrame {
  readonly atMs: number;
  readonly voiced: boolean;
  /** 0 (noise) to 1 (pitched, like a vowel). */
  readonly speechLike: number;
}

const FRAME_MS = 20;
const PITCHED = 0.5;

/** How many milliseconds of evidence for speech one 20 ms frame is worth. */
export function frameEvidenceMs(settings: InterruptionSettings, frame: VoiceFrame): number {
  if (!frame.voiced) return 0;
  return frame.speechLike >= PITCHED ? FRAME_MS : FRAME_MS * settings.unpitchedWeight;
}

export function openContest(settings: InterruptionSettings, frame: VoiceFrame, evidenceBeforeMs: number): Contest {
  return { sinceMs: frame.atMs, evidenceMs: evidenceBeforeMs + frameEvidenceMs(settings, frame), lastVoicedMs: frame.atMs };
}

/** Adds a frame to a contest and says who has won it, if anyone has. */
export function stepContest(
  settings: InterruptionSettings,
  contest: Contest,
  frame: VoiceFrame,
): { contest: Contest; verdict: 'open' | 'clear' | 'resume' } {
  const next: Contest = {
    sinceMs: contest.sinceMs,
    evidenceMs: contest.evidenceMs + frameEvidenceMs(settings, frame),
    lastVoicedMs: frame.voiced ? frame.atMs : contest.lastVoicedMs,
  };
  if (next.evidenceMs >= settings.clearAfterMs) return { contest: next, verdict: 'clear' };
  const quietMs = frame.atMs - next.lastVoicedMs;
  if (quietMs >= settings.resumeAfterQuietMs) return { contest: next, verdict: 'resume' };
  if (frame.atMs - next.sinceMs >= settings.decideWithinMs) return { contest: next, verdict: 'resume' };
  return { contest: next, verdict: 'open' };
}

/** Whether this kind of input may take the floor under the utterance's policy. */
export function mayInterrupt(policy: Interruptible, by: 'voice' | 'key'): boolean {
  switch (policy) {
    case 'always':
      return true;
    case 'keypad':
      return by === 'key';
    case 'never':
      return false;
  }
}
