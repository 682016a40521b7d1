import type { DrainOrders, DrainState } from '../http/api/api-app.ts';
import type { Clock } from '../kernel/clock.ts';
import { sleep } from '../kernel/waiting.ts';
import type { CallHost } from './call-host.ts';

/** Time for carriers to ask what comes behind the last words of a call. They are to be told to hang up, and not to find a port that is closed. */
const LAST_STEP_MS = 500;

/**
 * Whether a gateway takes new calls. Operators drain it and undo that, as often as they like; a gateway that stops drains for good.
 */
export class CallDrain implements DrainOrders {
  readonly #calls: Pick<CallHost, 'active' | 'drain' | 'takeCalls'>;
  readonly #clock: Clock;
  readonly #listeners: ((state: DrainState) => void)[] = [];
  #state: DrainState = 'taking-calls';
  #stops = false;
  #drained: Promise<void> | undefined;

  constructor(calls: Pick<CallHost, 'active' | 'drain' | 'takeCalls'>, clock: Clock) {
    this.#calls = calls;
    this.#clock = clock;
  }

  get state(): DrainState {
    return this.#state;
  }

  get draining(): boolean {
    return this.#state !== 'taking-calls';
  }

  get live(): number {
    return this.#calls.active;
  }

  /** @param listener hears each later state */
  onChange(listener: (state: DrainState) => void): void {
    this.#listeners.push(listener);
  }

  /** Refuses new calls; resolves when the live ones have ended, or the drain was undone and they have. */
  drain(): Promise<void> {
    if (this.#drained !== undefined) return this.#drained;
    this.#change('draining');
    const drained = this.end(() => this.#calls.drain()).then(() => {
      if (this.#drained === drained) this.#change('drained');
    });
    this.#drained = drained;
    return drained;
  }

  undo(): boolean {
    if (this.#stops) return false;
    if (this.#drained === undefined) return true;
    this.#drained = undefined;
    this.#calls.takeCalls();
    this.#change('taking-calls');
    return true;
  }

  /** The gateway stops: a drain cannot be undone from now on. */
  stop(): void {
    this.#stops = true;
  }

  /** @param end resolves when the calls have ended @returns resolves when their carriers had time to hear of it */
  async end(end: () => Promise<unknown>): Promise<void> {
    const hadCalls = this.live > 0;
    await end();
    if (hadCalls) await sleep(this.#clock, LAST_STEP_MS);
  }

  #change(state: DrainState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }
}
