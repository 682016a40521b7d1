/** When a caller's turn ends: pure rules over times in milliseconds on one monotonic clock. */

export interface EndpointingSettings {
  /** Silence after the last voiced frame that ends the turn. */
  readonly endpointingMs: number;
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
}

/** Why a turn should be committed now, or undefined to go on listening. */
export function commitReason(
  settings: EndpointingSettings,
  spoken: SpokenSoFar,
  nowMs: number,
): 'silence' | 'stable-words' | 'too-long' | undefined {
  if (nowMs - spoken.lastVoicedMs >= settings.endpointingMs) return 'silence';
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

/** The 95th percentile of a short list (nearest rank), or undefined when it is empty. */
export function percentile95(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.95) - 1];
}
