import { once } from 'node:events';
import { createServer as createHttp, type IncomingHttpHeaders, type Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AlertWatch, type AlertWatchParts } from '../../../src/alerts/alert-watch.ts';
import type { AlertChannel, AlertRule } from '../../../src/config/alerts.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { NO_FIGURES } from '../../support/no-figures.ts';

/** A mail server that takes every message in, as of RFC 5321. */
function mailServer(mails: string[]): Server {
  return createServer((socket) => {
    let [data, message] = [false, ''];
    socket.write('220 stand-in ESMTP\r\n');
    socket.setEncoding('utf8').on('data', (text: string) => {
      for (const line of text.split(/(?<=\r\n)/u)) {
        if (data && line === '.\r\n') {
          mails.push(message);
          data = false;
          socket.write('250 taken\r\n');
        } else if (data) message += line;
        else if (/^DATA/iu.test(line)) {
          [data, message] = [true, ''];
          socket.write('354 go on\r\n');
        } else if (/^QUIT/iu.test(line)) socket.end('221 bye\r\n');
        else socket.write('250 fine\r\n');
      }
    });
    socket.on('error', () => undefined);
  });
}

interface Posted {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const mails: string[] = [];
const posted: Posted[] = [];
let status = 200;
let mail: Server;
let http: HttpServer;
let channels: readonly AlertChannel[];
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
const portOf = (server: Server | HttpServer): number => (server.address() as AddressInfo).port;

beforeAll(async () => {
  folder = await temporaryFolder();
  mail = mailServer(mails).listen(0, '127.0.0.1');
  http = createHttp((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      posted.push({ path: request.url ?? '', headers: request.headers, body });
      response.writeHead(status).end();
    });
  }).listen(0, '127.0.0.1');
  await Promise.all([once(mail, 'listening'), once(http, 'listening')]);
  const url = `http://127.0.0.1:${portOf(http)}`;
  const open = { allowPrivate: true } as const;
  channels = [
    { ...open, kind: 'webhook', name: 'ops', url: `${url}/ops`, secretEnv: 'S', secret: new Secret('key of the endpoint') },
    { ...open, kind: 'slack', name: 'slack', urlEnv: 'U', url: new Secret(`${url}/slack`) },
    {
      ...open,
      kind: 'mail',
      name: 'desk',
      host: '127.0.0.1',
      port: portOf(mail),
      security: 'none',
      password: undefined,
      from: 'offhook@example.com',
      to: ['desk@example.com'],
    },
  ];
});

afterAll(async () => {
  mail.close();
  http.close();
  await folder[Symbol.asyncDispose]();
});

beforeEach(() => {
  posted.length = 0;
  mails.length = 0;
  status = 200;
});

const SLOW: AlertRule = {
  name: 'Slow replies',
  figure: 'reply-p95-ms',
  above: 2_000,
  windowMinutes: 15,
  severity: 'error',
  coolDownMinutes: 60,
  resolved: true,
};

function watchOf(p95: () => number, more: Partial<AlertWatchParts> = {}, path = 'alerts.json') {
  const clock = new ManualClock();
  const figures = async () => ({
    ...NO_FIGURES,
    calls: 50,
    replies: { replies: 100, p50Ms: 500, p90Ms: 900, p95Ms: p95(), p99Ms: 4_000 },
  });
  const statistics = { figures, interruptions: async () => ({ replies: 0, brokenOff: 0 }), spentSince: async () => [] };
  const sources = { statistics, problems: async () => [], tenants: () => ['default'] };
  const alerts = { channels, rules: [SLOW] };
  const parts = { alerts, sources, isInCharge: async () => true, path: join(folder.path, path), clock, logger: silentLogger };
  return { clock, watch: new AlertWatch({ ...parts, ...more }) };
}

