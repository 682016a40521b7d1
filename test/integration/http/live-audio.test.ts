import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { CallRegistry } from '../../../src/call/admission/call-registry.ts';
import { HeardSound } from '../../../src/call/recording/heard-sound.ts';
import { singleHeaders } from '../../../src/http/webhook-access.ts';
import { LocalLiveAudio } from '../../../src/http/live-audio.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { eventually } from '../../support/eventually.ts';

/** A listener who has taken the only call over. */
async function listening(hear: (pcm: Int16Array) => void) {
  const clock = new ManualClock(10_000);
  const takeOver = { by: undefined as string | undefined, hear };
  const sound = new HeardSound(undefined, 0, { rateHz: 8_000, sentRateHz: 8_000 });
  const session = { id: 'call_1', sound, takeOver, ended: new Promise(() => undefined) };
  const registry = {
    calls: [session],
    order: async () => void (takeOver.by = 'key_1'),
  };
  const audio = new LocalLiveAudio({
    registry: registry as unknown as Pick<CallRegistry, 'calls' | 'order'>,
    clock,
    logger: silentLogger,
  });
  const server = createServer();
  let over = false;
  const order = { listenerId: 'lis_1', callId: 'call_1', by: 'key_1', mayControl: true };
  server.on('upgrade', (request, socket) => {
    const headers = singleHeaders(request);
    void audio.listen(order, { socket: socket as Socket, headers, early: Buffer.alloc(0) }).then(() => (over = true));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const told: string[] = [];
  client.on('message', (data: Buffer, isBinary) => void (isBinary || told.push(data.toString())));
  await once(client, 'open');
  client.send('{"type":"take-over"}');
  await eventually('the call is taken over', () => told.some((text) => text.includes('"you"')));
  return {
    audio,
    clock,
    client,
    told,
    isOver: () => over,
    async [Symbol.asyncDispose]() {
      client.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

it('drops a voice that comes faster than real time, and says so once', async () => {
  let samples = 0;
  await using bench = await listening((pcm) => void (samples += pcm.length));
  const { client, clock, told } = bench;
  const second = new Uint8Array(32_000);
  const refusals = (): number => told.filter((text) => text.includes('"refused"')).length;
  for (let at = 0; at < 20; at += 1) client.send(second);
  await eventually('the voice is refused', () => refusals() === 1);
  client.send('{"type":"nonsense"}');
  await eventually('all of it was read', () => refusals() === 2);
  expect(samples).toBe(32_000);
  clock.advance(1_000);
  client.send(second);
  await eventually('what comes in time is heard again', () => samples === 48_000);
});

it('closes the socket of a listener whose voice cannot be played, and ends nothing else', async () => {
  await using bench = await listening(() => {
    throw new Error('the line is broken');
  });
  bench.client.send(new Uint8Array(640));
  expect((await once(bench.client, 'close'))[0]).toBe(1011);
});

it('cuts off a listener that does not answer the close of a process that stops', async () => {
  await using bench = await listening(() => undefined);
  const { audio, client, clock, isOver } = bench;
  // Reads nothing from now on.
  client.pause();
  audio.close();
  clock.advance(1_900);
  expect(isOver()).toBe(false);
  clock.advance(100);
  await eventually('its socket is closed', isOver);
});
