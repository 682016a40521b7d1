import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { rmsLevelDb } from '../../../src/audio/level.ts';
import { parseWav } from '../../../src/audio/wav.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { readDevSecret } from '../../../src/config/own-secrets.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { CarrierLine } from '../../../src/sim/carrier-line.ts';
import { SimulatedTelnyxApi } from '../../../src/sim/telnyx/api.ts';
import { SimulatedTelnyxCall } from '../../../src/sim/telnyx/call.ts';
import { SimulatedCall } from '../../../src/sim/twilio/carrier.ts';
import { openDatabase, storeOn } from '../../../src/records/database.ts';
import { startGatewayProcess } from '../../long/gateway-process.ts';
import { sayTones } from '../platform/tone-engines.ts';
import { startTestPlatform } from '../platform/setup.ts';
import { startPostgres } from '../../support/postgres-server.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/processes.ts';
import { startRedis } from '../../support/redis-server.ts';
import { requireTool } from '../../support/requires.ts';
import { thorough } from '../../support/thorough.ts';
import { shared } from '../../support/shared.ts';

/* A sentence is a tone of 50 ms for each of its characters: how long there was sound says how much was said, holes of a busy machine or not. */
const LOST = 'Sorry, I lost you for a moment.';
const FIRST = 'Which dish?';
const BEFORE = 'Fine.';
const QUESTION = 'And which of our drinks would you like with it?';
const GOODBYE = 'Thank you very much.';
const lengthMs = (...sentences: readonly string[]): number => 50 * sentences.join('').length;
/** Of a sentence, its edges may count or not. */
const EDGES_MS = 80;

const FLOW = `name: waiter
default: true
voice: Nisha
dialog:
  kind: flow
  flow:
    start: dish
    slots:
      dish: { kind: choice, options: { alpha: { phrases: [alpha] }, bravo: { phrases: [bravo] } } }
      drink: { kind: choice, options: { alpha: { phrases: [alpha] }, bravo: { phrases: [bravo] } } }
    states:
      dish: { ask: { slot: dish, prompt: '${FIRST}' }, next: drink }
      drink: { say: '${BEFORE}', ask: { slot: drink, prompt: '${QUESTION}' }, next: done }
      done: { say: '${GOODBYE}', hangup: ordered }
`;

/** How much of a sound is not silence, in ms. */
function soundMs(heard: Int16Array): number {
  let frames = 0;
  for (let at = 0; at + 160 <= heard.length; at += 160) if (rmsLevelDb(heard.subarray(at, at + 160)) > -45) frames += 1;
  return frames * 20;
}

interface World {
  readonly dataDir: string;
  /** The store, where it is not in the data folder. */
  readonly store?: { readonly url: string; readonly masterKeys: readonly Secret[] };
  /** Why parts of the recording are silent, in order; `process-died` alone when absent. */
  readonly gaps?: readonly string[];
  /** A call of a carrier. @returns its media stream */
  connect(): Promise<CarrierLine>;
  /** The latest media stream of that call. */
  line(): CarrierLine;
  readonly ended: () => Promise<unknown>;
  /** Kills what has the call. */
  kill(callId: string): void | Promise<void>;
  close(): Promise<void>;
}

const speech = shared(() => startTestPlatform({}, 8_000));

function environment(dataDir: string): NodeJS.ProcessEnv {
  const bots = join(dataDir, 'bots');
  mkdirSync(bots, { recursive: true });
  writeFileSync(join(bots, 'waiter.yaml'), FLOW);
  const { authUrl, asrUrl, ttsUrl, apiKey } = speech.platform;
  return {
    ...process.env,
    OFFHOOK_DATA_DIR: dataDir,
    OFFHOOK_PORT: '0',
    OFFHOOK_CALL__DRAIN_MS: '0',
    OFFHOOK_CALL__REFUSE_LAG_MS: '60000',
    OFFHOOK_RECORDINGS__SEAL: 'never',
    OFFHOOK_BOTS__FOLDER: bots,
    OFFHOOK_AUTH_URL: authUrl,
    OFFHOOK_ASR_URL: asrUrl,
    OFFHOOK_TTS_URL: ttsUrl,
    OFFHOOK_API_KEY: apiKey,
  };
}

/** The record of the only call of this world. */
async function soleRecord({ dataDir, store }: World, callId: string) {
  await using database = await openDatabase({
    url: undefined,
    ...store,
    dataDir,
    clock: systemClock,
    onProblem: () => undefined,
  });
  const { calls } = storeOn(database);
  const record = await eventually('its record', () => calls.get('default', callId));
  expect((await calls.search('default', { limit: 10 })).calls).toHaveLength(1);
  return record;
}

