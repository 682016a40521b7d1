import type { InterruptionSettings } from './turn-settings.ts';

/** What may interrupt a sentence of the bot: voice and keys, keys alone, or nothing. */
export type Interruptible = 'always' | 'keypad' | 'never';

/** Evidence of speech so far. */
export interface Evidence {
  readonly evidenceMs: number;
  /** The part from frames without pitch. */
  readonly unpitchedMs: number;
}

export const NO_EVIDENCE: Evidence = { evidenceMs: 0, unpitchedMs: 0 };

/** A contested floor. */
export interface Contest extends Evidence {
  readonly sinceMs: number;
  readonly lastVoicedMs: number;
}

export interface VoiceFrame {
  /** End of the frame, as far as known; see `inbound/timestamps.ts`. */
  readonly atMs: number;
  /** Arrival: later than that, on a late line. */
  readonly cameMs?: number;
  readonly voiced: boolean;
  /** 0 (noise) to 1 (pitched, like a vowel). */
  readonly speechLike: number;
}

/** Length of one frame of the line. */
export const FRAME_MS = 20;
/** Likeness to a vowel, 0 to 1, from which a frame has a pitch. */
const PITCHED = 0.5;

export function isPitched({ voiced, speechLike }: VoiceFrame): boolean {
  return voiced && speechLike >= PITCHED;
}

/** Up to here a frame has no pitch; noise often reaches it by chance. */
const TONELESS = 0.25;
/** Pitch after which an unpitched frame is a consonant with full weight: a cough starts unpitched. */
const VOWEL_MS = 40;

/** Adds the evidence of one 20 ms frame. */
export function addEvidence(settings: InterruptionSettings, before: Evidence, frame: VoiceFrame): Evidence {
  const { evidenceMs, unpitchedMs } = before;
  if (!frame.voiced) return { evidenceMs, unpitchedMs };
  if (isPitched(frame)) return { evidenceMs: evidenceMs + FRAME_MS, unpitchedMs };
  const worthMs = Math.max(
    0,
    Math.min(FRAME_MS * unpitchedWeight(settings, before, frame), settings.mostUnpitchedMs - unpitchedMs),
  );
  return { evidenceMs: evidenceMs + worthMs, unpitchedMs: unpitchedMs + worthMs };
}

function unpitchedWeight(settings: InterruptionSettings, before: Evidence, { speechLike }: VoiceFrame): number {
  if (before.evidenceMs - before.unpitchedMs >= VOWEL_MS) return 1;
  const nearly = Math.max(0, (speechLike - TONELESS) / (PITCHED - TONELESS));
  return settings.unpitchedWeight + (1 - settings.unpitchedWeight) * nearly;
}

/** @param evidence of the running burst, this frame included */
export function openContest(frame: VoiceFrame, evidence: Evidence): Contest {
  return { sinceMs: frame.atMs, ...evidence, lastVoicedMs: frame.atMs };
}

/** Adds a frame to a contest and returns the winner, if decided. */
export function stepContest(
  settings: InterruptionSettings,
  contest: Contest,
  frame: VoiceFrame,
): { contest: Contest; verdict: 'open' | 'clear' | 'resume' } {
  const next: Contest = {
    sinceMs: contest.sinceMs,
    ...addEvidence(settings, contest, frame),
    lastVoicedMs: frame.voiced ? frame.atMs : contest.lastVoicedMs,
  };
  if (next.evidenceMs >= settings.clearAfterMs) return { contest: next, verdict: 'clear' };
  const quietMs = frame.atMs - next.lastVoicedMs;
  if (quietMs >= settings.resumeAfterQuietMs) return { contest: next, verdict: 'resume' };
  const hissMs = next.evidenceMs > next.unpitchedMs ? 0 : frame.atMs - next.sinceMs;
  if (hissMs >= settings.hissForMs) return { contest: next, verdict: 'resume' };
  if (frame.atMs - next.sinceMs >= settings.decideWithinMs) return { contest: next, verdict: 'resume' };
  return { contest: next, verdict: 'open' };
}

/** Whether this kind of input may interrupt under the utterance's policy. */
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
