import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchSound } from '../../../src/call/outbound/sounds/sound-library.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { deliverWebhook } from '../../../src/records/webhooks/deliver-webhook.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { publicLookup } from '../../../src/kernel/public-address.ts';
import { fetchFile } from '../../../src/kernel/remote-file.ts';

let server: Server;
let port = 0;
let folder = '';
/** Connections that reached a server inside the network. */
let connections = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'offhook-addresses-'));
  server = createServer((_request, response) => void response.end('secret')).listen(0, '::');
  server.on('connection', () => (connections += 1));
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Addresses of this machine and of networks inside, as attackers write them. */
const INSIDE = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '017700000001',
  '0177.0.0.1',
  '0',
  '0.0.0.0',
  '10.0.0.1',
  '169.254.169.254',
  '2852039166',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  'localhost',
  '127.0.0.1.',
  'ｌocalhost',
  '①②⑦.0.0.1',
];

/** Delivers to an address as the queue does, once. @returns what the store keeps of it */
async function deliver(url: string): Promise<string | undefined> {
  let kept: string | undefined;
  const handler = deliverWebhook({
    store: {
      webhooks: {
        get: async () => ({ endpoint: 'e', state: 'pending', body: {}, callId: 'call_1' }),
        tried: async (_id: unknown, { reason }: { reason?: string }) => void (kept = reason),
      },
    } as unknown as Parameters<typeof deliverWebhook>[0]['store'],
    dispatcher: {
      endpoint: () => ({ name: 'e', url, secret: new Secret('s'.repeat(32)), allowPrivate: false }),
    } as unknown as Parameters<typeof deliverWebhook>[0]['dispatcher'],
    clock: systemClock,
    timeoutMs: 2_000,
  });
  const run = { payload: { tenantId: 'default', id: 'd' }, signal: new AbortController().signal, isLast: true };
  await handler(run as unknown as Parameters<typeof handler>[0]).catch(() => undefined);
  return kept;
}

describe.each(INSIDE)('%s', (host) => {
  it.each(['http', 'https'])('gets no webhook, no sound and no recording asked for over %s', async (scheme) => {
    const url = `${scheme}://${host}:${port}/`;
    const before = connections;
    expect(await deliver(url)).toBe('the address of a webhook endpoint is not public');
    await expect(fetchSound(url, { clock: systemClock })).rejects.toThrow(/not public|https addresses only/u);
    const limits = { clock: systemClock, maxBytes: 1_000, allowedHosts: [] };
    await expect(fetchFile(url, join(folder, 'file'), limits, new AbortController().signal)).rejects.toThrow(
      /not public|only https/u,
    );
    expect(connections).toBe(before);
  });
});

describe('a name that resolves to another address each time', () => {
  it('is asked about once for a connection, which goes to the address that was checked', async () => {
    const answers = ['93.184.216.34', '127.0.0.1'];
    const asked: string[] = [];
    const lookup = publicLookup(
      async (host) => {
        asked.push(host);
        return [{ address: answers.shift() ?? '127.0.0.1', family: 4 }];
      },
      () => new Error('not public'),
    );
    const look = (): Promise<unknown> =>
      new Promise((resolve) => lookup('rebind.example', {}, (error, address) => resolve(error?.message ?? address)));
    expect([await look(), await look()]).toEqual(['93.184.216.34', 'not public']);
    expect(asked).toHaveLength(2);
  });

  it('is refused as soon as one of its addresses is inside', async () => {
    const before = connections;
    for (const inside of ['127.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1']) {
      const resolve = async () => [
        { address: '93.184.216.34', family: 4 },
        { address: inside, family: inside.includes(':') ? 6 : 4 },
      ];
      await expect(fetchSound(`https://rebind.example:${port}/`, { clock: systemClock, resolve })).rejects.toThrow('not public');
    }
    expect(connections).toBe(before);
  });
});

it('follows no redirect from a public server into the network', async () => {
  const inner = `http://127.0.0.1:${port}/`;
  const outer = createServer((_request, response) => void response.writeHead(302, { location: inner }).end()).listen(
    0,
    '127.0.0.1',
  );
  await once(outer, 'listening');
  const host = `127.0.0.1:${(outer.address() as AddressInfo).port}`;
  const before = connections;
  const limits = { clock: systemClock, maxBytes: 1_000, allowedHosts: [host] };
  await expect(fetchFile(`http://${host}/`, join(folder, 'file'), limits, new AbortController().signal)).rejects.toThrow(
    /only https|not public/u,
  );
  await expect(fetchSound(`http://${host}/`, { clock: systemClock, allowedHosts: [host] })).rejects.toThrow('HTTP 302');
  expect(connections).toBe(before);
  outer.closeAllConnections();
  outer.close();
});
