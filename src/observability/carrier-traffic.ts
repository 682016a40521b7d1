import type { Clock } from '../kernel/clock.ts';
import type { Metrics } from './metrics.ts';

/** When a carrier was last active. */
export interface CarrierTraffic {
  readonly lastCallMs: number | undefined;
  readonly lastRefusalMs: number | undefined;
  /** Why its last webhook or socket was refused. */
  readonly lastRefusal: string | undefined;
}

const NEVER: CarrierTraffic = { lastCallMs: undefined, lastRefusalMs: undefined, lastRefusal: undefined };

/** Notes when each carrier last sent a call, and when one of its requests was last refused, as counters have no times. */
export class CarrierWatch {
  readonly #clock: Pick<Clock, 'wallMs'>;
  readonly #byName = new Map<string, CarrierTraffic>();

  constructor(clock: Pick<Clock, 'wallMs'>) {
    this.#clock = clock;
  }

  of(carrier: string): CarrierTraffic {
    return this.#byName.get(carrier) ?? NEVER;
  }

  /** The same metrics, with these times noted. */
  watching(metrics: Metrics): Metrics {
    return {
      ...metrics,
      callAnswered: (carrier, answer) => {
        this.#note(carrier, { lastCallMs: this.#clock.wallMs() });
        metrics.callAnswered(carrier, answer);
      },
      webhookRefused: (carrier, reason) => {
        this.#note(carrier, { lastRefusalMs: this.#clock.wallMs(), lastRefusal: reason });
        metrics.webhookRefused(carrier, reason);
      },
      streamRefused: (carrier, reason) => {
        this.#note(carrier, { lastRefusalMs: this.#clock.wallMs(), lastRefusal: reason });
        metrics.streamRefused(carrier, reason);
      },
    };
  }

  #note(carrier: string, news: Partial<CarrierTraffic>): void {
    this.#byName.set(carrier, { ...this.of(carrier), ...news });
  }
}
