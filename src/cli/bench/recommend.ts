/** The measurement of one number of calls. */
export interface BenchStep {
  readonly calls: number;
  /** CPU of all the gateway's threads; 1 is one core. */
  readonly cpu: number;
  /** Share of the time in which the gateway's event loop was busy. */
  readonly loopBusy: number;
  readonly loopP99Ms: number;
  readonly rssMb: number;
  /** Times that the gateway let a playout run dry. */
  readonly holes: number;
  readonly lost: number;
  /** From the end of a caller's sentence to the first sound of the answer; null without an answer. */
  readonly turnP50Ms: number | null;
  readonly turnP99Ms: number | null;
  /** The callers' own health: how late they sent, and how busy their event loop was. */
  readonly callersLateP99Ms: number;
  readonly callersBusy: number;
}

export interface Judged {
  /** Limits that the gateway exceeded; empty when it carried the calls. */
  readonly faults: readonly string[];
  /** Why the step does not count; empty when it does. */
  readonly void: readonly string[];
}

/** A busier event loop has no room for peaks. */
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
  /** Recommended `call.maximum`; null when the smallest step failed, or none counts. */
  readonly maximum: number | null;
  /** Whether a step failed; else the limit is above the tried numbers. */
  readonly limitFound: boolean;
}

/** Recommends the largest valid step before the first that failed. @param steps by rising number of calls */
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

/** The setting for the configuration. */
export interface RecommendedSetting {
  readonly key: 'call.maximum';
  readonly environment: string;
  readonly value: number;
}

/**
 * The limit of all processes together, as `call.maximum` is: each carries what the measured one did.
 * @param maximum of one process; null without a recommendation
 */
export function settingFor(maximum: number | null, processes: number): RecommendedSetting | null {
  if (maximum === null) return null;
  const value = maximum * processes;
  return { key: 'call.maximum', environment: `OFFHOOK_CALL__MAXIMUM=${value}`, value };
}

/** Numbers of calls to try: up to four steps. */
export function stepsUpTo(most: number): number[] {
  const steps = [0.25, 0.5, 0.75, 1].map((share) => Math.max(1, Math.round(most * share)));
  return [...new Set(steps)];
}
