import { expect, it } from 'vitest';
import { BotHealth } from '../../../src/dialog/bot-health.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { botSettings } from '../../../src/config/bots.ts';

const desk = botSettings.parse({ name: 'desk', voice: 'v', dialog: { kind: 'http', url: 'http://127.0.0.1:9/' } });

function health() {
  const clock = new ManualClock(0);
  const probes: number[] = [];
  const server = { isThere: false };
  const breaker = new BotHealth({
    clock,
    logger: silentLogger,
    probe: async () => {
      probes.push(clock.nowMs());
      return server.isThere;
    },
  });
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { breaker, probes, server, pass };
}

it('sends no new call to a server that failed, until it can be reached and has answered one', async () => {
  const { breaker, server, pass } = health();
  expect(breaker.admits('desk')).toBe(true);
  breaker.failed(desk);
  expect(breaker.outages.map(({ bot }) => bot)).toEqual(['desk']);
  expect([breaker.admits('desk'), breaker.admits('sales')]).toEqual([false, true]);
  await pass(2_000);
  expect(breaker.admits('desk')).toBe(false);
  server.isThere = true;
  await pass(4_000);
  // One call finds out; the others wait for what comes of it.
  expect([breaker.admits('desk'), breaker.admits('desk')]).toEqual([true, false]);
  expect(breaker.outages.map(({ bot }) => bot)).toEqual(['desk']);
  breaker.answered('desk');
  expect([breaker.admits('desk'), breaker.admits('desk')]).toEqual([true, true]);
  expect(breaker.outages.map(({ bot }) => bot)).toEqual([]);
});

it('probes a server that stays away less and less often, and one that fails its trial no sooner than before', async () => {
  const { breaker, probes, server, pass } = health();
  breaker.failed(desk);
  breaker.failed(desk);
  for (let seconds = 0; seconds < 100; seconds += 1) await pass(1_000);
  expect(probes).toEqual([2_000, 6_000, 14_000, 30_000, 60_000, 90_000]);
  server.isThere = true;
  await pass(20_000);
  expect(breaker.admits('desk')).toBe(true);
  breaker.failed(desk);
  expect(breaker.admits('desk')).toBe(false);
  await pass(29_000);
  expect(breaker.admits('desk')).toBe(false);
  await pass(1_000);
  expect(breaker.admits('desk')).toBe(true);
});

it('lets another call try when the one that tried told nothing', async () => {
  const { breaker, server, pass } = health();
  server.isThere = true;
  breaker.failed(desk);
  await pass(2_000);
  expect([breaker.admits('desk'), breaker.admits('desk')]).toEqual([true, false]);
  await pass(30_000);
  expect(breaker.admits('desk')).toBe(true);
});

it('probes nothing once it is closed', async () => {
  const { breaker, probes, pass } = health();
  breaker.failed(desk);
  breaker[Symbol.dispose]();
  breaker.failed({ ...desk, name: 'sales' });
  await pass(60_000);
  expect(probes).toEqual([]);
});
