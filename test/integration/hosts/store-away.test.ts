import { join } from 'node:path';
import { expect, it } from 'vitest';
import { API_KEYS_FILE, ApiKeys } from '../../../src/http/api/system/api-keys.ts';
import { startGatewayBench } from './gateway-bench.ts';

it('reports that its store is away, answers 503 on the API, and still accepts calls', async () => {
  await using bench = await startGatewayBench();
  const { url, backlog } = bench.gateway;
  const keys = new ApiKeys(join(bench.dataDir, API_KEYS_FILE));
  const { secret } = keys.create({ name: 'test', tenantId: 'default', scopes: ['calls:read'] }, 0);
  const calls = (): Promise<Response> => fetch(`${url}/api/calls`, { headers: { authorization: `Bearer ${secret}` } });
  const ready = async (): Promise<unknown> => (await fetch(`${url}/readyz`)).json();
  expect(await ready()).toMatchObject({ status: 'ready', parts: { store: 'ok' } });
  expect((await calls()).status).toBe(200);
  await backlog.store.close();
  expect(await ready()).toMatchObject({ status: 'ready', parts: { store: 'down' } });
  const refused = await calls();
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({ title: 'Service Unavailable', status: 503 });
  const call = await bench.dial();
  expect(bench.sessionOf(call)).toBeDefined();
});
