import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { loadBots } from '../../../src/config/bot-files.ts';
import { readDevSecret } from '../../../src/config/dev-secrets.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { type Front, startFront } from '../../../src/gateway/front.ts';
import { API_KEYS_FILE, API_SCOPES, ApiKeys, type ApiScope } from '../../../src/http/api/api-keys.ts';
import { type WatchMessage, watchMessage, type WatchRequest } from '../../../src/http/api/watch-messages.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { dialTwilio, type SimulatedCall } from '../../../src/sim/twilio-carrier.ts';
import { nodeArguments } from '../../support/program.ts';
import { startTestPlatform, type TestPlatform } from '../platform/setup.ts';
import { sayTones } from '../platform/tone-engines.ts';
import { eventually } from './eventually.ts';

const MEDIA = fileURLToPath(new URL('../../../src/gateway/media-entry.ts', import.meta.url));
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
let gateway: Front;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'offhook-watching-'));
  const bots = join(dataDir, 'bots');
  mkdirSync(bots);
  writeFileSync(join(bots, 'echo.yaml'), BOT);
  writeFileSync(join(bots, 'echo.js'), MODULE);
  writeFileSync(join(bots, 'package.json'), '{"type":"module"}');
  speech = await startTestPlatform();
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
  gateway = await startFront({
    config: loadConfig({ env, files: [] }),
    bots: loadBots(bots).bots,
    speech: { authUrl, asrUrl, ttsUrl, apiKey },
    clock: systemClock,
    logger: silentLogger,
    worker: false,
    processes: 2,
    launch: () =>
      fork(args.at(-1) ?? '', [], {
        execArgv: args.slice(0, -1),
        env: { ...process.env, ...env },
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      }),
    platform: undefined,
  });
}, 60_000);

afterAll(async () => {
  await gateway.close();
  await speech[Symbol.asyncDispose]();
  rmSync(dataDir, { recursive: true, force: true });
});

function keyFor(scopes: readonly ApiScope[], tenantId = 'default') {
  return new ApiKeys(join(dataDir, API_KEYS_FILE)).create({ name: 'test', tenantId, scopes: [...scopes] }, 0);
}

const dial = (): Promise<SimulatedCall> =>
  dialTwilio({ url: gateway.url, authToken: readDevSecret(dataDir, 'twilio', 'authToken').reveal(), clock: systemClock });

/** A client that watches, and what it was told. */
async function watcher(secret: string) {
  const headers = { authorization: `Bearer ${secret}` };
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/api/watch`, { headers });
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
  await eventually('the ends', () => watch.over().length === 2);
  expect(watch.newsOf(id).at(-1)?.type).toBe('ended');
  watch.socket.close();
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
