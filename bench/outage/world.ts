import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { fromPackage } from '../../src/cli/setup/package-root.ts';
import { startTestPlatform } from '../../test/integration/platform/setup.ts';
import { startCuttableProxy } from '../../test/support/cuttable-proxy.ts';
import { startPostgres } from '../../test/support/postgres-server.ts';
import { eventually } from '../../test/support/eventually.ts';
import { freePort, run } from '../../test/support/processes.ts';
import { startRedis } from '../../test/support/redis-server.ts';
import { S3_CREDENTIALS, startS3 } from '../../test/support/s3-server.ts';

export const AUTH_TOKEN = 'outage-bench-token';
export const QUESTIONS = 5;
const BUCKET = 'recordings';
const START_MS = 120_000;

type Machine = ReturnType<typeof gatewayProcess>;
export type World = Awaited<ReturnType<typeof startWorld>>;

/** Three gateways behind HAProxy, with Redis, PostgreSQL, an S3 stand-in and a speech platform whose words are tones. */
export async function startWorld(
  programs: { readonly redis: string; readonly postgres: string; readonly haproxy: string },
  folder: string,
) {
  /** Closed in turn, the last one first. */
  const closers: (() => Promise<unknown>)[] = [];
  const keep = <Part extends AsyncDisposable>(part: Part): Part => {
    closers.unshift(() => Promise.resolve(part[Symbol.asyncDispose]()));
    return part;
  };
  const postgres = keep(await startPostgres(programs.postgres));
  const s3 = keep(await startS3());
  const speech = keep(await startTestPlatform({ limits: { concurrentPerKey: 1_000, mintsPerMinute: 10_000, sockets: 1_000 } }));
  const redisPort = await freePort();
  const redisFolder = join(folder, 'redis');
  mkdirSync(redisFolder);
  const startRedisServer = async () => await startRedis(programs.redis, redisPort, { keptIn: redisFolder });
  let redis = await startRedisServer();
  closers.unshift(async () => await redis[Symbol.asyncDispose]());
  const bots = join(folder, 'bots');
  mkdirSync(bots);
  writeFileSync(join(bots, 'asker.yaml'), asker());

  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { authUrl, asrUrl, ttsUrl, apiKey } = speech.platform;
  const shared = {
    ...process.env,
    OFFHOOK_PUBLIC_URL: url,
    OFFHOOK_BOTS__FOLDER: bots,
    OFFHOOK_TWILIO_AUTH_TOKEN: AUTH_TOKEN,
    OFFHOOK_MASTER_KEY: Buffer.alloc(32, 'outage').toString('base64'),
    OFFHOOK_AUTH_URL: authUrl,
    OFFHOOK_ASR_URL: asrUrl,
    OFFHOOK_TTS_URL: ttsUrl,
    OFFHOOK_API_KEY: apiKey,
    OFFHOOK_SPEECH__SLOTS_PER_KEY: '1000',
    OFFHOOK_CALL__MAXIMUM: '500',
    // How late the loops of a shared machine are is not what is measured.
    OFFHOOK_CALL__REFUSE_LAG_MS: '60000',
    OFFHOOK_HTTP__PENDING_STREAMS_PER_ADDRESS: '1000',
    OFFHOOK_RECORDINGS__S3_ENDPOINT: s3.url,
    OFFHOOK_RECORDINGS__S3_BUCKET: BUCKET,
    OFFHOOK_RECORDINGS__S3_REGION: S3_CREDENTIALS.region,
    OFFHOOK_S3_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId,
    OFFHOOK_S3_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey,
  };
  // Compiles the program first when it has changed.
  await once(run(process.execPath, [fromPackage('bin/offhook.js'), '--version']).child, 'exit');
  const machines: Machine[] = [];
  for (const name of ['a', 'b', 'c']) {
    const [httpPort, ownPort] = [await freePort(), await freePort()];
    const ways = {
      peers: keep(await startCuttableProxy(ownPort)),
      redis: keep(await startCuttableProxy(redisPort)),
      postgres: keep(await startCuttableProxy(Number(new URL(postgres.url).port))),
    };
    const through = (address: string, way: { readonly port: number }): string => {
      const reached = new URL(address);
      reached.port = String(way.port);
      return reached.href;
    };
    const env = {
      ...shared,
      OFFHOOK_DATA_DIR: join(folder, name),
      OFFHOOK_PORT: String(httpPort),
      OFFHOOK_CLUSTER__ADDRESS: `http://127.0.0.1:${ways.peers.port}`,
      OFFHOOK_CLUSTER__PORT: String(ownPort),
      REDIS_URL: `redis://127.0.0.1:${ways.redis.port}`,
      DATABASE_URL: through(postgres.url, ways.postgres),
    };
    const machine = gatewayProcess(name, `http://127.0.0.1:${httpPort}`, env, join(folder, `${name}.log`), Object.values(ways));
    machines.push(machine);
    closers.unshift(() => machine.kill());
  }
  for (const machine of machines) await machine.start();
  const config = join(folder, 'haproxy.cfg');
  writeFileSync(config, haproxyConfig(port, machines));
  const front = run(programs.haproxy, ['-f', config, '-db']);
  closers.unshift(() => front.stop('SIGKILL'));
  await eventually('HAProxy', () => answers(`${url}/healthz`), START_MS).catch((error: unknown) => {
    throw new Error(`HAProxy did not start: ${front.output()}`, { cause: error });
  });
  return {
    url,
    machines,
    databaseUrl: postgres.url,
    redis: {
      stop: async () => await redis[Symbol.asyncDispose](),
      async start() {
        redis = await startRedisServer();
      },
    },
    postgres,
    hasRecording: (object: string) => [...s3.objects.keys()].some((key) => key.endsWith(object)),
    async [Symbol.asyncDispose]() {
      for (const close of closers) await close();
    },
  };
}

