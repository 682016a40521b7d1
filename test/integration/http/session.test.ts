import { readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Secret } from '../../../src/config/secrets.ts';
import { ApiKeys } from '../../../src/http/api/system/api-keys.ts';
import { ConsoleKey, LINK_LIFE_MS, SignInLinks } from '../../../src/http/session/console-key.ts';
import { type Role, type Session, sessionView } from '../../../src/http/session/session-views.ts';
import { endSessionsOf } from '../../../src/http/session/sessions.ts';
import type { Member, MemberRepository } from '../../../src/records/members.ts';
import { AuditLog } from '../../../src/records/retention/audit-log.ts';
import { AnalysisProfiles } from '../../../src/records/analysis/analysis-profiles.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { openQueue } from '../../../src/records/queue/bull-queue.ts';
import { type Database, storeOn } from '../../../src/records/database.ts';
import { diskObjects } from '../../../src/records/objects/disk.ts';
import { Recordings, Uploads } from '../../../src/records/objects/recordings.ts';
import { embeddedDatabases, onProblem, type TestDatabases, temporaryFolder } from '../../support/databases.ts';
import { type GatewayOptions, openStream, startGateway } from './gateway.ts';

const PASSWORD = 'correct horse battery';

let databases: TestDatabases;
let database: Database;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let api: NonNullable<GatewayOptions['api']>;

beforeAll(async () => {
  databases = await embeddedDatabases();
  database = await databases.open();
});
afterAll(async () => {
  await database?.close();
  await databases?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  folder = await temporaryFolder();
  const store = storeOn(database);
  const objects = diskObjects(join(folder.path, 'objects'));
  api = {
    keys: new ApiKeys(join(folder.path, 'api-keys.json')),
    store,
    queue: openQueue({ redisUrl: undefined, database, clock: systemClock, onProblem }),
    recordings: new Recordings(store, objects),
    uploads: new Uploads(store, objects),
    profiles: AnalysisProfiles.plain(),
    uploadFolder: join(folder.path, 'uploads'),
    clock: systemClock,
    audit: new AuditLog(join(folder.path, 'audit.jsonl'), () => systemClock.wallMs()),
  };
  return () => folder[Symbol.asyncDispose]();
});

/** A gateway with the console on the test's data folder. */
async function start({
  password,
  env = {},
  members,
}: { password?: string; env?: Record<string, string>; members?: Pick<MemberRepository, 'get'> } = {}) {
  const gateway = await startGateway({
    api,
    env,
    console: {
      key: ConsoleKey.ensure(folder.path),
      links: new SignInLinks(folder.path),
      members,
      password: password === undefined ? undefined : new Secret(password),
      audit: new AuditLog(join(folder.path, 'audit.jsonl'), () => gateway.clock.wallMs()),
    },
  });
  return gateway;
}
type Gateway = Awaited<ReturnType<typeof start>>;

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}

