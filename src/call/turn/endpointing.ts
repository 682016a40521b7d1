import { isSentence, isUnfinished } from './unfinished.ts';

/** When a caller's turn ends: pure rules over times in milliseconds on one monotonic clock. */

export interface EndpointingSettings {
  /** Silence after the last voiced frame that ends the turn. */
  readonly endpointingMs: number;
  /** How much longer than that a caller who pauses long, or is in the middle of a sentence, is waited for at most. */
  readonly patienceMs: number;
  /** Share of the silence that is enough after words that end as a sentence does and stand still. */
  readonly sentenceShare: number;
  /** A turn longer than this is committed although the caller still speaks. */
  readonly maxTurnMs: number;
  /** Words that have not changed for this long end the turn although the line never falls silent (noise). */
  readonly stableWordsMs: number;
  /** Shortest and longest wait for a final after the commit, before the partial is taken as provisional. */
  readonly settleFloorMs: number;
  readonly settleCapMs: number;
  /** With neither final nor partial after this long the turn counts as not understood. */
  readonly settleAbandonMs: number;
}

export const DEFAULT_ENDPOINTING: EndpointingSettings = {
  endpointingMs: 640,
  patienceMs: 600,
  sentenceShare: 0.75,
  maxTurnMs: 30_000,
  stableWordsMs: 2_500,
  settleFloorMs: 400,
  settleCapMs: 1_500,
  settleAbandonMs: 5_000,
};

export interface SpokenSoFar {
  readonly startedMs: number;
  readonly lastVoicedMs: number;
  /** When the recognised words last changed; undefined while there are none. */
  readonly wordsChangedMs: number | undefined;
  /** The words so far; asked for only when they can matter. */
  readonly text: () => string;
  /** The silence that ends the value which was asked for, as far as it has been said; undefined where it says nothing of that. */
  readonly valueMs: number | undefined;
  /** Pauses of this caller inside earlier turns and this one, newest last. */
  readonly pauses: readonly number[];
}

/** Words that have not changed for this long are taken for what was said. */
const STILL_MS = 200;
/** From this many pauses on they tell of the caller. */
const TELLING_PAUSES = 3;
const PAUSE_MARGIN = 1.15;
/**
 * The frame that completes a silence may come this much early, or the last voiced one late, and completes it all the same: else
 * half of all turns would wait for the next one, 20 ms.
 */
const EARLY_MS = 8;

/** How long a silence must last to end this turn. */
function silenceThatEnds(settings: EndpointingSettings, spoken: SpokenSoFar, nowMs: number): number {
  const { endpointingMs, patienceMs, sentenceShare } = settings;
  const longest = spoken.pauses.length < TELLING_PAUSES ? 0 : (percentile(spoken.pauses, 0.9) ?? 0) * PAUSE_MARGIN;
  const learned = Math.min(endpointingMs + patienceMs, Math.max(endpointingMs, longest));
  if (spoken.wordsChangedMs === undefined) return learned;
  const text = spoken.text();
  if (isUnfinished(text)) return Math.max(learned, endpointingMs + patienceMs);
  const still = nowMs - spoken.wordsChangedMs >= STILL_MS;
  return still && isSentence(text) && learned === endpointingMs ? endpointingMs * sentenceShare : learned;
}

/** Why a turn should be committed now, or undefined to go on listening. */
export function commitReason(
  settings: EndpointingSettings,
  spoken: SpokenSoFar,
  nowMs: number,
): 'silence' | 'stable-words' | 'too-long' | undefined {
  const quietMs = nowMs - spoken.lastVoicedMs + EARLY_MS;
  const mayEnd = quietMs >= (spoken.valueMs ?? settings.endpointingMs * settings.sentenceShare);
  if (mayEnd && (spoken.valueMs !== undefined || quietMs >= silenceThatEnds(settings, spoken, nowMs))) return 'silence';
  if (nowMs - spoken.startedMs >= settings.maxTurnMs) return 'too-long';
  if (spoken.wordsChangedMs !== undefined && nowMs - spoken.wordsChangedMs >= settings.stableWordsMs) return 'stable-words';
  return undefined;
}

/**
 * How long to wait for a final after a commit: 1.5 times this session's 95th percentile so far, within the bounds.
 * @param settlingP95Ms undefined before the first final of the session
 */
export function settleLimitMs(settings: EndpointingSettings, settlingP95Ms: number | undefined): number {
  const wanted = settlingP95Ms === undefined ? settings.settleCapMs : 1.5 * settlingP95Ms;
  return Math.min(settings.settleCapMs, Math.max(settings.settleFloorMs, wanted));
}

/** A percentile of a short list (nearest rank), or undefined when it is empty. @param share 0 to 1 */
export function percentile(values: readonly number[], share: number): number | undefined {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}
