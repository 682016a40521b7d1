import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseWav } from '../../src/audio/wav.ts';
import { startGateway } from '../../src/hosts/app.ts';
import { loadBots } from '../../src/config/bot-files.ts';
import { loadConfig } from '../../src/config/load.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { ScriptedCaller } from '../../src/sim/caller/caller.ts';
import { CallRefused } from '../../src/sim/twilio/carrier.ts';
import { eventually } from '../support/eventually.ts';
import { type GatewayBench, startGatewayBench } from '../integration/hosts/gateway-bench.ts';
import { sayTones } from '../integration/platform/tone-engines.ts';
import { closeOf, RawCarrier } from '../support/raw-carrier.ts';

const speech = (...words: ('alpha' | 'bravo' | 'charlie')[]): Int16Array => sayTones(words, 8_000).subarray(1_600);

/** For what ends one call and no other; the rest have a gateway of their own. */
let shared: GatewayBench;
beforeAll(async () => {
  shared = await startGatewayBench({
    env: {
      OFFHOOK_CALL__REATTACH_MS: '200',
      // Long enough for a carrier on a busy machine.
      OFFHOOK_TWILIO__STREAM_TOKEN_MS: '3000',
    },
  });
});
afterAll(() => shared[Symbol.asyncDispose]());

it.concurrent('apologises and hangs up when the platform dies, keeps the recording, and refuses the next caller', async () => {
  await using bench = await startGatewayBench();
  const call = await bench.dial();
  const session = bench.sessionOf(call);
  const caller = new ScriptedCaller(call.stream);
  await caller.run([{ kind: 'say', text: 'alpha', pcm: speech('alpha') }]);
  await bench.speech.platform.close();
  const record = await session.ended;
  expect(record.endReason).toBe('speech-unavailable');
  expect(record.sentences.at(-1)?.heardText).toContain('Goodbye');
  const wav = parseWav(readFileSync(record.recordingPath!));
  expect(wav.samples[0]!.length / 8_000).toBeGreaterThan(2);
  await expect(call.stream.ended).resolves.toMatchObject({ byGateway: true });

  await eventually('the health check to notice', async () => (await fetch(`${bench.gateway.url}/readyz`)).status === 503);
  const refused = await bench.dial().catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(CallRefused);
  expect((refused as CallRefused).said.join(' ')).toContain('Goodbye');
  expect(bench.gateway.calls.active).toBe(0);
});

it.concurrent('says that all lines are busy, and stops without waiting for calls that never attached', async () => {
  await using bench = await startGatewayBench({ env: { OFFHOOK_CALL__MAXIMUM: '1' } });
  const call = await bench.dial();
  const refused = await bench.dial().catch((error: unknown) => error);
  expect((refused as CallRefused).said.join(' ')).toContain('busy');
  await call.hangUp();
  const isIdle = (): boolean => bench.gateway.calls.active === 0;
  await eventually('the first call to end', isIdle);
  await (await bench.dial()).hangUp();
  await eventually('the second call to end', isIdle);

  const carrier = new RawCarrier({ url: bench.gateway.url, authToken: bench.authToken });
  await carrier.answer();
  const session = bench.sessionOf(carrier);
  // The stream would be waited for longer than this test may take.
  await bench.gateway.close();
  expect(await session.ended).toMatchObject({ endReason: 'shutdown', turns: [] });
  expect(bench.gateway.calls.active).toBe(0);
});

it.concurrent('continues after malformed, misordered and unknown messages', async () => {
  const call = await shared.dial();
  const session = shared.sessionOf(call);
  for (const junk of [
    'not json',
    '[]',
    '{"event":"media"}',
    '{"event":"media","media":{"payload":"%%%"}}',
    '{"event":"weather"}',
  ]) {
    call.stream.sendRaw(junk);
  }
  call.stream.sendRaw(JSON.stringify({ event: 'start', start: { streamSid: 'MZother', callSid: 'CAother' } }));
  await new ScriptedCaller(call.stream).run([{ kind: 'say', text: 'charlie', pcm: speech('charlie') }, { kind: 'wait-for-end' }]);
  const record = await session.ended;
  expect(record.endReason).toBe('said-charlie');
});

it.concurrent('ends a call whose socket dies without a stop message', async () => {
  const call = await shared.dial();
  const session = shared.sessionOf(call);
  await eventually('some audio', () => call.stream.nowMs > 600);
  call.stream.drop();
  const record = await session.ended;
  expect(record.endReason).toBe('carrier-lost');
  expect(existsSync(record.recordingPath!)).toBe(true);
});

