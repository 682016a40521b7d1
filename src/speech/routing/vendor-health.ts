import type { Clock } from '../../kernel/clock.ts';
import type { SpeechSwitch } from '../port.ts';

/** How long a vendor that failed in a call is not the first choice of others. */
const COOL_DOWN_MS = 60_000;

/** Interval of reporting one vendor's failures to other processes, as all calls may fail at once. */
const TELL_EVERY_MS = 1_000;

/** A vendor of a service, which failed in a call. */
export type FailureListener = (service: SpeechSwitch['service'], name: string) => void;

/** Which vendors failed lately, for all calls of the gateway: the next call begins with one that works. */
export class VendorHealth {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #tell: FailureListener | undefined;
  readonly #untilMs = new Map<string, number>();
  readonly #toldMs = new Map<string, number>();

  /** @param tell other processes */
  constructor(clock: Pick<Clock, 'nowMs'>, tell?: FailureListener) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** A vendor failed in a call of this process. */
  failed(service: SpeechSwitch['service'], name: string): void {
    this.failedElsewhere(service, name);
    const key = `${service} ${name}`;
    const now = this.#clock.nowMs();
    if (now - (this.#toldMs.get(key) ?? Number.NEGATIVE_INFINITY) < TELL_EVERY_MS) return;
    this.#toldMs.set(key, now);
    this.#tell?.(service, name);
  }

  /** A vendor failed in a call of another process. */
  failedElsewhere(service: SpeechSwitch['service'], name: string): void {
    this.#untilMs.set(`${service} ${name}`, this.#clock.nowMs() + COOL_DOWN_MS);
  }

  /** Those that failed lately. */
  get failing(): readonly { readonly service: SpeechSwitch['service']; readonly vendor: string }[] {
    return [...this.#untilMs.keys()].flatMap((key) => {
      const [service = '', vendor = ''] = key.split(' ');
      return (service === 'recognition' || service === 'synthesis') && !this.isWell(service, vendor) ? [{ service, vendor }] : [];
    });
  }

  isWell(service: SpeechSwitch['service'], name: string): boolean {
    return (this.#untilMs.get(`${service} ${name}`) ?? Number.NEGATIVE_INFINITY) <= this.#clock.nowMs();
  }
}

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
