import { join } from 'node:path';
import { expect, it } from 'vitest';
import { AUDIT_FILE, AuditLog } from '../../../src/records/retention/audit-log.ts';
import { API_KEYS_FILE, ApiKeys } from '../../../src/http/api/system/api-keys.ts';
import { defaultPhrases } from '../../../src/config/bot-phrases.ts';
import { CallRefused } from '../../../src/sim/twilio/carrier.ts';
import { eventually } from '../../support/eventually.ts';
import { startGatewayBench } from './gateway-bench.ts';

const { shutdown } = defaultPhrases('en');

it.concurrent('refuses calls during shutdown, says goodbye to live ones, and reports itself not ready', async () => {
  await using bench = await startGatewayBench();
  const call = await bench.dial();
  const session = bench.sessionOf(call);
  await eventually('the bot to speak', () => session.standing.phase === 'bot-speaking');
  const closing = bench.gateway.close();
  const [ready, second] = await Promise.allSettled([fetch(`${bench.gateway.url}/readyz`), bench.dial()]);
  expect(ready).toMatchObject({ status: 'fulfilled', value: { status: 503 } });
  expect(second).toMatchObject({ status: 'rejected', reason: expect.any(CallRefused) as unknown });
  const { endReason, sentences } = await session.ended;
  expect(endReason).toBe('shutdown');
  const said = sentences.map(({ text }) => text).join(' ');
  expect(said).toContain(shutdown.split('.')[0]);
  expect(said).not.toContain('went wrong');
  await closing;
});

it.concurrent('finishes live calls while draining, refuses new ones, and reports that it is draining', async () => {
  await using bench = await startGatewayBench();
  const call = await bench.dial();
  const session = bench.sessionOf(call);
  await eventually('the bot to listen', () => session.standing.phase === 'listening');
  let isDrained = false;
  const drained = bench.gateway.drain().then(() => (isDrained = true));
  const ready = await fetch(`${bench.gateway.url}/readyz`);
  expect([ready.status, await ready.json()]).toMatchObject([503, { parts: { calls: 'draining' } }]);
  expect((await fetch(`${bench.gateway.url}/healthz`)).status).toBe(200);
  await expect(bench.dial()).rejects.toThrow(CallRefused);
  call.stream.press('7');
  await eventually('the bot to answer', () => session.standing.turns > 1);
  expect(isDrained).toBe(false);
  await call.hangUp();
  expect(await session.ended).toMatchObject({ endReason: 'caller-hangup', turns: [{}, { botText: 'You pressed 7.' }] });
  await drained;
});

it.concurrent('is drained by the API until that is undone, which it refuses once it stops', async () => {
  await using bench = await startGatewayBench();
  const { gateway, dataDir } = bench;
  const keys = new ApiKeys(join(dataDir, API_KEYS_FILE));
  const keyFor = (scope: 'system:read' | 'system:control'): string =>
    keys.create({ name: scope, tenantId: 'default', scopes: [scope] }, Date.now()).secret;
  const key = keyFor('system:control');
  const drain = async (method: 'POST' | 'DELETE', bearer = key): Promise<unknown> => {
    const answer = await fetch(`${gateway.url}/api/system/drain`, { method, headers: { authorization: `Bearer ${bearer}` } });
    return [answer.status, await answer.json()];
  };
  const live = await bench.dial();
  expect(await drain('POST', keyFor('system:read'))).toMatchObject([403, {}]);
  expect(await drain('POST')).toEqual([200, { state: 'draining', live: 1 }]);
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(503);
  await expect(bench.dial()).rejects.toThrow(CallRefused);

  expect(await drain('DELETE')).toEqual([200, { state: 'taking-calls', live: 1 }]);
  const second = await bench.dial();
  expect(await drain('POST')).toEqual([200, { state: 'draining', live: 2 }]);
  await live.hangUp();
  await second.hangUp();
  await gateway.callDrain.drain();
  expect(await drain('POST')).toEqual([200, { state: 'drained', live: 0 }]);

  await gateway.drain();
  expect(await drain('DELETE')).toMatchObject([409, { detail: expect.stringContaining('stopping') as unknown }]);
  const { lines } = await new AuditLog(join(dataDir, AUDIT_FILE), Date.now).page(() => true, { limit: 10 });
  const done = lines.map(({ action, outcome }) => `${action} ${outcome}`).toReversed();
  expect(done).toEqual([
    'system.drain done',
    'system.undo-drain done',
    'system.drain done',
    'system.drain done',
    'system.undo-drain refused',
  ]);
});
