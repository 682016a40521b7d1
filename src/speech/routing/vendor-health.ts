import type { Clock } from '../../kernel/clock.ts';
import type { SpeechSwitch } from '../port.ts';

/** A vendor that failed in a call is not the first choice of other calls for so long. */
const COOL_DOWN_MS = 60_000;

/** Which vendors failed lately, for all calls of the process: the next call begins with one that works. */
export class VendorHealth {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #untilMs = new Map<string, number>();

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock;
  }

  failed(service: SpeechSwitch['service'], name: string): void {
    this.#untilMs.set(`${service} ${name}`, this.#clock.nowMs() + COOL_DOWN_MS);
  }

  isWell(service: SpeechSwitch['service'], name: string): boolean {
    return (this.#untilMs.get(`${service} ${name}`) ?? Number.NEGATIVE_INFINITY) <= this.#clock.nowMs();
  }
}
