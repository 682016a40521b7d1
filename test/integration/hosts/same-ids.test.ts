import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { simulatedCarriers } from '../../../src/sim/carriers.ts';
import type { SimulatedCarrierCall } from '../../../src/sim/simulated-carrier.ts';
import { startCarrierBench } from './carrier-bench.ts';
import { eventually } from '../../support/eventually.ts';

const BOT_MODULE = `
export async function* respond(turn) {
  yield { type: 'say', text: 'Hello.' };
}
`;

it('keeps calls of all carriers apart that have the same id, and shows of each carrier the calls that it has', async () => {
  await using carriers = await startCarrierBench(BOT_MODULE);
  const { gateway } = carriers.bench;
  const active = async (): Promise<Record<string, number>> => {
    const body = await (await fetch(`${gateway.url}/metrics`)).text();
    const found = [...body.matchAll(/^offhook_calls_active\{carrier="([^"]+)"\} (\d+)$/gmu)];
    return Object.fromEntries(found.map(([, carrier = '', count]) => [carrier, Number(count)]));
  };
  // Ids of calls from pages are ours.
  const names = simulatedCarriers.flatMap(({ name }) => (name === 'browser' ? [] : name));
  const each = (count: number): Record<string, number> => ({
    browser: 0,
    ...Object.fromEntries(names.map((name) => [name, count])),
  });
  const carrierCallId = randomUUID();
  const calls = new Map<string, SimulatedCarrierCall>();
  for (const name of names) calls.set(name, await carriers.place(name, {}, { carrierCallId }));
  const sessions = gateway.calls.calls;
  expect(sessions.map(({ identity }) => identity.inbound.carrier).toSorted()).toEqual(names.toSorted());
  expect(await active()).toEqual(each(1));
  // The last call of one carrier ends while those of others go on.
  const [first = '', ...others] = names;
  await calls.get(first)?.hangUp();
  await eventually('the end of one call', () => gateway.calls.calls.length === sessions.length - 1);
  expect(await active()).toEqual({ ...each(1), [first]: 0 });
  await Promise.all(others.map(async (name) => calls.get(name)?.hangUp()));
  await eventually('the ends of all calls', () => gateway.calls.calls.length === 0);
  expect(await active()).toEqual(each(0));
});
