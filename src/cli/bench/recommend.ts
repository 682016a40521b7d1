/** What one number of calls came to. */
export interface BenchStep {
  readonly calls: number;
  /** Share of one processor, of all the gateway's threads. */
  readonly cpu: number;
  /** Share of the time in which the gateway's event loop was busy. */
  readonly loopBusy: number;
  readonly loopP99Ms: number;
  readonly rssMb: number;
  /** Times that the gateway let a playout run dry. */
  readonly holes: number;
  readonly lost: number;
  /** From the end of a caller's sentence to the first sound of the answer; null when nobody was answered. */
  readonly turnP50Ms: number | null;
  readonly turnP99Ms: number | null;
  /** The callers' own health: how late they sent, and how busy their event loop was. */
  readonly callersLateP99Ms: number;
  readonly callersBusy: number;
}

export interface Judged {
  /** What the gateway did not bear; empty when it bore all. */
  readonly faults: readonly string[];
  /** Why the step says nothing about the gateway; empty when it does. */
  readonly void: readonly string[];
}

/** A loop this busy still has room for what calls do at once. */
export const MOST_BUSY = 0.7;
export const MOST_LAG_MS = 20;
const MOST_CALLERS_BUSY = 0.85;
const MOST_CALLERS_LATE_MS = 20;

export function judge(step: BenchStep): Judged {
  const percent = (share: number): string => `${Math.round(100 * share)} %`;
  const faults = [
    step.loopBusy > MOST_BUSY ? `the event loop was busy ${percent(step.loopBusy)} of the time` : undefined,
    step.loopP99Ms > MOST_LAG_MS ? `the event loop ran ${Math.round(step.loopP99Ms)} ms late` : undefined,
    step.holes > 0 ? `${step.holes} holes in what bots said` : undefined,
    step.lost > 0 ? `${step.lost} calls were lost` : undefined,
  ];
  const voids = [
    step.callersBusy > MOST_CALLERS_BUSY ? `the callers' process was busy ${percent(step.callersBusy)} of the time` : undefined,
    step.callersLateP99Ms > MOST_CALLERS_LATE_MS ? `the callers sent ${Math.round(step.callersLateP99Ms)} ms late` : undefined,
  ];
  return { faults: faults.filter((text) => text !== undefined), void: voids.filter((text) => text !== undefined) };
}

export interface Recommendation {
  /** What `call.maximum` should be; null when not even the smallest step was borne, or none counts. */
  readonly maximum: number | null;
  /** Whether more was tried than the gateway bore; else its limit is higher than what was tried. */
  readonly limitFound: boolean;
}

/** The most calls that were borne in a step that counts, before the first that was not. @param steps by rising number of calls */
export function recommend(steps: readonly BenchStep[]): Recommendation {
  let maximum: number | null = null;
  for (const step of steps) {
    const { faults, void: reasons } = judge(step);
    if (reasons.length > 0) return { maximum, limitFound: false };
    if (faults.length > 0) return { maximum, limitFound: true };
    maximum = step.calls;
  }
  return { maximum, limitFound: false };
}

/** What to put into the configuration. */
export interface RecommendedSetting {
  readonly key: 'call.maximum';
  readonly environment: string;
  readonly value: number;
}

/**
 * The limit of all processes together, as `call.maximum` is: each bears what the one that was measured did.
 * @param maximum of one process; null when nothing can be recommended
 */
export function settingFor(maximum: number | null, processes: number): RecommendedSetting | null {
  if (maximum === null) return null;
  const value = maximum * processes;
  return { key: 'call.maximum', environment: `OFFHOOK_CALL__MAXIMUM=${value}`, value };
}

/** Numbers of calls to try, up to the most: four steps, fewer where there are not so many calls. */
export function stepsUpTo(most: number): number[] {
  const steps = [0.25, 0.5, 0.75, 1].map((share) => Math.max(1, Math.round(most * share)));
  return [...new Set(steps)];
}
