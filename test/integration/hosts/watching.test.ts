import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { rmsLevelDb } from '../../../src/audio/level.ts';
import { sine } from '../../../src/audio/tone.ts';
import { loadBots } from '../../../src/config/bot-files.ts';
import { readDevSecret } from '../../../src/config/dev-secrets.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { type Gateway, startGateway } from '../../../src/hosts/app.ts';
import { API_KEYS_FILE, API_SCOPES, ApiKeys, type ApiScope } from '../../../src/http/api/system/api-keys.ts';
import {
  type AudioMessage,
  audioMessage,
  type AudioRequest,
  type WatchMessage,
  watchMessage,
  type WatchRequest,
} from '../../../src/http/api/calls/watch-messages.ts';
import { AUDIT_FILE } from '../../../src/records/retention/audit-log.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { dialTwilio, type SimulatedCall } from '../../../src/sim/twilio/carrier.ts';
import { nodeArguments } from '../../support/program.ts';
import { startTestPlatform, type TestPlatform } from '../platform/setup.ts';
import { sayTones } from '../platform/tone-engines.ts';
import { eventually } from '../../support/eventually.ts';
import { purest } from './measured-tone.ts';

const MEDIA = fileURLToPath(new URL('../../../src/cli/media-entry.ts', import.meta.url));
const BOT = `
name: echo
voice: Nisha
default: true
endpointingMs: 500
noInputMs: 60000
dialog: { kind: module, file: echo.js }
`;
const MODULE = `
export async function* respond({ input, advice }) {
  if (input.kind === 'start') yield 'Hello there, please say a word.';
  else yield { type: 'say', text: 'You said ' + (input.text ?? '') + (advice === undefined ? '.' : ', and I was told ' + advice.join(' ') + '.') };
}
`;

let dataDir: string;
let speech: TestPlatform;
let gateway: Gateway;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'offhook-watching-'));
  const bots = join(dataDir, 'bots');
  mkdirSync(bots);
  writeFileSync(join(bots, 'echo.yaml'), BOT);
  writeFileSync(join(bots, 'echo.js'), MODULE);
  writeFileSync(join(bots, 'package.json'), '{"type":"module"}');
  speech = await startTestPlatform({}, 8_000);
  const { authUrl, asrUrl, ttsUrl, apiKey } = speech.platform;
  const env = {
    OFFHOOK_DATA_DIR: dataDir,
    OFFHOOK_PORT: '0',
    OFFHOOK_BOTS__FOLDER: bots,
    OFFHOOK_CALL__REFUSE_LAG_MS: '60000',
    OFFHOOK_LOG__LEVEL: 'error',
    OFFHOOK_AUTH_URL: authUrl,
    OFFHOOK_ASR_URL: asrUrl,
    OFFHOOK_TTS_URL: ttsUrl,
    OFFHOOK_API_KEY: apiKey,
  };
  const args = await nodeArguments(MEDIA);
  gateway = await startGateway({
    config: loadConfig({ env, files: [] }),
    bots: loadBots(bots).bots,
    speech: { authUrl, asrUrl, ttsUrl, apiKey },
    clock: systemClock,
    logger: silentLogger,
    worker: false,
    processes: {
      size: 2,
      launch: () =>
        fork(args.at(-1) ?? '', [], {
          execArgv: args.slice(0, -1),
          env: { ...process.env, ...env },
          stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        }),
      platform: undefined,
    },
  });
});

const open: { calls: SimulatedCall[]; sockets: WebSocket[] } = { calls: [], sockets: [] };

// Each test tells its calls by there being no others.
afterEach(async () => {
  for (const socket of open.sockets.splice(0)) socket.close();
  await Promise.all(open.calls.splice(0).map((call) => call.hangUp()));
  const headers = { authorization: `Bearer ${keyFor(['calls:read']).secret}` };
  await eventually('the end of all calls', async () => {
    const response = await fetch(`${gateway.url}/api/live-calls`, { headers });
    expect(response.status).toBe(200);
    return ((await response.json()) as { calls: unknown[] }).calls.length === 0;
  });
});

afterAll(async () => {
  await gateway.close();
  await speech[Symbol.asyncDispose]();
  rmSync(dataDir, { recursive: true, force: true });
});

function keyFor(scopes: readonly ApiScope[], tenantId = 'default') {
  return new ApiKeys(join(dataDir, API_KEYS_FILE)).create({ name: 'test', tenantId, scopes: [...scopes] }, 0);
}

async function dial(): Promise<SimulatedCall> {
  const authToken = readDevSecret(dataDir, 'twilio', 'authToken').reveal();
  const call = await dialTwilio({ url: gateway.url, authToken, clock: systemClock });
  open.calls.push(call);
  return call;
}