/** One gateway of three: its own data folder, ports, and ways to the others that can be cut. */
function gatewayProcess(
  name: string,
  url: string,
  env: NodeJS.ProcessEnv,
  log: string,
  ways: readonly { cut(): void; mend(): void }[],
) {
  let child: ChildProcess | undefined;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  return {
    name,
    url,
    async start() {
      const output = openSync(log, 'a');
      const starting = spawn(process.execPath, [fromPackage('bin/offhook.js'), 'start'], {
        env,
        stdio: ['ignore', output, output],
      });
      child = starting;
      await eventually(`gateway ${name}; see ${log}`, () => starting.exitCode !== null || answers(`${url}/readyz`), START_MS);
    },
    kill: () => end('SIGKILL'),
    /** It drains, then ends. */
    stop: () => end('SIGTERM'),
    /** Loses Redis, Postgres and what other gateways ask; the carrier still reaches it. */
    cutOff: () => ways.forEach((way) => way.cut()),
    mend: () => ways.forEach((way) => way.mend()),
  };
}

/** That of docker/compose.yaml, with the gateways at these addresses. */
function haproxyConfig(port: number, machines: readonly Machine[]): string {
  const servers = machines.map(({ name, url }) => `    server ${name} ${new URL(url).host}`).join('\n');
  return readFileSync(fromPackage('docker/haproxy.cfg'), 'utf8')
    .replace('bind :8080', `bind 127.0.0.1:${port}`)
    .replaceAll(' resolvers containers init-addr none', '')
    .replaceAll(/^ *server-template .*$/gmu, servers);
}

async function answers(url: string): Promise<boolean> {
  return await fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** A bot that asks for a word so many times, and then says goodbye. */
function asker(): string {
  const names = Array.from({ length: QUESTIONS }, (_, at) => `word${at + 1}`);
  const options = 'options: { alpha: { phrases: [alpha] }, bravo: { phrases: [bravo] } }';
  const slots = names.map((name) => `      ${name}: { kind: choice, ${options} }`);
  const states = names.map(
    (name, at) =>
      `      ${name}: { ask: { slot: ${name}, prompt: 'Please say word ${at + 1}.' }, next: ${names[at + 1] ?? 'done'} }`,
  );
  return `name: asker
default: true
voice: Nisha
dialog:
  kind: flow
  flow:
    start: word1
    slots:
${slots.join('\n')}
    states:
${states.join('\n')}
      done: { say: 'Thank you, goodbye.', hangup: ordered }
`;
}