it.concurrent('ends a call that was answered and never attached', async () => {
  const carrier = new RawCarrier({ url: shared.gateway.url, authToken: shared.authToken });
  expect(await carrier.answer()).toContain('/carriers/twilio/stream/');
  const record = await shared.sessionOf(carrier).ended;
  expect(record).toMatchObject({ endReason: expect.stringContaining('no media within'), turns: [], attachments: [] });
});

it.concurrent('refuses a replayed, forged or wrongly encoded stream, and keeps the live call', async () => {
  const carrier = new RawCarrier({ url: shared.gateway.url, authToken: shared.authToken });
  const url = (await carrier.answer())!;
  const socket = await carrier.open(url);
  if (typeof socket === 'number') throw new Error(`refused with ${socket}`);
  socket.send(carrier.start());
  const session = shared.sessionOf(carrier);
  await eventually('the call to attach', () => session.attached);
  expect(await carrier.open(url)).toBe(403);
  expect(await carrier.open(`${url.slice(0, -4)}AAAA`)).toBe(403);

  // The carrier asks again for the call that is alive, and then speaks another codec: the first stream keeps the call.
  const second = await carrier.connect();
  const refused = closeOf(second);
  second.send(carrier.start({ encoding: 'audio/x-alaw', sampleRate: 8000, channels: 1 }));
  expect(await refused).toMatchObject({ code: 1003, reason: expect.stringContaining('audio/x-alaw') });
  expect(session.attached).toBe(true);
  socket.send(carrier.stop());
  const record = await session.ended;
  expect(record).toMatchObject({ endReason: 'caller-hangup', attachments: [{ streamId: carrier.streamSid }] });
});

it.concurrent('ends a call that reconnects with another codec only', async () => {
  const carrier = new RawCarrier({ url: shared.gateway.url, authToken: shared.authToken });
  const socket = await carrier.connect();
  socket.send(carrier.start());
  for (let frame = 0; frame < 40; frame += 1) socket.send(carrier.media(new Uint8Array(160).fill(0xff), frame * 20));
  const session = shared.sessionOf(carrier);
  await eventually('the call to attach', () => session.attached);
  const url = (await carrier.answer())!;
  socket.terminate();
  const second = await carrier.open(url);
  if (typeof second === 'number') throw new Error(`refused with ${second}`);
  const refused = closeOf(second);
  second.send(carrier.start({ encoding: 'audio/x-l16', sampleRate: 16_000, channels: 1 }));
  expect(await refused).toMatchObject({ code: 1003 });
  const record = await session.ended;
  expect(record.attachments).toHaveLength(1);
  // Nothing recorded so far is lost.
  expect(parseWav(readFileSync(record.recordingPath!)).samples[0]!.length).toBeGreaterThan(0);
});

it.concurrent('journals each turn of a live call, and clears the journal when its record is safe', async () => {
  const call = await shared.dial();
  const session = shared.sessionOf(call);
  await new ScriptedCaller(call.stream).run([{ kind: 'say', text: 'alpha', pcm: speech('alpha') }]);
  const folder = join(shared.dataDir, 'calls');
  const file = join(folder, `${session.id}.json`);
  await eventually('the turn in the journal', () => readFileSync(file, 'utf8').includes('alpha'));
  await call.hangUp();
  expect((await session.ended).turns.map(({ callerText }) => callerText)).toEqual(['', 'alpha']);
  await eventually('the journal to be cleared', () => !readdirSync(folder).some((name) => name.startsWith(session.id)));
});

it.concurrent('refuses to start with an unusable bot, naming it', async () => {
  const { bots } = loadBots('config/bots');
  const config = loadConfig({ env: { OFFHOOK_PORT: '0' }, files: [] });
  const broken = [{ ...bots[0]!, dialog: { kind: 'flow' as const, flow: { start: 'nowhere', states: {} } } }];
  await expect(
    startGateway({
      config,
      bots: broken,
      speech: { authUrl: 'http://127.0.0.1:1', asrUrl: 'http://127.0.0.1:1', ttsUrl: 'http://127.0.0.1:1', apiKey: 'key' },
      clock: systemClock,
      logger: silentLogger,
      worker: false,
    }),
  ).rejects.toThrow(/nowhere/u);
});