const ownerOf = (dataDir: string, callId: string): number =>
  Number(/\d+/u.exec(readFileSync(join(dataDir, 'calls', `${callId}.lease`), 'utf8'))?.[0]);

/** A gateway whose calls are in two media processes, and Twilio, which asks for another document when a stream breaks. */
async function processes(): Promise<World> {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-resuming-'));
  const { child, url } = await startGatewayProcess({ ...environment(dataDir), OFFHOOK_CALL__PROCESSES: '2' });
  const authToken = readDevSecret(dataDir, 'twilio', 'authToken').reveal();
  const call = new SimulatedCall({ url, authToken, clock: systemClock });
  return {
    dataDir,
    connect: () => call.connect(),
    line: () => call.stream,
    ended: () => call.ended,
    kill: (callId) => void process.kill(ownerOf(dataDir, callId), 'SIGKILL'),
    async close() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** Two gateways on one data folder, behind one public address, and Telnyx, which reports that a stream has ended. */
async function gateways(): Promise<World> {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-resuming-'));
  const api = await new SimulatedTelnyxApi().listen();
  const account = {
    OFFHOOK_TELNYX_PUBLIC_KEY: SimulatedTelnyxApi.publicKey,
    OFFHOOK_TELNYX_API_KEY: api.apiKey,
    OFFHOOK_TELNYX_API_URL: api.url,
  };
  const first = await startGatewayProcess({ ...environment(dataDir), ...account });
  const second = await startGatewayProcess({ ...environment(dataDir), ...account, OFFHOOK_PUBLIC_URL: first.url });
  const reached = { url: first.url, connectTo: first.url };
  const call = new SimulatedTelnyxCall({
    clock: systemClock,
    sign: api.sign,
    webhookUrl: `${first.url}/carriers/telnyx/voice`,
    reached,
    direction: 'incoming',
    from: '+447700900000',
    to: '+442079460000',
  });
  api.register(call);
  const line = (): CarrierLine => call.line;
  return {
    dataDir,
    async connect() {
      await call.tell('call.initiated', { direction: 'incoming', state: 'parked' });
      await call.until(() => call.streams.length > 0);
      return line();
    },
    line,
    ended: () => call.ended,
    kill() {
      reached.connectTo = second.url;
      first.child.kill('SIGKILL');
    },
    async close() {
      second.child.kill('SIGTERM');
      await once(second.child, 'exit');
      await api[Symbol.asyncDispose]();
    },
  };
}

const redisServer = requireTool('redis-server');
const postgresServer = requireTool('postgres');

/** Two machines with data folders of their own behind one public address, and Twilio. @param isEmptied Redis loses everything, and is told it again, before the kill */
async function machines(isEmptied: boolean): Promise<World> {
  const [redis, postgres] = await Promise.all([startRedis(redisServer ?? ''), startPostgres(postgresServer ?? '')]);
  const masterKey = Buffer.alloc(32, 'resuming').toString('base64');
  const port = await freePort();
  const authToken = 'resuming-test-token';
  const [dataDir, otherDir] = ['', ''].map(() => mkdtempSync(join(tmpdir(), 'offhook-resuming-'))) as [string, string];
  const start = async (folder: string, ownPort: number): ReturnType<typeof startGatewayProcess> =>
    startGatewayProcess({
      ...environment(folder),
      OFFHOOK_PORT: String(ownPort),
      OFFHOOK_PUBLIC_URL: `http://127.0.0.1:${port}`,
      OFFHOOK_TWILIO_AUTH_TOKEN: authToken,
      OFFHOOK_MASTER_KEY: masterKey,
      OFFHOOK_CLUSTER__ADDRESS: `http://127.0.0.1:${await freePort()}`,
      REDIS_URL: redis.url,
      DATABASE_URL: postgres.url,
    });
  const first = await start(dataDir, port);
  const second = await start(otherDir, 0);
  let reached = first.url;
  const call = new SimulatedCall({
    url: first.url,
    get connectTo() {
      return reached;
    },
    authToken,
    clock: systemClock,
  });
  return {
    dataDir,
    store: { url: postgres.url, masterKeys: [new Secret(masterKey)] },
    gaps: ['on-another-machine', 'process-died'],
    connect: () => call.connect(),
    line: () => call.stream,
    ended: () => call.ended,
    async kill() {
      if (isEmptied) {
        const client = new Redis(redis.url);
        const fields = async (key: string): Promise<string[]> =>
          (await client.type(key)) === 'hash' ? (await client.hkeys(key)).map((field) => `${key} ${field}`) : [key];
        const written = async (): Promise<string[]> =>
          (await Promise.all((await client.keys('{offhook:gateway}:*')).map(fields))).flat();
        const before = await written();
        await client.flushall();
        await eventually('everything in Redis again', async () => {
          const now = new Set(await written());
          return before.every((key) => now.has(key));
        });
        client.disconnect();
      }
      reached = second.url;
      first.child.kill('SIGKILL');
    },
    async close() {
      second.child.kill('SIGTERM');
      await once(second.child, 'exit');
      await Promise.all([redis[Symbol.asyncDispose](), postgres[Symbol.asyncDispose]()]);
      rmSync(otherDir, { recursive: true, force: true });
    },
  };
}

describe.each(
  [
    { note: 'in another media process, over Twilio', start: processes },
    { note: 'in a gateway beside it on the same data folder, over Telnyx', start: gateways },
    { note: 'at another machine after Redis was emptied, over Twilio', start: () => machines(true), isCluster: true },
    // The same without that; each gateway is a process of seconds of processor time.
    ...thorough([], [{ note: 'at another machine with its own data folder', start: () => machines(false), isCluster: true }]),
  ].filter(({ isCluster }) => isCluster !== true || (redisServer !== undefined && postgresServer !== undefined)),
)('a call whose process is killed goes on $note', ({ start }) => {
  it('says once that the caller was lost, repeats the open question, keeps the slots, and has one recording with the gap', async () => {
    const world = await start();
    const { dataDir } = world;
    onTestFinished(async () => {
      await world.close();
      rmSync(dataDir, { recursive: true, force: true });
    });
    const first = await world.connect();
    const callId =
      readdirSync(join(dataDir, 'calls'))
        .find((name) => name.endsWith('.lease'))
        ?.replace('.lease', '') ?? '';
    const heardMs = ({ buffer }: typeof first): number => soundMs(buffer.heard) + EDGES_MS;
    await eventually('the first question', () => heardMs(first) >= lengthMs(FIRST));
    await eventually('its end', () => rmsLevelDb(first.buffer.heard.slice(-1_600)) < -45);
    first.say(sayTones(['alpha'], 8_000));
    await eventually('the middle of the second question', () => heardMs(first) >= lengthMs(FIRST, BEFORE) + 500);
    await world.kill(callId);
    let isOver = false;
    void world.ended().then(() => (isOver = true));
    await eventually('speech again', () => {
      expect(isOver, 'the call is over').toBe(false);
      return world.line() !== first && soundMs(world.line().buffer.heard) > 0;
    });
    const second = world.line();
    await eventually('the question again', () => heardMs(second) >= lengthMs(LOST, QUESTION));
    await eventually('its end', () => rmsLevelDb(second.buffer.heard.slice(-1_600)) < -45);
    second.say(sayTones(['bravo'], 8_000));
    await world.ended();
    expect(world.line()).toBe(second);
    // Each of them once.
    expect(Math.abs(soundMs(second.buffer.heard) - lengthMs(LOST, QUESTION, GOODBYE))).toBeLessThan(3 * EDGES_MS);

    const record = await soleRecord(world, callId);
    expect(record.endReason).toBe('ordered');
    expect(record.variables).toMatchObject({ dish: 'alpha', drink: 'bravo' });
    expect(record.turns.map(({ callerText }) => callerText)).toEqual(['', 'alpha', 'bravo']);
    expect(record.turns[1]?.botText).toBe(`${BEFORE} ${LOST} ${QUESTION}`);
    expect(record.attachments).toHaveLength(2);
    const resumed = record.timeline.filter(({ type }) => type === 'resumed');
    expect(resumed).toHaveLength(1);
    const { samples, rateHz } = parseWav(readFileSync(record.recordingPath ?? ''));
    const sidecar: unknown = JSON.parse(readFileSync(record.recordingSidecarPath ?? '', 'utf8'));
    expect(sidecar).toMatchObject({ gaps: (world.gaps ?? ['process-died']).map((reason) => ({ reason })) });
    // All of the call is in it, to the second.
    const recordedMs = ((samples[0]?.length ?? 0) * 1000) / rateHz;
    expect(Math.abs(recordedMs - (record.summary['durationMs'] ?? 0))).toBeLessThan(1_000);
  });
});