/** `fetch` sets its own Host, keeps cookies from us and cleans paths. */
function ask(
  gateway: Gateway,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: unknown,
): Promise<Answer> {
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const asked = request(gateway.url, { method, path, headers: { ...json, ...headers }, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => void (text += part));
      response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    asked.once('error', reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const cookieOf = ({ headers }: Answer): string => [headers['set-cookie']].flat()[0] ?? '';
const viewOf = ({ text }: Answer): Session => sessionView.parse(JSON.parse(text));
const detailOf = ({ text }: Answer): string => JSON.parse(text).detail;

async function signIn(gateway: Gateway, role: Role = 'admin') {
  const code = new SignInLinks(folder.path).make({ name: 'asha', role }, gateway.clock.wallMs());
  const answer = await ask(gateway, 'POST', '/api/session/link', {}, { code });
  expect(answer.status).toBe(200);
  const cookie = cookieOf(answer).split(';')[0] ?? '';
  return { cookie, csrf: viewOf(answer).csrf ?? '', answer };
}

const audited = async () =>
  (await readFile(join(folder.path, 'audit.jsonl'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('the page', () => {
  it('forbids everything but its own files, with another style nonce each time', async () => {
    await using gateway = await start();
    const nonces = new Set<string>();
    for (const path of ['/console', '/console/', '/console/calls/call_1?from=x', '/console/live']) {
      const { status, headers, text } = await ask(gateway, 'GET', path);
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'permissions-policy': expect.stringContaining('microphone=(self)'),
        'x-frame-options': 'DENY',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
      });
      const [, nonce = ''] = /name="style-nonce" content="([^"]+)"/u.exec(text) ?? [];
      expect(headers['content-security-policy']).toBe(
        `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; font-src 'self'; ` +
          "connect-src 'self'; media-src 'self' blob:; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      );
      expect(Buffer.from(nonce, 'base64')).toHaveLength(16);
      nonces.add(nonce);
    }
    expect(nonces.size).toBe(4);
  });

  it('sends its files compressed, to be kept for ever', async () => {
    await using gateway = await start();
    const { text } = await ask(gateway, 'GET', '/console');
    const [script = ''] = /\/console\/assets\/[^"]+\.js/u.exec(text) ?? [];
    const plain = await ask(gateway, 'GET', script);
    expect(plain).toMatchObject({ status: 200, headers: { 'x-content-type-options': 'nosniff' } });
    expect(plain.headers['content-type']).toContain('javascript');
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    for (const coding of ['br', 'gzip']) {
      const { headers } = await ask(gateway, 'GET', script, { 'accept-encoding': coding });
      expect(headers).toMatchObject({ 'content-encoding': coding, vary: 'accept-encoding' });
      expect(Number(headers['content-length'])).toBeLessThan(Number(plain.headers['content-length']) / 2);
    }
  });

  it.each([
    '/console/assets/../index.html',
    '/console/assets/..%2findex.html',
    '/console/assets/%2e%2e%2f%2e%2e%2fmain.js',
    '/console/assets/..%5c..%5cmain.js',
    '/console/assets/%2fetc%2fpasswd',
    '/console/assets/.htaccess',
    '/console/assets/nothing-there.js',
    '/console/assets/%00.js',
  ])('serves no file but its own: %s', async (path) => {
    await using gateway = await start();
    const { status, text } = await ask(gateway, 'GET', path);
    // A path that browsers would clean names the page itself.
    if (status === 200) expect(text).toContain('<div id="root">');
    else expect([400, 404]).toContain(status);
    expect(text).not.toMatch(/import |root:/u);
  });

  it('says how to build it where it is not built', async () => {
    const { fastify } = await import('fastify');
    const { consolePage } = await import('../../../src/http/session/console-page.ts');
    const app = fastify();
    await app.register(async (scope) => consolePage(scope, { publicUrl: undefined, folder: join(folder.path, 'none') }));
    const answer = await app.inject({ url: '/console', headers: { host: 'localhost' } });
    expect(answer.statusCode).toBe(503);
    expect(answer.body).toContain('npm run build');
    await app.close();
  });

  it('is not shown where a password would be read on the way', async () => {
    await using gateway = await start({ env: { OFFHOOK_PUBLIC_URL: 'https://calls.example.com' } });
    const statusAt = async (host: string, path: string) => (await ask(gateway, 'GET', path, { host })).status;
    for (const path of ['/console', '/api/session']) {
      expect(await statusAt('calls.example.com', path)).toBe(200);
      expect(await statusAt('localhost:8080', path)).toBe(200);
      expect(await statusAt('192.168.1.7:8080', path)).toBe(403);
      expect(await statusAt('evil.example.com', path)).toBe(403);
    }
  });

  it('is not there when it is turned off', async () => {
    await using gateway = await startGateway({ api });
    for (const path of ['/console', '/api/session']) expect((await fetch(gateway.url + path)).status).toBe(404);
  });
});

describe('signing in', () => {
  it('opens a session by the password, in a cookie that no script reads', async () => {
    await using gateway = await start({ password: PASSWORD });
    expect(viewOf(await ask(gateway, 'GET', '/api/session'))).toMatchObject({
      user: null,
      scopes: [],
      csrf: null,
      ways: ['password', 'link'],
    });
    const answer = await ask(gateway, 'POST', '/api/session', {}, { password: PASSWORD });
    expect(viewOf(answer)).toMatchObject({ user: { name: 'admin', role: 'admin' } });
    expect(cookieOf(answer)).toMatch(/^offhook_session=[\w.-]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/u);
    const [cookie = ''] = cookieOf(answer).split(';');
    const seen = viewOf(await ask(gateway, 'GET', '/api/session', { cookie }));
    expect(seen).toEqual(viewOf(answer));
    expect(cookie).not.toContain(seen.csrf);
    expect((await ask(gateway, 'GET', '/api/calls', { cookie })).status).toBe(200);
    expect(await audited()).toMatchObject([
      { by: 'console admin', action: 'session.sign-in', subject: 'password', outcome: 'done' },
    ]);
  });

  it('keeps the cookie to https off loopback', async () => {
    await using gateway = await start({ password: PASSWORD, env: { OFFHOOK_PUBLIC_URL: 'https://calls.example.com' } });
    const headers = { host: 'calls.example.com', origin: 'https://calls.example.com' };
    const answer = await ask(gateway, 'POST', '/api/session', headers, { password: PASSWORD });
    expect(cookieOf(answer)).toMatch(/; HttpOnly; Secure; SameSite=Lax$/u);
    const proxied = { host: '127.0.0.1:8080', origin: 'https://calls.example.com', 'x-forwarded-proto': 'https' };
    expect(cookieOf(await ask(gateway, 'POST', '/api/session', proxied, { password: PASSWORD }))).toContain('; Secure;');
  });

  it('takes five wrong passwords of an address, then none until some time has passed', async () => {
    await using gateway = await start({ password: PASSWORD });
    const tried = (password: string) => ask(gateway, 'POST', '/api/session', {}, { password });
    for (let n = 0; n < 5; n += 1) expect((await tried(`guess ${n}`)).status).toBe(401);
    const refused = await tried(PASSWORD);
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '10']);
    // Nor does it matter to who has a link.
    await signIn(gateway);
    gateway.clock.advance(10_000);
    expect((await tried(PASSWORD)).status).toBe(200);
    const outcomes = (await audited()).map(({ outcome, subject }) => `${outcome} ${subject}`);
    expect(outcomes).toEqual([...Array(5).fill('refused password'), 'done link', 'done password']);
    expect(gateway.lines.join('')).not.toMatch(/guess \d|127\.0\.0\.1|correct horse/u);
  });

  it('takes a link once, also after a restart, and not for ever', async () => {
    let code = '';
    {
      await using gateway = await start();
      code = new SignInLinks(folder.path).make({ name: 'asha', role: 'viewer' }, gateway.clock.wallMs());
      const both = await Promise.all([1, 2, 3].map(() => ask(gateway, 'POST', '/api/session/link', {}, { code })));
      expect(both.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 401, 401]);
    }
    await using gateway = await start();
    const again = await ask(gateway, 'POST', '/api/session/link', {}, { code });
    expect([again.status, detailOf(again)]).toEqual([401, expect.stringContaining('run: offhook console')]);
    const late = new SignInLinks(folder.path).make({ name: 'asha', role: 'viewer' }, gateway.clock.wallMs());
    gateway.clock.advance(LINK_LIFE_MS + 1000);
    expect((await ask(gateway, 'POST', '/api/session/link', {}, { code: late })).status).toBe(401);
  });

  it('signs a member in as they are when their link is used, and nobody after they were removed', async () => {
    const asha: Member = { id: 'mem_1', name: 'asha', role: 'viewer', createdBy: 'console admin', createdAtMs: 0 };
    const kept = new Map([[asha.id, asha]]);
    await using gateway = await start({ members: { get: async (_tenant, id) => kept.get(id) } });
    const link = () => new SignInLinks(folder.path).make({ ...asha, member: asha.id }, gateway.clock.wallMs());
    const [first, second] = [link(), link()];
    kept.set(asha.id, { ...asha, role: 'operator' });
    const signedIn = await ask(gateway, 'POST', '/api/session/link', {}, { code: first });
    expect(viewOf(signedIn).user).toEqual({ name: 'asha', role: 'operator' });
    const cookie = cookieOf(signedIn).split(';')[0] ?? '';
    expect((await ask(gateway, 'GET', '/api/calls', { cookie })).status).toBe(200);
    kept.clear();
    await endSessionsOf(ConsoleKey.ensure(folder.path), 'asha', gateway.clock.wallMs());
    expect((await ask(gateway, 'GET', '/api/calls', { cookie })).status).toBe(401);
    expect((await ask(gateway, 'POST', '/api/session/link', {}, { code: second })).status).toBe(401);
  });

  it('believes no link and no session of another data folder', async () => {
    await using gateway = await start();
    await using other = await temporaryFolder();
    const foreign = new SignInLinks(other.path).make({ name: 'eve', role: 'admin' }, gateway.clock.wallMs());
    expect((await ask(gateway, 'POST', '/api/session/link', {}, { code: foreign })).status).toBe(401);
    const times = { nowMs: gateway.clock.wallMs(), lifeMs: LINK_LIFE_MS };
    const claims = { sub: 'eve', role: 'admin', csrf: 'x' };
    const sealed = await ConsoleKey.ensure(other.path).seal('session', claims, times);
    expect((await ask(gateway, 'GET', '/api/calls', { cookie: `offhook_session=${sealed}` })).status).toBe(401);
    const ofAnotherKind = await ConsoleKey.ensure(folder.path).seal('openid', claims, times);
    expect((await ask(gateway, 'GET', '/api/calls', { cookie: `offhook_session=${ofAnotherKind}` })).status).toBe(401);
  });

  it('has no password to guess where none is set', async () => {
    await using gateway = await start();
    expect((await ask(gateway, 'POST', '/api/session', {}, { password: '' })).status).toBe(400);
    expect((await ask(gateway, 'POST', '/api/session', {}, { password: 'x' })).status).toBe(403);
  });

  it('is refused to a page of another site', async () => {
    await using gateway = await start({ password: PASSWORD });
    for (const origin of ['https://evil.example.com', 'http://localhost:1', 'null'])
      expect((await ask(gateway, 'POST', '/api/session', { origin }, { password: PASSWORD })).status).toBe(403);
    expect((await ask(gateway, 'POST', '/api/session', { origin: gateway.url }, { password: PASSWORD })).status).toBe(200);
  });

  it('keeps the key to its owner', async () => {
    await using gateway = await start();
    await signIn(gateway);
    const path = join(folder.path, 'console', 'key');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder.path, 'console')).mode & 0o777).toBe(0o700);
    expect(Buffer.from(readFileSync(path, 'utf8'), 'base64')).toHaveLength(32);
  });
});

