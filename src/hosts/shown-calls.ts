import type { LiveCall } from '../call/admission/live-calls.ts';
import type { Clock } from '../kernel/clock.ts';
import { within } from '../kernel/waiting.ts';

/** One whose event loop is late, or whose network is, gets so long to say which calls it has. */
const LIST_WITHIN_MS = 1_000;

/** The live calls of several processes or machines as one list; of one that does not respond, its calls as it showed them last. */
export class ShownCalls<Holder extends object> {
  readonly #clock: Clock;
  readonly #last = new WeakMap<Holder, readonly LiveCall[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param isAlive asked of calls that were shown before @returns oldest first */
  async list(
    holders: readonly Holder[],
    ask: (holder: Holder) => Promise<readonly LiveCall[]>,
    isAlive: (callId: string) => boolean = () => true,
  ): Promise<readonly LiveCall[]> {
    const asked = holders.map(async (holder) => {
      const known = this.of(holder).filter(({ id }) => isAlive(id));
      const calls = await within(this.#clock, LIST_WITHIN_MS, ask(holder), known).catch(() => known);
      this.#last.set(holder, calls);
      return calls;
    });
    return (await Promise.all(asked)).flat().toSorted((one, other) => one.startedAtWallMs - other.startedAtWallMs);
  }

  /** As they were shown last. */
  of(holder: Holder): readonly LiveCall[] {
    return this.#last.get(holder) ?? [];
  }
}
