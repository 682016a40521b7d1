import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fastify, type FastifyInstance } from 'fastify';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { ApiGate } from '../../../src/http/api/api-gate.ts';
import { ApiKeys } from '../../../src/http/api/system/api-keys.ts';
import { JwtBearers } from '../../../src/http/api/jwt-bearers.ts';
import { useProblems } from '../../../src/http/problem.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const ISSUER = 'https://login.example.com/';
const AUDIENCE = 'offhook';

async function keyPair(kid: string, alg = 'RS256') {
  const pair = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, ...pair, jwk: { ...(await exportJWK(pair.publicKey)), kid, alg, use: 'sig' } };
}
type Pair = Awaited<ReturnType<typeof keyPair>>;

describe('tokens by JWKS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-jwt-'));
  const clock = new ManualClock();
  const nowS = () => Math.floor(clock.wallMs() / 1000);
  let published: Pair[] = [];
  let asked = 0;
  let isDown = false;
  let issuer: Server;
  let app: FastifyInstance;
  let keys: ApiKeys;
  let first: Pair;

  beforeAll(async () => {
    first = await keyPair('first');
    published = [first, await keyPair('curve', 'ES256')];
    issuer = createServer((_request, response) => {
      asked += 1;
      if (isDown) response.writeHead(500).end();
      else response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: published.map(({ jwk }) => jwk) }));
    }).listen(0, '127.0.0.1');
    await once(issuer, 'listening');
    keys = new ApiKeys(join(folder, 'keys.json'));
    app = fastify();
    useProblems(app, silentLogger);
    app.register(async (scope) => {
      const gate = new ApiGate({ keys, clock, tokens: bearers() });
      scope.get('/who', { onRequest: (request, reply) => gate.admit(request, reply, 'calls:read') }, (request, reply) =>
        reply.send(request.principal),
      );
    });
    await app.ready();
  });
  afterAll(async () => {
    await app.close();
    issuer.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const settings = () => ({
    jwksUri: `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/jwks.json`,
    issuer: ISSUER,
    audience: AUDIENCE,
    tenantClaim: 'https://example.com/tenant',
    scopesClaim: 'scope',
    toleranceSeconds: 5,
  });
  const bearers = () => JwtBearers.from({ settings: settings(), clock, cooldownMs: 0 });
  const claims = () => ({
    iss: ISSUER,
    aud: AUDIENCE,
    sub: 'someone',
    exp: nowS() + 60,
    'https://example.com/tenant': 'acme',
    scope: 'openid calls:read analyses:write',
  });
  const signed = (changed: object = {}, pair: Pair = first) =>
    new SignJWT({ ...claims(), ...changed }).setProtectedHeader({ alg: pair.alg, kid: pair.kid }).sign(pair.privateKey);
  const who = (token: string) => app.inject({ url: '/who', headers: { authorization: `Bearer ${token}` } });

  it('takes tenant and scopes from the claims that are configured, and leaves scopes of others out', async () => {
    expect((await who(await signed())).json()).toEqual({
      id: 'jwt ["acme","someone"]',
      tenantId: 'acme',
      scopes: ['calls:read', 'analyses:write'],
    });
    const listed = await who(await signed({ scope: ['calls:read'], aud: ['another', AUDIENCE] }, published[1]));
    expect(listed.json()).toMatchObject({ scopes: ['calls:read'] });
  });

  it('takes API keys as before', async () => {
    const { secret } = keys.create({ name: 'k', tenantId: 'default', scopes: ['calls:read'] }, 0);
    expect((await who(secret)).json()).toMatchObject({ tenantId: 'default' });
    const unknown = await who('ohk_nobody');
    expect([unknown.statusCode, unknown.headers['www-authenticate']]).toEqual([401, 'Bearer']);
  });

  it('wants the scope of the route', async () => {
    const answer = await who(await signed({ scope: 'analyses:read' }));
    expect([answer.statusCode, answer.headers['www-authenticate']]).toEqual([
      403,
      'Bearer error="insufficient_scope", scope="calls:read"',
    ]);
  });

  test.each([
    ['that has expired', async () => signed({ exp: nowS() - 6 }), 'it has expired'],
    ['without an end', async () => signed({ exp: undefined }), 'it has no end'],
    ['of tomorrow', async () => signed({ nbf: nowS() + 6 }), 'it is not valid yet'],
    ['for another audience', async () => signed({ aud: 'others' }), 'it is for another audience'],
    ['by another issuer', async () => signed({ iss: 'https://login.example.com' }), 'it is by another issuer'],
    [
      'without a tenant',
      async () => signed({ 'https://example.com/tenant': undefined, tenant: 'default' }),
      'it names no tenant',
    ],
    ['whose tenant is no text', async () => signed({ 'https://example.com/tenant': ['acme'] }), 'it names no tenant'],
    ['without a signature', async () => new UnsecuredJWT(claims()).encode(), 'its algorithm is not accepted'],
    [
      'signed with the public key as a secret',
      async () => {
        const secret = Buffer.from(await exportSPKI(first.publicKey));
        return new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid: 'first' }).sign(secret);
      },
      'its algorithm is not accepted',
    ],
    [
      'signed by somebody else under a known name',
      async () => signed({}, { ...(await keyPair('first')), kid: 'first' }),
      'its signature is wrong',
    ],
    ['signed by nobody we know', async () => signed({}, await keyPair('stranger')), 'no key of its issuer fits it'],
    [
      'with its own key in its head',
      async () => {
        const own = await keyPair('own');
        return new SignJWT(claims()).setProtectedHeader({ alg: 'RS256', jwk: own.jwk, kid: 'own' }).sign(own.privateKey);
      },
      'no key of its issuer fits it',
    ],
    [
      'whose claims were changed',
      async () => {
        const [head, , signature] = (await signed()).split('.');
        const body = Buffer.from(JSON.stringify({ ...claims(), sub: 'other' })).toString('base64url');
        return `${head}.${body}.${signature}`;
      },
      'its signature is wrong',
    ],
    ['that is none', async () => 'a.b.c', 'it is no signed token'],
  ])('refuses one %s, and says why', async (_note, token, why) => {
    const answer = await who(await token());
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([401, 'application/problem+json; charset=utf-8']);
    expect(answer.json()).toMatchObject({ status: 401, detail: `The token is refused: ${why}.` });
    expect(answer.headers['www-authenticate']).toBe(
      `Bearer error="invalid_token", error_description="The token is refused: ${why}."`,
    );
  });

  it("bears an issuer's clock that is a little off", async () => {
    expect((await who(await signed({ exp: nowS() - 4 }))).statusCode).toBe(200);
    expect((await who(await signed({ nbf: nowS() + 4 }))).statusCode).toBe(200);
  });

  it('finds keys that are new, and believes those no more that were taken away', async () => {
    expect((await who(await signed())).statusCode).toBe(200);
    const before = asked;
    expect((await who(await signed())).statusCode).toBe(200);
    expect(asked).toBe(before);
    const old = published;
    const second = await keyPair('second');
    published = [second];
    expect((await who(await signed({}, second))).statusCode).toBe(200);
    expect((await who(await signed())).statusCode).toBe(401);
    published = old;
    expect((await who(await signed())).statusCode).toBe(200);
  });

  it('answers 503 and not 401 while the keys cannot be had', async () => {
    isDown = true;
    const gate = new ApiGate({ keys, clock, tokens: bearers() });
    const other = fastify();
    useProblems(other, silentLogger);
    other.get('/who', { onRequest: (request, reply) => gate.admit(request, reply, 'calls:read') }, () => 'in');
    const answer = await other.inject({ url: '/who', headers: { authorization: `Bearer ${await signed()}` } });
    expect(answer.statusCode).toBe(503);
    isDown = false;
    await other.close();
  });

  it('is off unless address, issuer and audience are given', () => {
    expect(JwtBearers.from({ settings: { ...settings(), audience: undefined }, clock })).toBeUndefined();
  });
});
