import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseWav } from '../../src/audio/wav.ts';
import { startGateway } from '../../src/app.ts';
import { loadBots } from '../../src/config/bot-files.ts';
import { loadConfig } from '../../src/config/load.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { ScriptedCaller } from '../../src/sim/caller.ts';
import { CallRefused } from '../../src/sim/twilio-carrier.ts';
import { eventually } from '../integration/gateway/eventually.ts';
import { startGatewayBench } from '../integration/gateway/gateway-bench.ts';
import { sayTones } from '../integration/platform/tone-engines.ts';

const speech = (...words: ('alpha' | 'bravo' | 'charlie')[]): Int16Array => sayTones(words, 8_000).subarray(1_600);

it.concurrent('tells the caller and hangs up when the platform dies during the call, and keeps what was recorded', async () => {
  await using bench = await startGatewayBench();
  const call = await bench.dial();
  const session = bench.gateway.calls.calls[0]!;
  const caller = new ScriptedCaller(call.stream);
  await caller.run([{ kind: 'say', text: 'alpha', pcm: speech('alpha') }]);
  await bench.speech.platform.close();
  const record = await session.ended;
  expect(record.endReason).toBe('speech-unavailable');
  expect(record.sentences.at(-1)?.heardText).toContain('Goodbye');
  const wav = parseWav(readFileSync(record.recordingPath!));
  expect(wav.samples[0]!.length / 8_000).toBeGreaterThan(2);
  await expect(call.stream.ended).resolves.toMatchObject({ byGateway: true });
});

it.concurrent('refuses a call with a sentence while the platform is down', async () => {
  await using bench = await startGatewayBench();
  await bench.speech.platform.close();
  await eventually('the health check to notice', async () => (await fetch(`${bench.gateway.url}/readyz`)).status === 503);
  const refused = await bench.dial().catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(CallRefused);
  expect((refused as CallRefused).said.join(' ')).toContain('Goodbye');
  expect(bench.gateway.calls.active).toBe(0);
});

it.concurrent('says that all lines are busy beyond the admitted number of calls', async () => {
  await using bench = await startGatewayBench({ env: { OFFHOOK_CALL__MAXIMUM: '1' } });
  const call = await bench.dial();
  const refused = await bench.dial().catch((error: unknown) => error);
  expect((refused as CallRefused).said.join(' ')).toContain('busy');
  await call.hangUp();
  await eventually('the first call to end', () => bench.gateway.calls.active === 0);
  await (await bench.dial()).hangUp();
});

it.concurrent('goes on after malformed frames, wrong order and noise on the wire', async () => {
  await using bench = await startGatewayBench();
  const call = await bench.dial();
  const session = bench.gateway.calls.calls[0]!;
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

it.concurrent('ends a call whose stop never comes, when the socket dies without a word', async () => {
  await using bench = await startGatewayBench({ env: { OFFHOOK_CALL__REATTACH_MS: '200' } });
  const call = await bench.dial();
  const session = bench.gateway.calls.calls[0]!;
  await eventually('some audio', () => call.stream.nowMs > 600);
  call.stream.drop();
  const record = await session.ended;
  expect(record.endReason).toBe('carrier-lost');
  expect(existsSync(record.recordingPath!)).toBe(true);
  expect(bench.gateway.calls.active).toBe(0);
});

it.concurrent('ends a call that was answered and never attached', async () => {
  await using bench = await startGatewayBench({
    env: { OFFHOOK_TWILIO__STREAM_TOKEN_MS: '1000', OFFHOOK_TWILIO__START_TIMEOUT_MS: '200' },
  });
  const answer = bench.gateway.calls.answer({
    carrier: 'twilio',
    carrierCallId: 'CAnever',
    from: '+1',
    to: '+2',
    direction: 'inbound',
    botName: undefined,
  });
  expect(answer.kind).toBe('accept');
  if (answer.kind === 'accept') bench.gateway.calls.abandon(answer.callId, 'no media came');
  await eventually('the call to end', () => bench.gateway.calls.active === 0);
});

it.concurrent('journals each turn of a live call, and clears the journal when its record is safe', async () => {
  await using bench = await startGatewayBench();
  const call = await bench.dial();
  const session = bench.gateway.calls.calls[0]!;
  await new ScriptedCaller(call.stream).run([{ kind: 'say', text: 'alpha', pcm: speech('alpha') }]);
  const folder = join(bench.dataDir, 'calls');
  await eventually('the turn in the journal', () => readFileSync(join(folder, `${session.id}.json`), 'utf8').includes('alpha'));
  await call.hangUp();
  await session.ended;
  await eventually('the journal to be cleared', () => readdirSync(folder).length === 0);
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