/** A client that watches, and what it was told. */
async function watcher(secret: string) {
  const headers = { authorization: `Bearer ${secret}` };
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/api/watch`, { headers });
  open.sockets.push(socket);
  const told: WatchMessage[] = [];
  socket.on('message', (data: Buffer) => void told.push(watchMessage.parse(JSON.parse(data.toString()))));
  await once(socket, 'open');
  return {
    socket,
    told,
    ask: (request: WatchRequest) => socket.send(JSON.stringify(request)),
    newsOf: (callId: string) => told.flatMap((each) => (each.type === 'news' && each.callId === callId ? [each.news] : [])),
    listed: () => new Set(told.flatMap((each) => (each.type === 'calls' ? each.calls.map(({ id }) => id) : []))),
    over: () => told.flatMap((each) => (each.type === 'calls' ? each.over : [])),
  };
}

it('shows the calls of both processes to who watches, and what is said in the one that is followed', async () => {
  const calls = await Promise.all([dial(), dial()]);
  const watch = await watcher(keyFor(API_SCOPES).secret);
  watch.ask({ type: 'calls' });
  await eventually('both calls in the list', () => watch.listed().size === 2);
  const [id = ''] = watch.listed();
  watch.ask({ type: 'follow', callId: id });
  await eventually('the greeting', () => watch.newsOf(id).some(({ type }) => type === 'heard'));
  for (const call of calls) call.stream.say(sayTones(['alpha'], 8_000));
  await eventually('the words of the followed call', () =>
    watch.newsOf(id).some((news) => news.type === 'turn' && news.callerText === 'alpha'),
  );
  expect(new Set(watch.told.flatMap((each) => (each.type === 'news' ? [each.callId] : [])))).toEqual(new Set([id]));
  await Promise.all(calls.map((call) => call.hangUp()));
  await eventually('the ends', () => watch.over().length === 2 && watch.newsOf(id).at(-1)?.type === 'ended');
});

it('refuses a watcher without a key, without the scope, and one that asks without a WebSocket', async () => {
  const refusal = async (headers: Record<string, string>): Promise<number> => {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/api/watch`, { headers });
    socket.on('error', () => undefined);
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
    return response.statusCode;
  };
  expect(await refusal({})).toBe(401);
  expect(await refusal({ authorization: `Bearer ${keyFor(['calls:dial']).secret}` })).toBe(403);
  const plain = await fetch(`${gateway.url}/api/watch`, {
    headers: { authorization: `Bearer ${keyFor(['calls:read']).secret}` },
  });
  expect([plain.status, plain.headers.get('upgrade')]).toEqual([426, 'websocket']);
});

