import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JWTPayload } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { ConsoleKey, SignInLinks } from '../../../src/http/session/console-key.ts';
import { OpenIdSignIn } from '../../../src/http/session/openid.ts';
import { ASK_EVERY_MS } from '../../../src/http/session/openid-checks.ts';
import { sessionView } from '../../../src/http/session/session-views.ts';
import { AuditLog } from '../../../src/records/retention/audit-log.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { CLIENT, type OpenIdIssuer, startIssuer } from '../../support/openid-issuer.ts';
import { startGateway } from './gateway.ts';
import { untilPasses } from '../../support/eventually.ts';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
let issuer: OpenIdIssuer;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeEach(async () => {
  folder = await temporaryFolder();
  issuer = await startIssuer();
  issuer.person = support;
  return async () => {
    await issuer[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  };
});

async function start() {
  const env = {
    OFFHOOK_CONSOLE__OPENID__ISSUER: issuer.url,
    OFFHOOK_CONSOLE__OPENID__CLIENT_ID: CLIENT.id,
    OFFHOOK_CONSOLE__OPENID__ROLES: 'support=operator, support-read=viewer',
  };
  const { settings } = loadConfig({ env, files: [] });
  return startGateway({
    env,
    console: {
      key: ConsoleKey.ensure(folder.path),
      links: new SignInLinks(folder.path),
      password: undefined,
      openid: OpenIdSignIn.from(settings.console, new Secret(CLIENT.secret)),
      audit: new AuditLog(join(folder.path, 'audit.jsonl'), () => 0),
    },
  });
}
type Gateway = Awaited<ReturnType<typeof start>>;

const cookiesOf = (answer: Response): string =>
  answer.headers
    .getSetCookie()
    .map((each) => each.split(';')[0] ?? '')
    .filter((each) => !each.endsWith('='))
    .join('; ');
const go = (url: string, cookie = '') => fetch(url, { redirect: 'manual', headers: { cookie } });

/** Signs in at the issuer, as a browser does. @returns the session's cookie */
async function signIn({ url }: Gateway): Promise<string> {
  const begun = await go(`${url}/api/session/openid`);
  const back = await go(begun.headers.get('location') ?? '');
  const done = await go(back.headers.get('location') ?? '', cookiesOf(begun));
  expect(done.headers.get('location')).toBe('/console');
  return cookiesOf(done);
}

const sessionOf = async ({ url }: Gateway, cookie: string) =>
  sessionView.parse(await (await go(`${url}/api/session`, cookie)).json());
const isIn = async (gateway: Gateway, cookie: string) => (await sessionOf(gateway, cookie)).user !== null;
const audit = () => readFile(join(folder.path, 'audit.jsonl'), 'utf8');
const support = { sub: 'u1', sid: 's1', roles: ['support'] };

/** Lets the time pass after which the issuer is asked, and waits for its answer. */
async function askedAgain({ clock }: Gateway) {
  const before = issuer.asked.length;
  clock.advance(ASK_EVERY_MS);
  await untilPasses(() => expect(issuer.asked.length).toBeGreaterThan(before));
  await untilPasses(() => expect(clock.pendingTimers).toBeGreaterThan(0));
}

describe('a session that the issuer has opened', () => {
  it.each([
    ['is taken away', () => (issuer.person = { sub: 'u1', roles: ['staff'] })],
    ['is another one', () => (issuer.person = { sub: 'u1', roles: ['support-read'] })],
    ['is somebody else’s', () => (issuer.person = { sub: 'u2', roles: ['support'] })],
  ])('ends within five minutes when the role %s', async (_what, change) => {
    issuer.refreshes = true;
    await using gateway = await start();
    const cookie = await signIn(gateway);
    await askedAgain(gateway);
    expect(await isIn(gateway, cookie)).toBe(true);
    change();
    gateway.clock.advance(ASK_EVERY_MS);
    await untilPasses(async () => expect(await isIn(gateway, cookie)).toBe(false));
    const entry = '"action":"session.sign-out","subject":"openid","outcome":"done"';
    await untilPasses(async () => expect(await audit()).toContain(entry));
    expect(gateway.clock.pendingTimers).toBe(0);
  });

  it('ends when the issuer has revoked what it gave', async () => {
    issuer.userInfo = { sub: 'u1', roles: ['support'] };
    await using gateway = await start();
    const cookie = await signIn(gateway);
    await askedAgain(gateway);
    expect(issuer.asked).toEqual(['userinfo']);
    expect(await isIn(gateway, cookie)).toBe(true);
    issuer.userInfo = undefined;
    gateway.clock.advance(ASK_EVERY_MS);
    await untilPasses(async () => expect(await isIn(gateway, cookie)).toBe(false));
  });

  it('outlives an issuer that is away for some minutes, and not one that says nothing for half an hour', async () => {
    issuer.refreshes = true;
    await using gateway = await start();
    const cookie = await signIn(gateway);
    issuer.away = true;
    for (let at = 0; at < 2; at += 1) {
      gateway.clock.advance(ASK_EVERY_MS);
      await untilPasses(() => expect(gateway.lines.join('').split('does not vouch').length - 1).toBe(at + 1));
    }
    expect(await isIn(gateway, cookie)).toBe(true);
    gateway.clock.advance(6 * ASK_EVERY_MS);
    expect(await isIn(gateway, cookie)).toBe(false);
  });

  it('ends within half an hour of a restart, after which nobody could ask about it', async () => {
    issuer.refreshes = true;
    let cookie = '';
    {
      await using gateway = await start();
      cookie = await signIn(gateway);
    }
    await using gateway = await start();
    expect(await isIn(gateway, cookie)).toBe(true);
    gateway.clock.advance(6 * ASK_EVERY_MS);
    expect(await isIn(gateway, cookie)).toBe(false);
  });

  it('asks no more about a session that was signed out of', async () => {
    issuer.refreshes = true;
    await using gateway = await start();
    const cookie = await signIn(gateway);
    const { csrf } = await sessionOf(gateway, cookie);
    await fetch(`${gateway.url}/api/session`, { method: 'DELETE', headers: { cookie, 'x-csrf-token': csrf ?? '' } });
    expect(gateway.clock.pendingTimers).toBe(0);
  });
});

describe('a back-channel logout', () => {
  const claims = (more: object = {}): JWTPayload =>
    JSON.parse(JSON.stringify({ iss: issuer.url, aud: CLIENT.id, jti: randomUUID(), events: { [EVENT]: {} }, ...more }));
  const logout = async ({ url }: Gateway, token: string) =>
    (await fetch(`${url}/api/session/openid/logout`, { method: 'POST', body: new URLSearchParams({ logout_token: token }) }))
      .status;

  it('ends the session that it names, and no other of the person', async () => {
    await using gateway = await start();
    const first = await signIn(gateway);
    issuer.person = { ...support, sid: 's2' };
    const second = await signIn(gateway);
    expect(await logout(gateway, await issuer.sign(claims({ sub: 'u1', sid: 's1' }), { typ: 'logout+jwt' }))).toBe(200);
    expect([await isIn(gateway, first), await isIn(gateway, second)]).toEqual([false, true]);
  });

  it('ends all sessions of a person where it names none, until the next sign-in', async () => {
    await using gateway = await start();
    const before = [await signIn(gateway), await signIn(gateway)];
    issuer.person = { ...support, sub: 'u2', sid: 's2' };
    const other = await signIn(gateway);
    const token = await issuer.sign(claims({ sub: 'u1' }));
    expect(await logout(gateway, token)).toBe(200);
    expect(await Promise.all([...before, other].map((cookie) => isIn(gateway, cookie)))).toEqual([false, false, true]);
    issuer.person = support;
    const after = await signIn(gateway);
    // It counts once.
    expect(await logout(gateway, token)).toBe(400);
    expect(await isIn(gateway, after)).toBe(true);
  });

  it.each([
    ['another key signed', {}, { signature: true } as const],
    ['another audience', { aud: 'somebody-else' }, {}],
    ['another issuer', { iss: 'https://evil.example.com' }, {}],
    ['no event', { events: {} }, {}],
    ['a nonce, as an ID token has', { nonce: 'n' }, {}],
    ['nobody', { sub: undefined }, {}],
    ['no id', { jti: undefined }, {}],
    ['an old date', { iat: Math.floor(Date.now() / 1000) - 300 }, {}],
    ['another kind', {}, { typ: 'at+jwt' }],
  ])('is refused with %s', async (_what, wrong, more) => {
    await using gateway = await start();
    const cookie = await signIn(gateway);
    expect(await logout(gateway, await issuer.sign(claims({ sub: 'u1', ...wrong }), more))).toBe(400);
    expect(await isIn(gateway, cookie)).toBe(true);
  });

  it('is refused as no token at all', async () => {
    await using gateway = await start();
    for (const token of ['', 'x', 'a.b.c']) expect(await logout(gateway, token)).toBe(400);
  });
});
