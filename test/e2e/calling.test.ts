import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { activeLevelDb } from '../../src/audio/level.ts';
import { parseWav } from '../../src/audio/wav.ts';
import { eventually } from '../support/eventually.ts';
import { type GatewayBench, startGatewayBench } from '../integration/hosts/gateway-bench.ts';
import { lastJson, runCommand } from '../support/command.ts';
import { startOffhook } from './run-offhook.ts';

let bench: GatewayBench;
beforeAll(async () => {
  bench = await startGatewayBench({ clock: systemClock });
});
afterAll(() => bench[Symbol.asyncDispose]());

it.concurrent('calls a running gateway and speaks each typed line', async () => {
  const calling = startOffhook(['call', '-i', '--json', '--url', bench.gateway.url], { OFFHOOK_DATA_DIR: bench.dataDir });
  const turnOf = async (kind: string, text: string): Promise<void> => {
    const came = (): boolean => bench.news.some((item) => item.type === 'turn' && item.kind === kind && item.callerText === text);
    await eventually(`a ${kind} turn`, came);
  };
  await eventually('the prompt', () => calling.output().includes('Type what the caller says'));
  await eventually('the greeting to be shown', () => calling.output().includes('Hello there, please say a word.'));
  calling.type('#7');
  await turnOf('keyed', '7');
  // While the call goes on.
  await eventually('the answer to be shown', () => calling.output().includes('You pressed 7.'));
  // Words that nobody understands interrupt nothing: they are said when the bot is done.
  const wasHeard = (): boolean => bench.news.some((item) => item.type === 'heard' && item.heard === 'You pressed 7.');
  await eventually('the answer to be heard', wasHeard);
  // The tones of this gateway's recogniser are not in it: it is heard, and not understood.
  calling.type('good morning to all of you');
  await turnOf('spoken', '');
  calling.type('');
  const finished = await calling.finished;
  expect(finished.code).toBe(0);
  expect(lastJson(finished)).toMatchObject({ ok: true, endReason: 'caller-hangup', digits: '7' });
});

it.concurrent('calls through another carrier, waits for the bot to finish at the end of input, and writes the recording to the given path', async () => {
  const path = join(bench.dataDir, 'asked-for.wav');
  const flags = ['call', '-i', '--json', '--url', bench.gateway.url, '--carrier', 'vonage', '--record', path];
  const calling = startOffhook(flags, { OFFHOOK_DATA_DIR: bench.dataDir });
  calling.type('#8');
  calling.endInput();
  const finished = await calling.finished;
  expect(finished.code).toBe(0);
  expect(lastJson(finished)).toMatchObject({ ok: true, turns: [{}, { callerText: '8', botHeardText: 'You pressed 8.' }] });
  const [caller, bot] = parseWav(readFileSync(path)).samples;
  expect([caller!.length, activeLevelDb(bot!, 8000)]).toEqual([bot!.length, expect.closeTo(-20, -1)]);
});

it.concurrent('calls a gateway whose public address is not reachable yet, and names the setting a shell lacks', async () => {
  const env = { OFFHOOK_PUBLIC_URL: 'https://voice.offhook.invalid' };
  await using gateway = await startGatewayBench({ clock: systemClock, env });
  const here = { OFFHOOK_DATA_DIR: gateway.dataDir, OFFHOOK_PORT: new URL(gateway.gateway.url).port };
  const flags = ['call', '--json', '--say', '#7'];
  const called = await runCommand(flags, { ...here, ...env });
  expect(lastJson(called)).toMatchObject({ ok: true, turns: [{}, { callerText: '7', botHeardText: 'You pressed 7.' }] });
  const refused = await runCommand(flags, here);
  expect(refused.stderr).toContain('give this shell the OFFHOOK_PUBLIC_URL');
});

it.concurrent('lists the bots when the named one does not exist', async () => {
  const flags = ['call', '--url', bench.gateway.url, '--bot', 'clinik', '--say', '#1'];
  const finished = await runCommand(flags, { OFFHOOK_DATA_DIR: bench.dataDir });
  expect(finished.code).toBe(1);
  expect(finished.stderr).toContain(
    'there is no bot "clinik"; the bots here are clinic-hi, clinic, reminder. Did you mean clinic?',
  );
});