describe('alerts', () => {
  it('tell each channel once that a rule fires, and once that it is over', async () => {
    let p95 = 3_000;
    const { watch } = watchOf(() => p95);
    await watch.look();
    await watch.look();
    expect(posted.map(({ path }) => path).sort()).toEqual(['/ops', '/slack']);
    expect(mails).toHaveLength(1);
    expect(mails[0]).toMatch(/^Subject: Offhook alert: Slow replies\r$/mu);
    expect(mails[0]).toContain('reply-p95-ms is 3000; the threshold is 2000.');
    const hook = posted.find(({ path }) => path === '/ops');
    const { body = '', headers } = hook ?? {};
    const signed = { 'webhook-id': String(headers?.['webhook-id']), 'webhook-signature': String(headers?.['webhook-signature']) };
    const at = String(headers?.['webhook-timestamp']);
    const expected = new Webhook('key of the endpoint', { format: 'raw' }).sign(
      signed['webhook-id'],
      new Date(Number(at) * 1000),
      body,
    );
    expect(signed['webhook-signature']).toBe(expected);
    expect(JSON.parse(body)).toMatchObject({
      type: 'alert.firing',
      data: { rule: 'Slow replies', value: 3_000, threshold: 2_000 },
    });
    expect(JSON.parse(posted.find(({ path }) => path === '/slack')?.body ?? '')).toMatchObject({
      text: expect.stringContaining('Slow replies'),
    });
    p95 = 1_000;
    await watch.look();
    expect(mails[1]).toMatch(/^Subject: Offhook: Slow replies is over\r$/mu);
    expect(watch.rules[0]).toMatchObject({ state: { told: false }, reading: { value: 1_000 } });
    expect(watch.deliveries.map(({ channel, notice, state }) => `${channel} ${notice} ${state}`).sort()).toEqual(
      ['desk', 'ops', 'slack'].flatMap((name) => [`${name} firing delivered`, `${name} resolved delivered`]),
    );
  });

  it('look once a minute, on one machine', async () => {
    let looks = 0;
    const isInCharge = async () => {
      looks += 1;
      return false;
    };
    const { watch, clock } = watchOf(() => 9_000, { isInCharge }, 'one.json');
    await watch.start();
    clock.advance(59_999);
    expect(looks).toBe(0);
    clock.advance(1);
    await watch[Symbol.asyncDispose]();
    expect([looks, posted.length]).toEqual([1, 0]);
  });

  it('try a channel that fails again with the next look, five times', async () => {
    status = 500;
    const { watch } = watchOf(() => 3_000, {}, 'tries.json');
    for (let look = 0; look < 7; look += 1) await watch.look();
    const tries = posted.filter(({ path }) => path === '/ops');
    expect(tries).toHaveLength(5);
    expect(new Set(tries.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    const ofOps = watch.deliveries.find(({ channel }) => channel === 'ops');
    expect(ofOps).toMatchObject({ state: 'failed', tries: 5, reason: 'the endpoint answered 500' });
    expect(mails).toHaveLength(1);
  });

  it('go on after a restart without telling twice', async () => {
    const first = watchOf(() => 3_000, {}, 'restart.json');
    await first.watch.start();
    await first.watch.look();
    await first.watch[Symbol.asyncDispose]();
    const again = watchOf(() => 3_000, {}, 'restart.json');
    await again.watch.start();
    await again.watch.look();
    await again.watch[Symbol.asyncDispose]();
    expect(mails).toHaveLength(1);
    expect(again.watch.deliveries).toHaveLength(3);
  });

  it('send a test to one channel, and say why it failed', async () => {
    const { watch } = watchOf(() => 0, {}, 'test.json');
    expect(await watch.test('desk')).toMatchObject({ channel: 'desk', notice: 'test', state: 'delivered' });
    expect(mails[0]).toMatch(/^Subject: Offhook: a test of this alert channel\r$/mu);
    status = 404;
    expect(await watch.test('slack')).toMatchObject({ state: 'failed', reason: 'the endpoint answered 404' });
    expect(await watch.test('pager')).toBeUndefined();
  });

  it('reach no private address unless the channel allows it', async () => {
    const inside = channels.map((channel): AlertChannel => ({ ...channel, allowPrivate: false }));
    const { watch } = watchOf(() => 0, { alerts: { channels: inside, rules: [] } }, 'private.json');
    for (const { name } of inside) expect((await watch.test(name))?.reason).toMatch(/not public/u);
    expect([posted.length, mails.length]).toEqual([0, 0]);
  });
});
