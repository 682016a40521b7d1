import { expect, it } from 'vitest';
import { repliesIn } from '../../../src/hosts/system.ts';
import { addUp, createMetrics } from '../../../src/observability/metrics.ts';

it('adds up the replies of all processes, by how long callers waited', async () => {
  const [one, other] = [createMetrics(), createMetrics()];
  expect(repliesIn(await one.snapshot())).toEqual({ count: 0, upTo: [] });
  for (const ms of [180, 450]) one.turnLatency('total', ms);
  one.turnLatency('dialog', 10);
  for (const ms of [450, 9_000]) other.turnLatency('total', ms);
  const { count, upTo } = repliesIn(await addUp([await one.snapshot(), await other.snapshot()]));
  const within = Object.fromEntries(upTo.map((limit) => [limit.ms, limit.count]));
  expect(count).toBe(4);
  expect(within).toMatchObject({ 100: 0, 200: 1, 300: 1, 500: 3, 5_000: 3 });
});
