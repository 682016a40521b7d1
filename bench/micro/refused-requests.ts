import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { openCarriers } from '../../src/carriers/open-carriers.ts';
import { loadConfig } from '../../src/config/load.ts';
import { createHttpServer } from '../../src/http/server.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { createEvents } from '../../src/observability/events.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { unusedApi } from '../../test/support/api-routes.ts';

// What one request of a stranger costs the gateway: processor time of its process, and the longest time its event loop stood.
// Then what clients cost that ask much and read nothing, beside somebody who asks for /healthz.
// `npm run bench:refused` prints a table.

const FORM = 'application/x-www-form-urlencoded';
const WRONG = 'AAAAAAAAAAAAAAAAAAAAAAAAAAA=';
const names = (count: number): string => Array.from({ length: count }, (_, at) => `f${at}`).join('&');

interface Kind {
  readonly name: string;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

const voice = '/carriers/twilio/voice';
const signed = { 'x-twilio-signature': WRONG, 'content-type': FORM };
const upgrade = {
  connection: 'upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
};
const token = `${'a'.repeat(36)}.${'b'.repeat(180)}.${'c'.repeat(43)}`;
const kinds: readonly Kind[] = [
  { name: 'form of 12,000 fields', method: 'POST', path: voice, headers: signed, body: names(12_000).slice(0, 65_000) },
  {
    name: 'form of 150 fields, 30 KB',
    method: 'POST',
    path: voice,
    headers: signed,
    body: `${names(149)}&x=${'y'.repeat(30_000)}`,
  },
  { name: 'form of 64 KB', method: 'POST', path: voice, headers: signed, body: `a=${'y'.repeat(65_000)}` },
  {
    name: "the carrier's form",
    method: 'POST',
    path: voice,
    headers: signed,
    body: `${names(30)}&CallSid=CA1&From=%2B1555&To=%2B1555`,
  },
  { name: 'query of 12 KB', method: 'POST', path: `${voice}?${names(2500).slice(0, 12_000)}`, headers: signed, body: 'a=1' },
  {
    name: 'no signature, 64 KB',
    method: 'POST',
    path: voice,
    headers: { 'content-type': FORM },
    body: `a=${'y'.repeat(65_000)}`,
  },
  {
    name: 'upgrade with a forged token',
    path: `/carriers/twilio/stream/${token}`,
    headers: { ...upgrade, 'x-twilio-signature': WRONG },
  },
  {
    name: '/secrets/redeem',
    method: 'POST',
    path: '/secrets/redeem',
    headers: { authorization: 'Bearer guess', 'content-type': 'application/json' },
    body: '{"token":"x"}',
  },
  { name: '/metrics', path: '/metrics' },
  { name: '/readyz', path: '/readyz' },
  { name: 'no such path', path: '/nowhere' },
];

async function serve(): Promise<void> {
  const { settings, carriers } = loadConfig({ env: { OFFHOOK_TWILIO_AUTH_TOKEN: 'the-token-of-the-account' }, files: [] });
  const metrics = createMetrics();
  const logger = createLogger({ level: 'info', stream: { write: () => undefined } });
  const unused = (): never => {
    throw new Error('not asked for');
  };
  const app = createHttpServer({
    settings,
    clock: systemClock,
    logger,
    events: createEvents(logger, metrics, systemClock),
    metrics,
    intake: { answer: unused, attach: unused, abandon: unused, carrierStatus: unused, keyReported: unused, dialReported: unused },
    carriers: openCarriers({ configs: carriers, dataDir: tmpdir(), gatewayUrl: () => '', clock: systemClock, logger }),
    redeem: () => undefined,
    ready: async () => ({ ready: true, parts: {} }),
    api: { ...unusedApi, clock: systemClock },
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  let since = process.cpuUsage();
  process.on('message', (message) => {
    if (message === 'begin') {
      delay.reset();
      delay.enable();
      since = process.cpuUsage();
    } else {
      const { user, system } = process.cpuUsage(since);
      process.send?.({ cpuMs: (user + system) / 1000, longestMs: delay.max / 1e6, rssBytes: process.memoryUsage.rss() });
    }
  });
  process.send?.({ url });
}

async function measure(): Promise<void> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), ['serve'], { execArgv: process.execArgv });
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const ask = (kind: Kind): Promise<number> =>
    new Promise((resolve, reject) => {
      const { method = 'GET', path, headers = {}, body } = kind;
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const asked = request(
        url + path,
        { method, headers: { ...headers, ...length }, agent: 'upgrade' in headers ? false : agent },
        (response) => {
          response
            .resume()
            .on('end', () => resolve(response.statusCode ?? 0))
            .on('error', reject);
        },
      );
      asked.on('error', reject).end(body);
    });
  for (const kind of kinds) {
    const count = 300;
    for (let warm = 0; warm < 100; warm += 1) await ask(kind);
    child.send('begin');
    const statuses = new Map<number, number>();
    for (let at = 0; at < count; at += 1) {
      const status = await ask(kind).catch(() => 0);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    child.send('end');
    const [{ cpuMs, longestMs }] = (await once(child, 'message')) as [{ cpuMs: number; longestMs: number }];
    const answers = [...statuses].map(([status, times]) => `${status} × ${times}`).join(', ');
    console.log(
      `${kind.name.padEnd(30)} ${(cpuMs / count).toFixed(2).padStart(7)} ms  longest ${longestMs.toFixed(1).padStart(6)} ms  ${answers}`,
    );
  }
  for (const path of ['/api', '/api/openapi.json', '/metrics', '/nowhere']) await measureUnread(child, url, path);
  child.kill();
}

const CONNECTIONS = 600;
const PIPELINED = 40;
const UNREAD_FOR_MS = 5_000;
const FREE_AFTER_MS = 10_000;

/** Clients in a process of their own ask for a path and read nothing, while this one asks for `/healthz`. */
async function measureUnread(child: ChildProcess, url: string, path: string): Promise<void> {
  const rssMb = async (): Promise<{ rssMb: number; cpuMs: number; longestMs: number }> => {
    child.send('end');
    const [{ rssBytes, ...more }] = (await once(child, 'message')) as [{ rssBytes: number; cpuMs: number; longestMs: number }];
    return { ...more, rssMb: Math.round(rssBytes / 1024 ** 2) };
  };
  const healthMs = async (): Promise<number> => {
    const sinceMs = performance.now();
    const asked = request(`${url}/healthz`, { agent: false }).end();
    const [response] = (await once(asked, 'response')) as [NodeJS.ReadableStream];
    await once(response.resume(), 'end');
    return performance.now() - sinceMs;
  };
  const before = await rssMb();
  child.send('begin');
  const silent = fork(fileURLToPath(import.meta.url), ['ask', url, path], { execArgv: process.execArgv });
  await once(silent, 'message');
  let [slowestMs, peakMb] = [0, 0];
  for (const untilMs = performance.now() + UNREAD_FOR_MS; performance.now() < untilMs;) {
    slowestMs = Math.max(slowestMs, await healthMs().catch(() => Number.POSITIVE_INFINITY));
    peakMb = Math.max(peakMb, (await rssMb()).rssMb);
  }
  const { cpuMs, longestMs } = await rssMb();
  silent.kill();
  await new Promise((resolve) => setTimeout(resolve, FREE_AFTER_MS));
  const after = await rssMb();
  console.log(
    `${CONNECTIONS} × ${PIPELINED} unread ${path}`.padEnd(36),
    `cpu ${cpuMs.toFixed(0)} ms  longest ${longestMs.toFixed(0)} ms  /healthz at most ${slowestMs.toFixed(0)} ms  `,
    `memory ${before.rssMb} → ${peakMb} MB, ${after.rssMb} MB ${FREE_AFTER_MS / 1000} s after its end`,
  );
}

/** Asks on many connections, says so, and reads nothing until it is killed. */
async function askUnread(url: string, path: string): Promise<void> {
  const { host, hostname, port } = new URL(url);
  const requests = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(PIPELINED);
  for (let at = 0; at < CONNECTIONS; at += 1) {
    const socket = connect(Number(port), hostname).pause();
    socket.on('error', () => undefined);
    socket.once('connect', () => socket.write(requests));
  }
  process.send?.('asking');
}

const [, , part, url = '', path = ''] = process.argv;
await (part === 'serve' ? serve() : part === 'ask' ? askUnread(url, path) : measure());
