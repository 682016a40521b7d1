import type { SpendRules } from '../call/control/spend-guard.ts';
import type { Bot } from '../config/bots.ts';
import type { Settings } from '../config/schema.ts';
import type { PriceList } from '../config/prices.ts';
import { type DaySpend, type ReachedSpend, reachedSpend, spendDayOf } from '../costs/spend.ts';
import type { Clock, Timer } from '../kernel/clock.ts';
import { errorText } from '../kernel/errors.ts';
import { SingleFlight } from '../kernel/waiting.ts';
import type { StatisticsRepository } from '../records/statistics.ts';

/** Between two looks at the store, which all processes and machines share. */
const LOOK_MS = 5_000;

export interface SpendWatchParts {
  readonly settings: Settings['spend'];
  readonly prices: PriceList;
  readonly bots: () => readonly Bot[];
  readonly statistics: Pick<StatisticsRepository, 'spentSince'>;
  readonly clock: Clock;
  readonly onProblem: (error: Error) => void;
}

/**
 * What today's ended calls cost, by the store, which has those of all processes. A call counts once it is stored: calls that go on are bounded by
 * `maximumPerCall`. Without a limit nothing is asked. While the store is away, the last known sums count.
 */
export class SpendWatch implements AsyncDisposable {
  readonly rules: SpendRules;
  readonly #parts: SpendWatchParts;
  readonly #looking = new SingleFlight<void>();
  readonly #listeners: ((reached: readonly string[]) => void)[] = [];
  #timer: Timer | undefined;
  #spend: DaySpend = new Map();
  #dayMs = 0;

  constructor(parts: SpendWatchParts) {
    this.#parts = parts;
    const { prices, settings } = parts;
    this.rules = { prices, maximumPerCall: settings.maximumPerCall, dayReached: (bot) => this.reached(bot.name) !== undefined };
  }

  /** Looks now, and from time to time. */
  async start(): Promise<void> {
    await this.look();
    this.#later();
  }

  /** Hears after each look which bots have reached a limit of the day. */
  onLook(listener: (reached: readonly string[]) => void): void {
    this.#listeners.push(listener);
  }

  /** The limit of the day that this bot's calls have reached. */
  reached(botName: string): ReachedSpend | undefined {
    const { settings, bots, clock } = this.#parts;
    const bot = bots().find(({ name }) => name === botName);
    const isToday = this.#dayMs === spendDayOf(clock.wallMs());
    return reachedSpend(isToday ? this.#spend : new Map(), botName, {
      maximumPerDay: settings.maximumPerDay,
      ofBot: bot?.spend.maximumPerDay,
    });
  }

  /** Whether a caller of this bot is refused at the door: no person is named whom the call could be handed to. */
  refuses(bot: Bot): boolean {
    const steps = bot.spend.whenReached ?? bot.whenDown ?? [];
    return !steps.some(({ kind }) => kind === 'transfer') && this.reached(bot.name) !== undefined;
  }

  /** Asks the store for today's sums. Never rejects. */
  look(): Promise<void> {
    return this.#looking.run(async () => {
      const { statistics, clock, onProblem, bots } = this.#parts;
      if (!this.#hasLimit()) return;
      const dayMs = spendDayOf(clock.wallMs());
      const tenants = [...new Set(bots().map(({ tenant }) => tenant))];
      try {
        const sums = await statistics.spentSince(tenants, dayMs);
        this.#spend = new Map(sums.map(({ botName, micros }) => [botName, micros]));
        this.#dayMs = dayMs;
      } catch (error) {
        onProblem(error instanceof Error ? error : new Error(errorText(error)));
      }
      const reached = bots().filter(({ name }) => this.reached(name) !== undefined);
      for (const listener of this.#listeners) listener(reached.map(({ name }) => name));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    await this.#looking.run(async () => undefined);
  }

  #hasLimit(): boolean {
    const { settings, bots } = this.#parts;
    return settings.maximumPerDay !== undefined || bots().some(({ spend }) => spend.maximumPerDay !== undefined);
  }

  #later(): void {
    this.#timer = this.#parts.clock.after(LOOK_MS, () => {
      if (this.#timer === undefined) return;
      void this.look().then(() => this.#timer !== undefined && this.#later());
    });
  }
}
