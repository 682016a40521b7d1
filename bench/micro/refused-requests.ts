import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
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

// What a refused request costs the gateway: processor time of its process, and the longest time its event loop stood.
// `npm run bench -- micro/refused-requests` prints a table.

const FORM = 'application/x-www-form-urlencoded';
const WRONG = 'AAAAAAAAAAAAAAAAAAAAAAAAAAA=';
const names = (count: number): string => Array.from({ length: count }, (_, at) => `f${at}`).join('&');

interface Kind {
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
const form = (body: string, headers: Record<string, string> = signed): Kind => ({ method: 'POST', path: voice, headers, body });
const kinds: Readonly<Record<string, Kind>> = {
  'form of 12,000 fields': form(names(12_000).slice(0, 65_000)),
  'form of 150 fields, 30 KB': form(`${names(149)}&x=${'y'.repeat(30_000)}`),
  'form of 64 KB': form(`a=${'y'.repeat(65_000)}`),
  "the carrier's form": form(`${names(30)}&CallSid=CA1&From=%2B1555&To=%2B1555`),
  'query of 12 KB': { ...form('a=1'), path: `${voice}?${names(2500).slice(0, 12_000)}` },
  'no signature, 64 KB': form(`a=${'y'.repeat(65_000)}`, { 'content-type': FORM }),
  'upgrade with a forged token': {
    path: `/carriers/twilio/stream/${token}`,
    headers: { ...upgrade, 'x-twilio-signature': WRONG },
  },
  '/secrets/redeem': {
    method: 'POST',
    path: '/secrets/redeem',
    headers: { authorization: 'Bearer guess', 'content-type': 'application/json' },
    body: '{"token":"x"}',
  },
  '/metrics': { path: '/metrics' },
  '/readyz': { path: '/readyz' },
  'no such path': { path: '/nowhere' },
};

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
      process.send?.({ cpuMs: (user + system) / 1000, longestMs: delay.max / 1e6 });
    }
  });
  process.send?.({ url });
}

async function measure(): Promise<void> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), ['serve'], { execArgv: process.execArgv });
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const ask = async ({ method = 'GET', path, headers = {}, body }: Kind): Promise<number> => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const own = 'upgrade' in headers ? false : agent;
    const asked = request(url + path, { method, headers: { ...headers, ...length }, agent: own }).end(body);
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    await once(response.resume(), 'end');
    return response.statusCode ?? 0;
  };
  for (const [name, kind] of Object.entries(kinds)) {
    const count = 300;
    for (let warm = 0; warm < 100; warm += 1) await ask(kind);
    child.send('begin');
    const statuses = new Set<number>();
    for (let at = 0; at < count; at += 1) statuses.add(await ask(kind).catch(() => 0));
    child.send('end');
    const [{ cpuMs, longestMs }] = (await once(child, 'message')) as [{ cpuMs: number; longestMs: number }];
    const answers = [...statuses].join(', ');
    console.log(
      `${name.padEnd(30)} ${(cpuMs / count).toFixed(2).padStart(7)} ms  longest ${longestMs.toFixed(1).padStart(6)} ms  ${answers}`,
    );
  }
  child.kill();
}

await (process.argv[2] === 'serve' ? serve() : measure());
