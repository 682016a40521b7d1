import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { ConsoleKey, SignInLinks } from '../../../src/http/session/console-key.ts';
import { OpenIdSignIn } from '../../../src/http/session/openid.ts';
import { sessionView } from '../../../src/http/session/session-views.ts';
import { AuditLog } from '../../../src/records/retention/audit-log.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { CLIENT, type OpenIdIssuer, startIssuer } from '../../support/openid-issuer.ts';
import { startGateway } from './gateway.ts';

let issuer: OpenIdIssuer;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeEach(async () => {
  folder = await temporaryFolder();
  issuer = await startIssuer();
  return async () => {
    await issuer[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  };
});

async function start(more: Record<string, string> = {}) {
  const env = {
    OFFHOOK_CONSOLE__OPENID__ISSUER: issuer.url,
    OFFHOOK_CONSOLE__OPENID__CLIENT_ID: CLIENT.id,
    OFFHOOK_CONSOLE__OPENID__ROLES: 'cn=boss=admin, support=operator, support-read=viewer',
    ...more,
  };
  const { settings } = loadConfig({ env, files: [] });
  const gateway = await startGateway({
    env,
    console: {
      key: ConsoleKey.ensure(folder.path),
      links: new SignInLinks(folder.path),
      password: undefined,
      openid: OpenIdSignIn.from(settings.console, new Secret(CLIENT.secret)),
      audit: new AuditLog(join(folder.path, 'audit.jsonl'), () => 0),
    },
  });
  return gateway;
}
type Gateway = Awaited<ReturnType<typeof start>>;

const cookiesOf = (answer: Response): string =>
  answer.headers
    .getSetCookie()
    .map((each) => each.split(';')[0] ?? '')
    .filter((each) => !each.endsWith('='))
    .join('; ');
const locationOf = (answer: Response): string => answer.headers.get('location') ?? '';
const go = (url: string, cookie = '') => fetch(url, { redirect: 'manual', headers: { cookie } });

/** Goes to the issuer and back, as a browser does; stops before the console. */
async function comeBack(gateway: Gateway) {
  const begun = await go(`${gateway.url}/api/session/openid`);
  const cookie = cookiesOf(begun);
  const back = locationOf(await go(locationOf(begun)));
  return { begun, cookie, back };
}

async function signIn(gateway: Gateway): Promise<{ to: string; user: { name: string; role: string } | null }> {
  const { cookie, back } = await comeBack(gateway);
  const done = await go(back, cookie);
  expect(done.status).toBe(302);
  const answer = await fetch(`${gateway.url}/api/session`, { headers: { cookie: cookiesOf(done) } });
  return { to: locationOf(done), user: sessionView.parse(await answer.json()).user };
}

describe('signing in by OpenID Connect', () => {
  it('signs in whom the issuer vouches for, with the role of their groups', async () => {
    await using gateway = await start();
    expect(await (await fetch(`${gateway.url}/api/session`)).json()).toMatchObject({ ways: ['openid', 'link'] });
    issuer.person = { sub: 'u1', email: 'asha@example.com', email_verified: true, roles: ['staff', 'support-read', 'support'] };
    expect(await signIn(gateway)).toEqual({ to: '/console', user: { name: 'asha@example.com', role: 'operator' } });
    issuer.person = { sub: 'u2', email: 'boss@example.com', preferred_username: 'admin', roles: 'support-read' };
    expect((await signIn(gateway)).user).toEqual({ name: 'admin (u2)', role: 'viewer' });
    const audit = await readFile(join(folder.path, 'audit.jsonl'), 'utf8');
    expect(audit).toContain(
      '"by":"console asha@example.com","tenantId":"default","action":"session.sign-in","subject":"openid","outcome":"done"',
    );
  });

  it('asks the issuer with state, nonce and PKCE, and keeps them from scripts and other sites', async () => {
    await using gateway = await start();
    const { begun } = await comeBack(gateway);
    const asked = new URL(locationOf(begun)).searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      response_type: 'code',
      client_id: CLIENT.id,
      scope: 'openid profile email',
      code_challenge_method: 'S256',
      redirect_uri: `${gateway.url}/api/session/openid/callback`,
    });
    for (const name of ['state', 'nonce', 'code_challenge']) expect(asked.get(name)?.length).toBeGreaterThan(20);
    const [cookie = ''] = begun.headers.getSetCookie();
    expect(cookie).toMatch(/^offhook_openid=[\w.-]+; Max-Age=600; Path=\/api\/session\/openid; HttpOnly; SameSite=Lax$/u);
    expect(cookie).not.toContain(asked.get('state'));
  });

  it('finds roles in a nested claim, and where the issuer keeps them out of the token', async () => {
    await using gateway = await start({ OFFHOOK_CONSOLE__OPENID__ROLE_CLAIM: 'realm_access.roles' });
    const realm = { realm_access: { roles: ['support', 'support-read'] } };
    issuer.person = { sub: 'u1', ...realm };
    expect((await signIn(gateway)).user?.role).toBe('operator');
    issuer.person = { sub: 'u1' };
    issuer.userInfo = { sub: 'u1', ...realm };
    await using other = await start({ OFFHOOK_CONSOLE__OPENID__ROLE_CLAIM: 'realm_access.roles' });
    expect((await signIn(other)).user?.role).toBe('operator');
    // Somebody else's.
    issuer.userInfo = { sub: 'u2', ...realm };
    expect(await signIn(other)).toEqual({ to: '/console#refused=refused', user: null });
  });

  it.each([
    ['no roles', {}],
    ['roles of others', { roles: ['staff', 'admin', 'constructor'] }],
    ['roles that are no texts', { roles: [{ support: true }, 7, null] }],
  ])('lets nobody in with %s', async (_what, claims) => {
    await using gateway = await start();
    issuer.person = { sub: 'u1', ...claims };
    expect(await signIn(gateway)).toEqual({ to: '/console#refused=no-role', user: null });
    expect(await readFile(join(folder.path, 'audit.jsonl'), 'utf8')).toContain('"outcome":"refused"');
  });

  it.each([
    ['another key signed', { signature: true } as const],
    ['another nonce', { claims: { nonce: 'another' } }],
    ['another audience', { claims: { aud: 'somebody-else' } }],
    ['another issuer', { claims: { iss: 'https://evil.example.com' } }],
  ])('believes no token with %s', async (_what, wrong) => {
    await using gateway = await start();
    issuer.person = { sub: 'u1', roles: ['support'] };
    issuer.wrong = wrong;
    expect(await signIn(gateway)).toEqual({ to: '/console#refused=refused', user: null });
    issuer.wrong = {};
    expect((await signIn(gateway)).user?.role).toBe('operator');
  });

  it('finishes once, in the browser that began, with the state it began with', async () => {
    await using gateway = await start();
    issuer.person = { sub: 'u1', roles: ['support'] };
    const { cookie, back } = await comeBack(gateway);
    const refused = async (url: string, sent: string) => {
      const answer = await go(url, sent);
      expect(locationOf(answer)).toBe('/console#refused=refused');
      expect(cookiesOf(answer)).toBe('');
    };
    await refused(back, '');
    const other = await comeBack(gateway);
    await refused(back, other.cookie);
    expect(locationOf(await go(back, cookie))).toBe('/console');
    await refused(back, cookie);
    issuer.refuses = true;
    expect(await signIn(gateway)).toEqual({ to: '/console#refused=refused', user: null });
  });

  it('says so while the issuer cannot be asked', async () => {
    const away = await startIssuer();
    await away[Symbol.asyncDispose]();
    await using gateway = await start({ OFFHOOK_CONSOLE__OPENID__ISSUER: away.url });
    expect(locationOf(await go(`${gateway.url}/api/session/openid`))).toBe('/console#refused=unavailable');
    expect(gateway.lines.join('')).toContain('console sign-in refused');
    expect(gateway.lines.join('')).not.toContain(CLIENT.secret);
  });
});

it('names what is missing for an issuer, and roles that there are not', () => {
  const { problems } = loadConfig({
    env: { OFFHOOK_CONSOLE__OPENID__ISSUER: 'http://login.example.com', OFFHOOK_CONSOLE__OPENID__ROLES: 'a=admin,b=boss' },
    files: [],
  });
  expect(problems.map(({ key, message }) => `${key}: ${message}`)).toEqual([
    'console.openid.issuer: only https, or an address of this machine',
    'console.openid.clientId: required because console.openid.issuer is set',
    'console.openid.roles: allowed is <value of the claim>=<role>, separated by commas; roles are viewer, listener, operator, admin',
  ]);
});
