/** A limit of a day that the known cost of its calls has reached. */
export interface ReachedSpend {
  readonly of: 'bot' | 'all';
  readonly knownMicros: number;
  readonly mostMicros: number;
}

/** The known cost of a day's calls by bot, in millionths of the currency. */
export type DaySpend = ReadonlyMap<string, number>;

/** Limits of a day, in whole units of the currency. */
export interface DaySpendLimits {
  /** Limit for all bots together. */
  readonly maximumPerDay?: number | undefined;
  /** Limit for this bot. */
  readonly ofBot?: number | undefined;
}

const MICROS = 1_000_000;

/** The limit that a bot's calls have reached, its own before that of all bots. A day without calls has reached none but a limit of 0. */
export function reachedSpend(
  spend: DaySpend,
  botName: string,
  { maximumPerDay, ofBot }: DaySpendLimits,
): ReachedSpend | undefined {
  const all = [...spend.values()].reduce((sum, each) => sum + each, 0);
  const limits = [
    ['bot', spend.get(botName) ?? 0, ofBot],
    ['all', all, maximumPerDay],
  ] as const;
  for (const [of, knownMicros, most] of limits)
    if (most !== undefined && knownMicros >= Math.round(most * MICROS))
      return { of, knownMicros, mostMicros: Math.round(most * MICROS) };
  return undefined;
}

/** Start of a moment's day of UTC. */
export function spendDayOf(wallMs: number): number {
  const dayMs = 86_400_000;
  return Math.floor(wallMs / dayMs) * dayMs;
}
