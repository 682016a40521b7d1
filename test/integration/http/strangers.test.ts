import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../../src/config/secrets.ts';
import { ConsoleKey, SignInLinks } from '../../../src/http/session/console-key.ts';
import { DOCUMENTS_PACE, PAGES_PACE } from '../../../src/http/rate-limit.ts';
import { MOST_WAITING } from '../../../src/http/unread-answers.ts';
import { AuditLog } from '../../../src/records/retention/audit-log.ts';
import { unusedApi } from '../../support/api-routes.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { hangs } from '../../support/patience.ts';
import { untilPasses } from '../../support/eventually.ts';

const PASSWORD = 'correct horse battery';
let dataDir: string;

beforeAll(async () => {
  const folder = await temporaryFolder();
  dataDir = folder.path;
  return () => folder[Symbol.asyncDispose]();
});

const start = (env: Record<string, string> = {}): Promise<Gateway> =>
  startGateway({
    env,
    api: unusedApi,
    console: {
      key: ConsoleKey.ensure(dataDir),
      links: new SignInLinks(dataDir),
      password: new Secret(PASSWORD),
      audit: new AuditLog(join(dataDir, 'audit.jsonl'), () => 0),
    },
  });

/** Opens a connection that asks so often for a path, and reads nothing before `read`. */
async function unread({ url }: Gateway, path: string, times: number) {
  const { host, hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).pause();
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(times));
  return {
    async read(): Promise<string> {
      let text = '';
      socket.on('data', (part: Buffer) => void (text += part.toString('latin1'))).resume();
      socket.end();
      await once(socket, 'close', { signal: hangs() });
      return text;
    },
  };
}

const served = (gateway: Gateway, path: string): number =>
  gateway.lines.filter((line) => line.includes('request served') && line.includes(`"path":"${path}"`)).length;

function get({ url }: Gateway, path: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: Buffer }>((resolve, reject) => {
    const asked = request(url + path, { headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => void parts.push(part));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) }),
      );
    });
    asked.once('error', reject).end();
  });
}

describe('strangers who ask much and read nothing', () => {
  it.each([
    '/api',
    '/api/openapi.json',
    '/api/session',
    '/api/calls',
    '/console',
    '/console/assets/none.js',
    '/healthz',
    '/readyz',
    '/metrics',
    '/nowhere',
  ])('are cut off with at most one answer made for forty requests of %s at once', async (path) => {
    await using gateway = await start();
    const client = await unread(gateway, path, 40);
    const text = await client.read();
    expect(text.split('HTTP/1.1 ').length - 1).toBeLessThanOrEqual(1);
    expect(served(gateway, path)).toBeLessThanOrEqual(1);
    await untilPasses(() => expect(gateway.lines.join('')).toContain('too many requests at once'));
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  });

  it('get every answer, in order, to as many requests at once as a connection may have', async () => {
    await using gateway = await start();
    const client = await unread(gateway, '/healthz', MOST_WAITING + 1);
    expect((await client.read()).match(/HTTP\/1\.1 200 OK/gu)).toHaveLength(MOST_WAITING + 1);
  });

  it.each([
    ['/api', DOCUMENTS_PACE],
    ['/api/openapi.json', DOCUMENTS_PACE],
    ['/console', PAGES_PACE],
    ['/api/session', PAGES_PACE],
    ['/console/assets/none.js', PAGES_PACE],
  ])('are held to a pace at %s, each address by itself, while the gateway says that it lives', async (path, { burst }) => {
    await using gateway = await start({ OFFHOOK_HTTP__TRUSTED_PROXIES: '127.0.0.1' });
    const from = (address: string, url = path) =>
      gateway.app.inject({ url, headers: { host: 'localhost', 'x-forwarded-for': address } });
    for (let at = 0; at < burst; at += 1) expect((await from('198.51.100.1')).statusCode).not.toBe(429);
    const late = await from('198.51.100.1');
    expect([late.statusCode, late.headers['retry-after']]).toEqual([429, '1']);
    expect((await from('198.51.100.2')).statusCode).not.toBe(429);
    for (const open of ['/healthz', '/readyz']) expect((await from('198.51.100.1', open)).statusCode).toBe(200);
  });
});

