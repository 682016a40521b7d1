import { request } from 'node:http';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Secret } from '../../../src/config/secrets.ts';
import type { BoardParts } from '../../../src/http/admin/queue-board.ts';
import { ALL_QUEUES } from '../../../src/records/queue/catalog.ts';
import type { JobQueue } from '../../../src/records/queue/port.ts';
import { openQueue } from '../../../src/records/queue/bull-queue.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { OffhookError } from '../../../src/kernel/errors.ts';
import type { Database } from '../../../src/records/database.ts';
import { type TestDatabases, embeddedDatabases, onProblem, temporaryFolder } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { requireTool } from '../../support/requires.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { HANGS_MS } from '../../support/patience.ts';

const PASSWORD = 'correct horse battery';
const WORDS = 'my mother is ill';
const NUMBER = '+919812345678';
const JOB = 'j.post-call%3Adefault%3Acall_1%3A1';
const REASON = 'OFFHOOK_TEST_SAID: … cannot be read, nor [phone]';

class SaidError extends OffhookError {
  readonly code = 'OFFHOOK_TEST_SAID';
  readonly retryable = false;
}

const basic = (password = PASSWORD, user = 'admin') => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});
const shownQueues = z.object({
  queues: z.array(
    z.looseObject({
      name: z.string(),
      counts: z.record(z.string(), z.int()),
      readOnlyMode: z.boolean(),
      jobs: z.array(z.looseObject({ id: z.string(), data: z.unknown(), failedReason: z.string().optional() })),
    }),
  ),
});

let databases: TestDatabases;
let database: Database;
let queue: JobQueue;
let gateway: Gateway;

const boardOn = (jobs: BoardParts['queue'] = queue) => ({ password: new Secret(PASSWORD), queue: jobs });
const ask = (path = '', headers: Record<string, string> = basic(), method = 'GET', url = gateway.url) =>
  fetch(`${url}/admin/queues${path}`, { method, headers });

