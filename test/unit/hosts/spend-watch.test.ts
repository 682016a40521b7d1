import { describe, expect, it } from 'vitest';
import { type Bot, botSettings } from '../../../src/config/bots.ts';
import { NO_PRICES } from '../../../src/config/prices.ts';
import { SpendWatch } from '../../../src/hosts/spend-watch.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const NOON_MS = Date.UTC(2026, 2, 3, 12);
const botOf = (name: string, spend: object = {}): Bot => ({
  ...botSettings.parse({ name, voice: 'v', tenant: 'acme', dialog: { kind: 'module', file: 'bot.js' }, spend }),
  folder: '/bots',
});

function watchOf(bots: readonly Bot[], settings: { maximumPerDay?: number; maximumPerCall?: number } = {}) {
  const clock = new ManualClock(0, NOON_MS);
  const store = { sums: [] as { botName: string; micros: number }[], isAway: false, asked: [] as unknown[] };
  const problems: unknown[] = [];
  const watch = new SpendWatch({
    settings,
    prices: NO_PRICES,
    bots: () => bots,
    statistics: {
      async spentSince(...asked) {
        store.asked.push(asked);
        if (store.isAway) throw new Error('the store is away');
        return store.sums;
      },
    },
    clock,
    onProblem: (error) => void problems.push(error),
  });
  return { watch, clock, store, problems };
}

/** Lets a look that the clock has begun come to its end. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the costs of the day', () => {
  it('are asked of the store every five seconds, of the tenants of the bots, since midnight', async () => {
    const { watch, clock, store } = watchOf([botOf('clinic', { maximumPerDay: 5 })]);
    await watch.start();
    expect(store.asked).toEqual([[['acme'], Date.UTC(2026, 2, 3)]]);
    store.sums = [{ botName: 'clinic', micros: 5_000_000 }];
    expect(watch.reached('clinic')).toBeUndefined();
    clock.advance(5_000);
    await settled();
    expect(watch.reached('clinic')).toEqual({ of: 'bot', knownMicros: 5_000_000, mostMicros: 5_000_000 });
    await watch[Symbol.asyncDispose]();
  });

  it('are not asked for without a limit', async () => {
    const { watch, store } = watchOf([botOf('clinic')], { maximumPerCall: 1 });
    await watch.start();
    expect(store.asked).toEqual([]);
    await watch[Symbol.asyncDispose]();
  });

  it('of a limit for all bots stop each of them, and tell the other processes', async () => {
    const { watch, store } = watchOf([botOf('clinic'), botOf('sales')], { maximumPerDay: 3 });
    const told: (readonly string[])[] = [];
    watch.onLook((reached) => told.push(reached));
    store.sums = [{ botName: 'clinic', micros: 2_000_000 }];
    await watch.look();
    store.sums = [...store.sums, { botName: 'sales', micros: 1_000_000 }];
    await watch.look();
    expect(told).toEqual([[], ['clinic', 'sales']]);
    expect(watch.rules.dayReached(botOf('sales'))).toBe(true);
  });

  it('of yesterday count no more, and those known last count while the store is away', async () => {
    const { watch, store, clock, problems } = watchOf([botOf('clinic', { maximumPerDay: 1 })]);
    store.sums = [{ botName: 'clinic', micros: 1_000_000 }];
    await watch.look();
    store.isAway = true;
    await watch.look();
    expect([watch.reached('clinic')?.of, problems.length]).toEqual(['bot', 1]);
    clock.advance(12 * 3_600_000);
    expect(watch.reached('clinic')).toBeUndefined();
  });

  it('refuse callers at the door only where no person is named for them', async () => {
    const [plain, handed] = [
      botOf('clinic', { maximumPerDay: 1 }),
      botOf('sales', { maximumPerDay: 1, whenReached: [{ transfer: '+14155550123' }] }),
    ];
    const { watch, store } = watchOf([plain, handed]);
    store.sums = [
      { botName: 'clinic', micros: 1_000_000 },
      { botName: 'sales', micros: 1_000_000 },
    ];
    await watch.look();
    expect([watch.refuses(plain), watch.refuses(handed)]).toEqual([true, false]);
  });
});
