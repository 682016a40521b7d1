/** Limits of what counts as late, in ms: several times what is usual, within them. */
export interface LateLimits {
  readonly leastMs: number;
  /** Also while nothing is known. */
  readonly mostMs: number;
}

/** Time after which a commit without a final is in trouble. */
export const FINAL_LATE: LateLimits = { leastMs: 600, mostMs: 1_200 };
/** Wait for audio until another synthesizer is asked. */
export const FIRST_AUDIO_LATE: LateLimits = { leastMs: 500, mostMs: 1_000 };

const TIMES_USUAL = 3;
/** Values needed to know the usual, and values kept. */
const TELLING = 3;
const MOST_TIMES = 20;

/** How long each vendor usually takes, in all calls of the process: what takes much longer is late. */
export class UsualTimes {
  readonly #limits: LateLimits;
  readonly #times = new Map<string, number[]>();

  constructor(limits: LateLimits) {
    this.#limits = limits;
  }

  took(name: string, ms: number): void {
    const times = this.#times.get(name) ?? [];
    times.push(ms);
    this.#times.set(name, times.slice(-MOST_TIMES));
  }

  lateMs(name: string): number {
    const { leastMs, mostMs } = this.#limits;
    const times = this.#times.get(name) ?? [];
    if (times.length < TELLING) return mostMs;
    return Math.min(mostMs, Math.max(leastMs, TIMES_USUAL * Math.max(...times)));
  }
}