describe('a session', () => {
  it('may do what its role may, and no more', async () => {
    await using gateway = await start();
    const statuses = async (role: Role) => {
      const { cookie, csrf } = await signIn(gateway, role);
      const headers = { cookie, 'x-csrf-token': csrf };
      const asked = [
        await ask(gateway, 'GET', '/api/calls', headers),
        await ask(gateway, 'GET', '/api/calls/call_none/audio', headers),
        await ask(gateway, 'POST', '/api/jobs/post-call/retry', headers, {}),
      ];
      return asked.map(({ status }) => status);
    };
    expect(await statuses('viewer')).toEqual([200, 403, 403]);
    expect(await statuses('listener')).toEqual([200, 404, 403]);
    expect(await statuses('operator')).toEqual([200, 404, 403]);
    expect(await statuses('admin')).toEqual([200, 404, 202]);
  });

  it('changes nothing without its own token', async () => {
    await using gateway = await start();
    const { cookie, csrf } = await signIn(gateway);
    const other = await signIn(gateway);
    const path = '/api/jobs/post-call/retry';
    const refused = async (headers: Record<string, string>) => {
      const answer = await ask(gateway, 'POST', path, { cookie, ...headers });
      expect(answer.status).toBe(403);
      return detailOf(answer);
    };
    expect(await refused({})).toContain('x-csrf-token');
    expect(await refused({ 'x-csrf-token': '' })).toContain('x-csrf-token');
    expect(await refused({ 'x-csrf-token': other.csrf })).toContain('x-csrf-token');
    expect(await refused({ 'x-csrf-token': csrf, origin: 'https://evil.example.com' })).toContain('Another site');
    expect((await ask(gateway, 'DELETE', '/api/session', { cookie })).status).toBe(403);
    expect((await ask(gateway, 'POST', path, { cookie, 'x-csrf-token': csrf, origin: gateway.url }, {})).status).toBe(202);
  });

  it('opens sockets for its own page alone', async () => {
    await using gateway = await start();
    const { cookie } = await signIn(gateway);
    const url = `${gateway.url.replace('http', 'ws')}/api/calls`;
    const opened = (headers: Record<string, string>) => openStream(url, { cookie, ...headers });
    expect(await opened({})).toBe(403);
    expect(await opened({ origin: 'http://evil.example.com' })).toBe(403);
    expect(await opened({ origin: 'http://localhost:1' })).toBe(403);
    // The gate lets it in, and no socket is served there.
    const own = await opened({ origin: gateway.url });
    expect(own).not.toBe(403);
    if (typeof own !== 'number') own.terminate();
  });

  it('is not asked where a key is sent', async () => {
    await using gateway = await start();
    const { cookie } = await signIn(gateway);
    const { secret } = await api.keys.create({ name: 'k', tenantId: 'default', scopes: ['recordings:read'] }, 0);
    const statusOf = async (authorization: string) => (await ask(gateway, 'GET', '/api/calls', { cookie, authorization })).status;
    expect(await statusOf(`Bearer ${secret}`)).toBe(403);
    expect(await statusOf('Bearer ohk_wrong')).toBe(401);
  });

  it('ends by signing out, for copies of its cookie and after a restart', async () => {
    let headers = { cookie: '', 'x-csrf-token': '' };
    {
      await using gateway = await start();
      const { cookie, csrf } = await signIn(gateway);
      headers = { cookie, 'x-csrf-token': csrf };
      const other = await signIn(gateway);
      const out = await ask(gateway, 'DELETE', '/api/session', headers);
      expect([out.status, viewOf(out).user]).toEqual([200, null]);
      expect(cookieOf(out)).toMatch(/^offhook_session=; Max-Age=0; Path=\//u);
      expect((await ask(gateway, 'GET', '/api/calls', { cookie })).status).toBe(401);
      expect((await ask(gateway, 'GET', '/api/calls', { cookie: other.cookie })).status).toBe(200);
      expect((await audited()).at(-1)).toMatchObject({ by: 'console asha', action: 'session.sign-out', outcome: 'done' });
    }
    await using gateway = await start();
    expect((await ask(gateway, 'GET', '/api/calls', headers)).status).toBe(401);
  });

  it('ends in every browser by signing out everywhere, for one person alone, until the next sign-in', async () => {
    const signInAs = async (gateway: Gateway, name: string) => {
      const code = new SignInLinks(folder.path).make({ name, role: 'viewer' }, gateway.clock.wallMs());
      const answer = await ask(gateway, 'POST', '/api/session/link', {}, { code });
      return { cookie: cookieOf(answer).split(';')[0] ?? '', csrf: viewOf(answer).csrf ?? '' };
    };
    const statuses = async (gateway: Gateway, each: readonly { cookie: string }[]) =>
      Promise.all(each.map(async ({ cookie }) => (await ask(gateway, 'GET', '/api/calls', { cookie })).status));
    let before: { cookie: string }[] = [];
    {
      await using gateway = await start();
      const [one, two, other] = [
        await signInAs(gateway, 'asha'),
        await signInAs(gateway, 'asha'),
        await signInAs(gateway, 'ravi'),
      ];
      expect((await ask(gateway, 'DELETE', '/api/session/everywhere', { cookie: one.cookie })).status).toBe(403);
      before = [one, two, other];
      expect(await statuses(gateway, before)).toEqual([200, 200, 200]);
      const out = await ask(gateway, 'DELETE', '/api/session/everywhere', { cookie: one.cookie, 'x-csrf-token': one.csrf });
      expect([out.status, viewOf(out).user]).toEqual([200, null]);
      expect(cookieOf(out)).toMatch(/^offhook_session=; Max-Age=0; Path=\//u);
      before.push(await signInAs(gateway, 'asha'));
      expect(await statuses(gateway, before)).toEqual([401, 401, 200, 200]);
      expect((await audited()).at(-2)).toMatchObject({ by: 'console asha', action: 'session.sign-out', subject: 'everywhere' });
    }
    await using gateway = await start();
    expect(await statuses(gateway, before)).toEqual([401, 401, 200, 200]);
  });

  it('outlives a restart, and ends with its time or with the password', async () => {
    let cookie = '';
    const statusOn = async (gateway: Gateway) => (await ask(gateway, 'GET', '/api/calls', { cookie })).status;
    {
      await using gateway = await start({ password: PASSWORD });
      const answer = await ask(gateway, 'POST', '/api/session', {}, { password: PASSWORD });
      cookie = cookieOf(answer).split(';')[0] ?? '';
    }
    {
      await using gateway = await start({ password: `${PASSWORD} changed` });
      expect(await statusOn(gateway)).toBe(401);
    }
    await using gateway = await start({ password: PASSWORD });
    expect(await statusOn(gateway)).toBe(200);
    gateway.clock.advance(12 * 3_600_000 - 1000);
    expect(await statusOn(gateway)).toBe(200);
    gateway.clock.advance(2000);
    expect(await statusOn(gateway)).toBe(401);
  });

  it('leaves its looks at personal values in the log, which admins alone read', async () => {
    {
      await using gateway = await start();
      const { cookie } = await signIn(gateway, 'listener');
      for (const path of [
        '/api/calls?number=%2B919812345678',
        '/api/calls?text=secret',
        '/api/calls/call_1',
        '/api/calls/count',
        '/api/campaigns',
      ])
        await ask(gateway, 'GET', path, { cookie });
      expect((await ask(gateway, 'GET', '/api/audit', { cookie })).status).toBe(403);
    }
    await using gateway = await start();
    const { cookie } = await signIn(gateway);
    const listed = async (query: string) => {
      const { text } = await ask(gateway, 'GET', `/api/audit?${query}`, { cookie });
      const page: { events: { by: string; action: string; subject: string }[]; next: string | null } = JSON.parse(text);
      return { ...page, events: page.events.map(({ by, action, subject }) => `${by} ${action} ${subject}`) };
    };
    expect(await listed('')).toEqual({
      // The call is not there, so nobody saw anything.
      events: ['console asha session.sign-in link', 'console asha look /calls', 'console asha session.sign-in link'],
      next: null,
    });
    expect((await listed('kind=look')).events).toEqual(['console asha look /calls']);
    expect((await listed('text=SIGN-IN&limit=1')).next).toEqual(expect.any(String));
    expect((await listed(`cursor=${(await listed('limit=1')).next}`)).events).toHaveLength(2);
    expect(await readFile(join(folder.path, 'audit.jsonl'), 'utf8')).not.toMatch(/9812345678|secret/u);
  });

  it('asks for as much at once as pages do', async () => {
    await using gateway = await start();
    const { cookie } = await signIn(gateway);
    const asked = await Promise.all(Array.from({ length: 100 }, () => ask(gateway, 'GET', '/api/calls?limit=1', { cookie })));
    expect(new Set(asked.map(({ status }) => status))).toEqual(new Set([200]));
  });
});