/** A client that listens to a call, and what it heard. */
async function listener(secret: string, callId: string) {
  const headers = { authorization: `Bearer ${secret}` };
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/api/live-calls/${callId}/audio`, { headers });
  open.sockets.push(socket);
  const told: AudioMessage[] = [];
  const heard: { left: number[]; right: number[] } = { left: [], right: [] };
  socket.on('message', (data: Buffer, isBinary) => {
    if (!isBinary) return void told.push(audioMessage.parse(JSON.parse(data.toString())));
    for (let at = 0; at < data.length; at += 4) {
      heard.left.push(data.readInt16LE(at));
      heard.right.push(data.readInt16LE(at + 2));
    }
  });
  await once(socket, 'open');
  const last = (side: 'left' | 'right'): Int16Array => Int16Array.from(heard[side].slice(-4_000));
  let speaking: NodeJS.Timeout | undefined;
  socket.once('close', () => clearInterval(speaking));
  return {
    socket,
    told,
    /** How pure a tone of this frequency the last half second of a side is, in dB of the rest below it. */
    tone: (side: 'left' | 'right', hz: number) => purest(last(side), hz, 8_000).restDb,
    level: (side: 'left' | 'right') => rmsLevelDb(last(side)),
    standing: () => told.findLast((each) => each.type === 'standing'),
    ask: (request: AudioRequest) => socket.send(JSON.stringify(request)),
    /** Speaks a tone in real time until it is told to stop. */
    speak(hz: number) {
      const pcm = sine(hz, 60_000, 16_000, 0.3);
      const fromMs = systemClock.nowMs();
      let at = 0;
      speaking = setInterval(() => {
        for (; at < (systemClock.nowMs() - fromMs) * 16; at += 320) socket.send(Buffer.from(pcm.slice(at, at + 320).buffer));
      }, 20);
    },
  };
}

const auditOf = (callId: string): string[] =>
  readFileSync(join(dataDir, AUDIT_FILE), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { subject: string; action: string })
    .filter(({ subject }) => subject === callId)
    .map(({ action }) => action);

it('brings the sound of a call of another process, and lets an operator talk in the bot’s place and give back', async () => {
  const call = await dial();
  const { secret } = keyFor(API_SCOPES);
  const watch = await watcher(secret);
  watch.ask({ type: 'calls' });
  await eventually('the call', () => watch.listed().size === 1);
  const [id = ''] = watch.listed();
  watch.ask({ type: 'follow', callId: id });
  await eventually('the greeting', () => watch.newsOf(id).some(({ type }) => type === 'heard'));
  const [operator, other] = [await listener(secret, id), await listener(keyFor(['calls:listen']).secret, id)];
  await eventually('the format', () => operator.told.some((each) => each.type === 'format' && each.rateHz === 8_000));

  call.stream.say(sine(1_100, 6_000, 8_000, 0.3));
  await eventually('the caller on the left', () => operator.tone('left', 1_100) < -15 && other.tone('left', 1_100) < -15);
  expect(operator.level('right')).toBeLessThan(-60);

  other.ask({ type: 'take-over' });
  await eventually('the refusal', () => other.told.some((each) => each.type === 'refused' && each.why.includes('calls:control')));
  operator.ask({ type: 'take-over' });
  await eventually('the standing of both', () => {
    const [mine, theirs] = [operator.standing(), other.standing()];
    return mine?.takenOver === 'you' && theirs?.takenOver === 'other';
  });
  operator.speak(700);
  const callerHears = (): Int16Array => call.stream.buffer.heard.subarray(-4_000);
  await eventually('the operator at the caller’s ear', () => purest(callerHears(), 700, 8_000).restDb < -15);
  await eventually('the operator on the right', () => other.tone('right', 700) < -15);
  expect(watch.told.some((each) => each.type === 'calls' && each.calls.some(({ takenOver }) => takenOver !== null))).toBe(true);

  // A closed socket gives back; a caller who is silent then is spoken to.
  const phase = () => watch.told.flatMap((each) => (each.type === 'calls' ? each.calls : [])).at(-1)?.phase;
  await eventually('the silence of the caller', () => other.level('left') < -60 && phase() === 'listening');
  operator.socket.close();
  await eventually('the call given back', () => other.standing()?.takenOver === null);
  await eventually('the bot that says so', () =>
    watch.newsOf(id).some((news) => news.type === 'saying' && news.text?.includes('with you again') === true),
  );
  await call.hangUp();
  await eventually('the end', () => other.told.at(-1)?.type === 'over');
  await eventually('the audit', () => auditOf(id).filter((action) => action === 'live-call.audio-end').length === 2);
  expect(auditOf(id).toSorted()).toEqual(
    ['live-call.audio', 'live-call.audio', 'live-call.audio-end', 'live-call.audio-end', 'live-call.take-over'].toSorted(),
  );
});

it('lets nobody listen without the right, or to a call that is none', async () => {
  const refusal = async (secret: string, callId: string): Promise<number> => {
    const headers = { authorization: `Bearer ${secret}` };
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/api/live-calls/${callId}/audio`, { headers });
    socket.on('error', () => undefined);
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
    return response.statusCode;
  };
  const call = await dial();
  const watch = await watcher(keyFor(['calls:read']).secret);
  watch.ask({ type: 'calls' });
  await eventually('the call', () => watch.listed().size === 1);
  const [id = ''] = watch.listed();
  expect(await refusal(keyFor(['calls:read']).secret, id)).toBe(403);
  expect(await refusal(keyFor(['calls:listen'], 'other').secret, id)).toBe(404);
  expect(await refusal(keyFor(['calls:listen']).secret, 'call_none')).toBe(404);
  await call.hangUp();
});

it('whispers to a bot in another process, which heeds it in its next answer', async () => {
  const call = await dial();
  const { secret } = keyFor(API_SCOPES);
  const watch = await watcher(secret);
  watch.ask({ type: 'calls' });
  await eventually('the call', () => watch.listed().size === 1);
  const [id = ''] = watch.listed();
  watch.ask({ type: 'follow', callId: id });
  await eventually('the greeting', () => watch.newsOf(id).some(({ type }) => type === 'heard'));
  const whispered = await fetch(`${gateway.url}/api/live-calls/${id}/whisper`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'alpha bravo' }),
  });
  expect(whispered.status).toBe(200);
  call.stream.say(sayTones(['alpha'], 8_000));
  await eventually('the answer that heeds it', () =>
    watch.newsOf(id).some((news) => news.type === 'saying' && news.text?.includes('told alpha bravo') === true),
  );
  await call.hangUp();
});
