import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { eventually } from '../integration/gateway/eventually.ts';
import { type GatewayBench, startGatewayBench } from '../integration/gateway/gateway-bench.ts';
import { lastJson, runOffhook, startOffhook } from './run-offhook.ts';

// Each starts a process, which compiles the program first when it has changed.
vi.setConfig({ testTimeout: 120_000 });

let bench: GatewayBench;
beforeAll(async () => {
  bench = await startGatewayBench();
});
afterAll(() => bench[Symbol.asyncDispose]());

it.concurrent('checks the shipped configuration and finds it sound', async () => {
  const finished = await runOffhook(['config', 'check', '--json']);
  expect(lastJson(finished)).toMatchObject({ ok: true, bots: ['clinic-hi', 'clinic'], problems: [] });
  expect(finished.code).toBe(0);
});

it.concurrent('reports every problem of the configuration at once, with the nearest known key', async () => {
  const finished = await runOffhook(['config', 'check', '--json'], { OFFHOOK_PORT: 'eighty', OFFHOOK_HTTP__PROT: '1' });
  expect(finished.code).toBe(1);
  expect(lastJson(finished)).toMatchObject({ ok: false });
  expect(finished.stdout).toContain('eighty');
  expect(finished.stdout).toContain('http.port');
});

it.concurrent('explains where a setting comes from, and never shows a secret', async () => {
  const finished = await runOffhook(['config', 'explain', '--json'], {
    OFFHOOK_PORT: '9001',
    OFFHOOK_TWILIO_AUTH_TOKEN: 'do-not-show',
  });
  expect(finished.stdout).toContain('"value":"9001"');
  expect(finished.stdout + finished.stderr).not.toContain('do-not-show');
});

it.concurrent('says what is wrong with a command, with exit code 2', async () => {
  expect((await runOffhook(['call'])).code).toBe(2);
  expect((await runOffhook(['dance'])).code).toBe(2);
});

it.concurrent('says that nobody answers when no gateway runs', async () => {
  const finished = await runOffhook(['call', '--url', 'http://127.0.0.1:9', '--say', 'yes', '--json'], {
    OFFHOOK_TWILIO_AUTH_TOKEN: 'token',
  });
  expect(finished.code).toBe(1);
  expect(lastJson(finished)).toMatchObject({ ok: false });
});

it.concurrent('calls a running gateway and says what is typed, line by line', async () => {
  const calling = startOffhook(['call', '-i', '--json', '--url', bench.gateway.url], { OFFHOOK_DATA_DIR: bench.dataDir });
  const turnOf = async (kind: string, text: string): Promise<void> => {
    const came = (): boolean => bench.news.some((item) => item.type === 'turn' && item.kind === kind && item.callerText === text);
    await eventually(`a ${kind} turn`, came, 60_000);
  };
  await eventually('the prompt', () => calling.output().includes('Type what the caller says'), 60_000);
  calling.type('#7');
  await turnOf('keyed', '7');
  // The tones of this gateway's recogniser are not in it: it is heard, and not understood.
  calling.type('good morning to all of you');
  await turnOf('spoken', '');
  calling.type('');
  const finished = await calling.finished;
  expect(finished.code).toBe(0);
  expect(lastJson(finished)).toMatchObject({ ok: true, endReason: 'caller-hangup', digits: '7' });
});

it.concurrent('hears the bot out when the typed lines end without a word', async () => {
  const calling = startOffhook(['call', '-i', '--json', '--url', bench.gateway.url], { OFFHOOK_DATA_DIR: bench.dataDir });
  calling.type('#8');
  calling.endInput();
  const finished = await calling.finished;
  expect(finished.code).toBe(0);
  expect(lastJson(finished)).toMatchObject({ ok: true, turns: [{}, { callerText: '8', botHeardText: 'You pressed 8.' }] });
});