/** The status under another name of the host; `fetch` sets its own. */
function statusAt(url: string, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/admin/queues`, { headers: { host, ...basic() } }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    });
    asked.once('error', reject).end();
  });
}

beforeAll(async () => {
  databases = await embeddedDatabases();
  database = await databases.open();
  queue = openQueue({ redisUrl: undefined, database, clock: systemClock, onProblem });
  const call = { tenantId: 'default', callId: 'call_1', said: WORDS, from: NUMBER };
  await queue.enqueue('post-call', 'post-call:default:call_1:1', call);
  const work = queue.work('post-call', async () => {
    throw new SaidError(`"${WORDS}" cannot be read, nor ${NUMBER}`);
  });
  await eventually('the job to fail', async () => (await queue.counts('post-call')).failed === 1);
  await work.stop();
  await queue.enqueue('webhooks', 'default:whd_1', { tenantId: 'default', id: 'whd_1' });
  gateway = await startGateway({ board: boardOn() });
});

afterAll(async () => {
  await gateway?.app.close();
  await queue?.close();
  await database?.close();
  await databases?.[Symbol.asyncDispose]();
});

describe('the queue dashboard', () => {
  it('is not there without a password', async () => {
    await using bare = await startGateway();
    expect((await ask('', basic(), 'GET', bare.url)).status).toBe(404);
  });

  it('shows every queue with its counts, for reading', async () => {
    const { queues } = shownQueues.parse(await (await ask('/api/queues')).json());
    expect(queues.map(({ name }) => name)).toEqual([...ALL_QUEUES]);
    expect(queues.every(({ readOnlyMode }) => readOnlyMode)).toBe(true);
    expect(queues.find(({ name }) => name === 'post-call')?.counts).toMatchObject({ failed: 1, waiting: 0 });
    expect(queues.find(({ name }) => name === 'webhooks')?.counts).toMatchObject({ failed: 0, waiting: 1 });
  });

  it('shows jobs without what was said, and numbers hidden', async () => {
    const list = await (await ask('/api/queues?activeQueue=post-call&status=failed')).text();
    const one = await (await ask(`/api/queues/post-call/${encodeURIComponent(JOB)}`)).text();
    const logs = await (await ask(`/api/queues/post-call/${encodeURIComponent(JOB)}/logs`)).text();
    const flow = await (await ask(`/api/queues/post-call/${encodeURIComponent(JOB)}/flow`)).text();
    for (const text of [list, one, logs, flow]) {
      expect(text).not.toContain(WORDS);
      expect(text).not.toContain(NUMBER.slice(3));
    }
    const [shown] = shownQueues.parse(JSON.parse(list)).queues[0]?.jobs ?? [];
    expect(shown).toMatchObject({ id: JOB, data: { tenantId: 'default', callId: 'call_1' }, failedReason: REASON });
    expect(JSON.parse(one)).toMatchObject({ status: 'failed', job: { failedReason: REASON, stacktrace: [], returnValue: null } });
    expect(JSON.parse(logs)).toEqual([]);
  });

  it.each([
    ['PUT', '/api/queues/post-call/pause'],
    ['PUT', '/api/queues/pause'],
    ['PUT', '/api/queues/post-call/retry/failed'],
    ['PUT', '/api/queues/post-call/obliterate'],
    ['POST', '/api/queues/post-call/add'],
    ['PUT', `/api/queues/post-call/${encodeURIComponent(JOB)}/retry/failed`],
    ['PUT', `/api/queues/post-call/${encodeURIComponent(JOB)}/clean`],
    ['PATCH', `/api/queues/post-call/${encodeURIComponent(JOB)}/update-data`],
  ])('has no way to change anything: %s %s', async (method, path) => {
    expect((await ask(path, basic(), method)).status).toBe(404);
    expect(await queue.counts('post-call')).toMatchObject({ failed: 1, waiting: 0 });
  });

  it.each([
    ['nothing', {}],
    ['another password', basic(`${PASSWORD}!`)],
    ['another user', basic(PASSWORD, 'root')],
    ['no user', { authorization: `Basic ${Buffer.from(PASSWORD).toString('base64')}` }],
    ['another scheme', { authorization: `Bearer ${PASSWORD}` }],
  ])('asks who comes with %s for the password, at every address', async (_what, headers) => {
    await using own = await startGateway({ board: boardOn() });
    for (const path of ['', '/api/queues', '/static/favicon-32x32.png']) {
      const answer = await ask(path, headers, 'GET', own.url);
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Basic realm=/);
      expect(await answer.text()).not.toContain('post-call');
    }
  });

  it('takes five wrong passwords, then none at all until some time has passed', async () => {
    await using own = await startGateway({ board: boardOn() });
    const tried = async (password: string) => (await ask('', basic(password), 'GET', own.url)).status;
    for (let n = 0; n < 5; n += 1) expect(await tried(`guess ${n}`)).toBe(401);
    const refused = await ask('', basic(), 'GET', own.url);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
    own.clock.advance(10_000);
    expect(await tried(PASSWORD)).toBe(200);
    const warnings = own.lines.filter((line) => line.includes('wrong admin password'));
    expect(warnings).toHaveLength(5);
    expect(own.lines.join('')).not.toMatch(/guess \d|127\.0\.0\.1/);
  });

  it('forbids frames, caches, foreign scripts and guessing of types', async () => {
    for (const answer of [await ask(), await ask('/api/queues'), await ask('', {}), await ask('/static/favicon-32x32.png')]) {
      const headers = Object.fromEntries(answer.headers);
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      });
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self';.*frame-ancestors 'none'$/);
      await answer.arrayBuffer();
    }
    expect(await (await ask()).text()).not.toMatch(/https?:/);
  });

  it('asks for the password only where it does not travel in the clear', async () => {
    await using own = await startGateway({ board: boardOn(), env: { OFFHOOK_PUBLIC_URL: 'https://calls.example.com' } });
    await using plain = await startGateway({ board: boardOn(), env: { OFFHOOK_PUBLIC_URL: 'http://calls.example.com' } });
    expect(await statusAt(own.url, 'calls.example.com')).toBe(200);
    expect(await statusAt(own.url, 'localhost:8080')).toBe(200);
    expect(await statusAt(own.url, 'calls.example.com:8080')).toBe(403);
    expect(await statusAt(own.url, '10.0.0.7')).toBe(403);
    expect(await statusAt(own.url, 'localhost.example.com')).toBe(403);
    expect(await statusAt(plain.url, 'calls.example.com')).toBe(403);
  });

  it('answers with 503 when the queue says nothing', async () => {
    let isAsked = false;
    const silent: BoardParts['queue'] = {
      async shown(name, purpose) {
        const getJobCounts = (): Promise<never> => {
          isAsked = true;
          return new Promise(() => {});
        };
        return Object.assign(await queue.shown(name, purpose), { getJobCounts });
      },
    };
    await using own = await startGateway({ board: boardOn(silent) });
    const answer = ask('/api/queues', basic(), 'GET', own.url);
    await eventually('the queue to be asked', () => isAsked);
    own.clock.advance(10_000);
    expect((await answer).status).toBe(503);
  });

  it('keeps the texts of errors to itself', async () => {
    const broken: BoardParts['queue'] = {
      async shown(name, purpose) {
        const getJobCounts = (): Promise<never> => Promise.reject(new Error(`password of redis is ${WORDS}`));
        return Object.assign(await queue.shown(name, purpose), { getJobCounts });
      },
    };
    await using own = await startGateway({ board: boardOn(broken) });
    const answer = await ask('/api/queues', basic(), 'GET', own.url);
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain(WORDS);
    expect(own.lines.some((line) => line.includes('queue dashboard failed'))).toBe(true);
  });
});

const browserProgram = requireTool('chromium');

describe('the queue dashboard in a browser', () => {
  it.runIf(browserProgram !== undefined)('shows queues and a failed job, and asks nobody else for anything', async () => {
    await using folder = await temporaryFolder();
    const browser = await chromium.launch({ executablePath: browserProgram ?? '' });
    try {
      const page = await browser.newPage({
        httpCredentials: { username: 'admin', password: PASSWORD },
        viewport: { width: 1200, height: 800 },
      });
      const asked: string[] = [];
      const complaints: string[] = [];
      page.on('request', (each) => asked.push(each.url()));
      page.on('console', (line) => line.type() === 'error' && complaints.push(line.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      const pictures = process.env['OFFHOOK_TEST_PICTURES'] ?? folder.path;
      await page.goto(`${gateway.url}/admin/queues`);
      for (const name of ALL_QUEUES) await page.getByRole('link', { name }).first().waitFor({ timeout: HANGS_MS });
      await page.screenshot({ path: join(pictures, 'queues.png') });
      await page.goto(`${gateway.url}/admin/queues/queue/post-call?status=failed`);
      await page.getByText('post-call:default:call_1:1').first().waitFor({ timeout: HANGS_MS });
      const picture = await page.screenshot({ path: join(pictures, 'failed-job.png') });
      expect(picture.byteLength).toBeGreaterThan(10_000);
      const text = await page.content();
      expect(text).toContain('[phone]');
      expect(text).not.toContain(WORDS);
      expect(await page.getByRole('button', { name: /retry|pause|clean|add job|obliterate/i }).count()).toBe(0);
      expect(asked.filter((url) => !url.startsWith(`${gateway.url}/admin/queues`))).toEqual([]);
      expect(complaints).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
