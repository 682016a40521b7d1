import type { FastifyReply, FastifyRequest } from 'fastify';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { createHttpApp } from '../../../src/platform/server/listener/http-app.ts';
import { clientSignal, occupySlot, Slots } from '../../../src/platform/server/listener/limits.ts';
import { hangs } from '../../support/patience.ts';

/** A service with two slots for its one key, behind this gate; what it is asked takes until the client leaves. */
async function serve(open: (request: FastifyRequest, reply: FastifyReply) => Promise<void> = async () => undefined) {
  const slots = new Slots(2);
  const options = { service: 'test', clock: systemClock, logger: silentLogger };
  const app = createHttpApp({ ...options, bodyLimitBytes: 1_000, requestTimeoutMs: 10_000, bodyTimeoutMs: 10_000 });
  const answers: FastifyReply[] = [];
  const signals: AbortSignal[] = [];
  const gate = { claimsOf: () => ({ keyId: 'key' }) };
  app.addHook('onRequest', async (_request, reply) => void answers.push(reply));
  app.get('/', { onRequest: [open, occupySlot(gate, slots, 2)] }, async (_request, reply) => {
    const signal = clientSignal(reply);
    signals.push(signal);
    if (!signal.aborted) await once(signal, 'abort');
    return 'too late';
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return {
    held: () => slots.held('key'),
    answers,
    signals,
    /** A client that asks so many times at once. */
    ask(times = 1): Socket {
      const client = connect(port, '127.0.0.1');
      client.write('GET / HTTP/1.1\r\nHost: platform\r\n\r\n'.repeat(times));
      return client;
    },
    [Symbol.asyncDispose]: () => app.close(),
  };
}

describe('a slot of the platform', () => {
  it('is not taken for a client that left while its credential was looked at', async () => {
    let passed = false;
    await using service = await serve(async (_request, reply) => {
      client.resetAndDestroy();
      await once(reply.raw, 'close');
      passed = true;
    });
    const client = service.ask();
    await expect.poll(() => passed && service.answers[0]!.sent).toBe(true);
    expect(service.held()).toBe(0);
    expect(service.signals).toEqual([]);
    expect(clientSignal(service.answers[0]!).aborted).toBe(true);
  });

  it('comes back when its client leaves, also from a request that waits behind another', async () => {
    await using service = await serve();
    const client = service.ask(2);
    await expect.poll(() => service.signals.length).toBe(2);
    expect(service.held()).toBe(2);
    client.resetAndDestroy();
    await expect.poll(() => service.held()).toBe(0);
    expect(service.signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });
});

it('ends a request that never ends, though it was answered early', async () => {
  const clock = new ManualClock();
  const limits = { bodyLimitBytes: 1_000, requestTimeoutMs: 360_000, bodyTimeoutMs: 30_000 };
  const app = createHttpApp({ service: 'test', clock, logger: silentLogger, ...limits });
  app.post('/', { onRequest: async (_request, reply) => reply.code(401).send({}) }, () => undefined);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  for (const type of ['application/json', 'multipart/form-data; boundary=x']) {
    const client = connect(port, '127.0.0.1');
    const answered = once(client, 'data');
    const closed = once(client, 'close', { signal: hangs() });
    client.write(`POST / HTTP/1.1\r\nHost: x\r\ncontent-type: ${type}\r\ncontent-length: 500\r\n\r\n`);
    expect(String((await answered)[0])).toContain('HTTP/1.1 401');
    await expect.poll(() => clock.pendingTimers).toBe(1);
    clock.advance(30_000);
    await closed;
  }
  await app.close();
});