describe('documents that anybody may read', () => {
  it.each([
    ['/api', 450_000, 40_000],
    ['/api/openapi.json', 350_000, 30_000],
  ])('%s is small, compressed once, and not sent again', async (path, mostBytes, mostCompressed) => {
    await using gateway = await start();
    const plain = await get(gateway, path);
    expect(plain.body.length).toBeLessThan(mostBytes);
    expect(plain.headers).toMatchObject({ 'cache-control': 'public, max-age=300', vary: 'accept-encoding' });
    for (const [coding, open] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const small = await get(gateway, path, { 'accept-encoding': coding });
      expect(small.headers['content-encoding']).toBe(coding);
      expect(small.body.length).toBeLessThan(mostCompressed);
      expect(open(small.body).equals(plain.body)).toBe(true);
      const tag = String(small.headers['etag']);
      expect(tag).not.toBe(plain.headers['etag']);
      const again = await get(gateway, path, { 'accept-encoding': coding, 'if-none-match': `"other", W/${tag}` });
      expect([again.status, again.body.length, again.headers['etag']]).toEqual([304, 0, tag]);
    }
    const refused = await get(gateway, path, { 'accept-encoding': 'br;q=0, gzip;q=0.0, *' });
    expect(refused.headers['content-encoding']).toBeUndefined();
  });
});

describe('X-Forwarded-For', () => {
  const tries = async (gateway: Gateway, headersAt: (at: number) => Record<string, string>, count = 300) => {
    const statuses: number[] = [];
    for (let at = 0; at < count; at += 1) {
      const headers = { 'content-type': 'application/json', ...headersAt(at) };
      const body = JSON.stringify({ password: `guess ${at}` });
      statuses.push((await fetch(`${gateway.url}/api/session`, { method: 'POST', headers, body })).status);
    }
    return statuses.filter((status) => status === 401).length;
  };

  it('of a peer that nobody named frees no guess of a password from its pace', async () => {
    await using gateway = await start();
    expect(await tries(gateway, (at) => ({ 'x-forwarded-for': `198.51.100.${at % 250}` }), 30)).toBe(5);
  });

  it('of a trusted proxy names the visitor: what the client wrote itself is not believed', async () => {
    await using gateway = await start({ OFFHOOK_HTTP__TRUSTED_PROXIES: '127.0.0.0/8' });
    const forged = (at: number) => ({ 'x-forwarded-for': `203.0.113.${at}, 10.0.0.${at}, 198.51.100.7:40${at}` });
    expect(await tries(gateway, forged, 30)).toBe(5);
    expect(await tries(gateway, () => ({ 'x-forwarded-for': '198.51.100.8' }), 10)).toBe(5);
    expect(await tries(gateway, (at) => ({ 'x-forwarded-for': `198.51.100.9, nonsense ${at}` }), 10)).toBe(5);
    expect(gateway.lines.join('')).not.toContain('not trusted');
  });

  it('gives many addresses no more guesses at one account than thirty, and locks nobody out who gave it before', async () => {
    await using gateway = await start({ OFFHOOK_HTTP__TRUSTED_PROXIES: '127.0.0.1' });
    const signIn = (address: string, password: string) =>
      fetch(`${gateway.url}/api/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
        body: JSON.stringify({ password }),
      });
    expect((await signIn('192.0.2.1', PASSWORD)).status).toBe(200);
    expect(await tries(gateway, (at) => ({ 'x-forwarded-for': `198.51.${at >> 8}.${at & 255}` }))).toBe(29);
    expect((await signIn('192.0.2.2', PASSWORD)).status).toBe(429);
    expect((await signIn('192.0.2.1', PASSWORD)).status).toBe(200);
    gateway.clock.advance(5_000);
    expect((await signIn('192.0.2.2', PASSWORD)).status).toBe(200);
  });

  it('of a proxy that nobody named is told once, in the log and the metrics', async () => {
    await using gateway = await start();
    for (let at = 0; at < 3; at += 1) await get(gateway, '/healthz', { 'x-forwarded-for': '198.51.100.1' });
    expect(gateway.lines.filter((line) => line.includes('http.trustedProxies'))).toHaveLength(1);
    expect((await get(gateway, '/metrics')).body.toString()).toContain('offhook_untrusted_proxies{address="127.0.0.1"} 1');
  });
});
