import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { NumberedNews } from '../../../src/call/log/followed-news.ts';
import { join, PeerLink } from '../../../src/hosts/peer-link.ts';
import { type PeerCaller, type PeerHandlers, PeerProofs, PeerServer } from '../../../src/hosts/peer-server.ts';
import { OrderRefusedError } from '../../../src/call/control/supervision.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { HANGS_MS } from '../../support/patience.ts';

const clock = systemClock;
const logger = silentLogger;
const key = randomBytes(32);
const opened: (AsyncDisposable | { close(): unknown })[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) {
    if (Symbol.asyncDispose in each) await each[Symbol.asyncDispose]();
    else each.close();
  }
});

const proofsOf = (ownId: string, ownKey = key) => new PeerProofs({ key: async () => ownKey, ownId, clock });

/** Machine B, with these answers. */
async function serverOf(handlers: Partial<PeerHandlers>, proofs = proofsOf('b')) {
  const callers: PeerCaller[] = [];
  const gone: string[] = [];
  const serve = (caller: PeerCaller) => {
    callers.push(caller);
    return { handlers: handlers as PeerHandlers, gone: () => void gone.push(caller.id) };
  };
  const server = await PeerServer.listen({ host: '127.0.0.1', port: 0, proofs, serve, clock, logger });
  opened.push(server);
  return { server, callers, gone, address: `http://127.0.0.1:${server.port}` };
}

/** Machine A. */
function linkTo(address: string, { proofs = proofsOf('a'), id = 'b' } = {}) {
  const news: NumberedNews[] = [];
  const downs: string[] = [];
  const link = new PeerLink({
    peer: { id, address },
    proofs,
    onNews: (each) => void news.push(each),
    onDown: () => void downs.push('down'),
    clock,
    logger,
  });
  opened.push(link);
  return { link, news, downs };
}

const NOTHING = { list: async () => [] };

describe('the channel between two machines', () => {
  it('answers questions, and passes on what failed as what it was', async () => {
    const { address } = await serverOf({
      find: async ({ callId }) => (callId === 'none' ? null : Promise.reject(new Error('broken'))),
      order: () => Promise.reject(new OrderRefusedError('The call is over.')),
    });
    const { link } = linkTo(address);
    expect(await link.ask('find', { callId: 'none' })).toBeNull();
    await expect(link.ask('find', { callId: 'some' })).rejects.toMatchObject({ code: 'OFFHOOK_PEER', message: 'broken' });
    const order = link.ask('order', { callId: 'x', order: { type: 'hang-up' }, by: 'me' });
    await expect(order).rejects.toMatchObject({ code: 'OFFHOOK_ORDER_REFUSED', message: 'The call is over.' });
  });

  it('is refused to a machine with another key, for another machine, out of its time, and a second time', async () => {
    const { address } = await serverOf(NOTHING);
    const other = linkTo(address, { proofs: proofsOf('a', randomBytes(32)) });
    await expect(other.link.ask('list', null)).rejects.toThrow('Unexpected server response: 401');
    await expect(linkTo(address, { id: 'c' }).link.ask('list', null)).rejects.toThrow('401');
    const late = new PeerProofs({ key: async () => key, ownId: 'a', clock: { ...clock, wallMs: () => Date.now() - 61_000 } });
    await expect(linkTo(address, { proofs: late }).link.ask('list', null)).rejects.toThrow('401');
    const { token } = await proofsOf('a').forRequest('b');
    expect(await upgrade(address, '/socket', token)).toBe(101);
    expect(await upgrade(address, '/socket', token)).toBe(401);
    expect(await upgrade(address, '/socket', await proofsOf('a').forAnswer({ from: 'b', id: 'x' }))).toBe(401);
    expect(await upgrade(address, '/socket', '')).toBe(401);
    expect(await upgrade(address, '/elsewhere', (await proofsOf('a').forRequest('b')).token)).toBe(404);
    expect((await fetch(`${address}/channel`)).status).toBe(404);
    expect((await fetch(address, { method: 'POST', body: 'x'.repeat(100_000) }).catch(() => ({ status: 404 }))).status).toBe(404);
  });

  it('tells nothing to an address that does not prove that it is that machine', async () => {
    const heard: string[] = [];
    const { address } = await serverOf({ list: async () => (heard.push('list'), []) }, impostor());
    await expect(linkTo(address).link.ask('list', null)).rejects.toThrow('did not prove');
    expect(heard).toEqual([]);
  });

  it('fails what was asked when it breaks, tells that, and opens again with the next question', async () => {
    let asked = 0;
    const first = await serverOf({ list: () => (asked++ === 0 ? new Promise(() => undefined) : Promise.resolve([])) });
    const { port } = first.server;
    const { link, downs } = linkTo(first.address);
    const broken = link.ask('list', null);
    await expect.poll(() => asked).toBe(1);
    const failed = expect(broken).rejects.toMatchObject({ code: 'OFFHOOK_PEER', retryable: true });
    await first.server[Symbol.asyncDispose]();
    await failed;
    expect(downs).toEqual(['down']);
    await expect(link.ask('list', null)).rejects.toThrow('cannot be reached');
    const serve = () => ({ handlers: NOTHING as unknown as PeerHandlers, gone: () => undefined });
    opened.push(await PeerServer.listen({ host: '127.0.0.1', port, proofs: proofsOf('b'), serve, clock, logger }));
    await expect.poll(() => link.ask('list', null).catch(() => 'failed'), { timeout: HANGS_MS }).toEqual([]);
  });

  it('tells news to whoever asked for them', async () => {
    const { address, callers, gone } = await serverOf(NOTHING);
    const { link, news } = linkTo(address);
    await link.ask('list', null);
    const told = { number: 1, atWallMs: 5, news: { type: 'digit', callId: 'x', digit: '4' } } as const;
    callers[0]?.tellNews(told);
    await expect.poll(() => news).toMatchObject([told]);
    link.close();
    await expect.poll(() => gone).toEqual(['a']);
  });

  it('loses news that a slow machine does not read, and not the end of a call', async () => {
    const { address, callers } = await serverOf(NOTHING);
    const { link, news } = linkTo(address);
    await link.ask('list', null);
    const text = 'x'.repeat(200_000);
    for (let number = 1; number <= 60; number++)
      callers[0]?.tellNews({ number, atWallMs: 0, news: { type: 'partial', callId: 'x', text } });
    callers[0]?.tellNews({ number: 61, atWallMs: 0, news: { type: 'ended', callId: 'x', reason: 'caller-hangup' } });
    await expect.poll(() => news.at(-1)?.news.type, { timeout: HANGS_MS }).toBe('ended');
    expect(news.length).toBeLessThan(61);
    expect(news[0]?.number).toBe(1);
  });
});

describe('a socket that is passed on to another machine', () => {
  it('carries bytes both ways, holds back whoever writes too fast, and ends at both ends', async () => {
    let there: Socket | undefined;
    const { address } = await serverOf({
      media: async (_asked, socket) => {
        there = socket;
        return null;
      },
    });
    const { link } = linkTo(address);
    const accepted = createServer().listen(0, '127.0.0.1');
    opened.push(accepted);
    await once(accepted, 'listening');
    const client = connect((accepted.address() as { port: number }).port, '127.0.0.1');
    const [here] = (await once(accepted, 'connection')) as [Socket];
    const { id, socket } = await link.openSocket();
    join(here, socket);
    await link.ask('media', MEDIA, id);
    there?.write('from there');
    expect(String((await once(client, 'data'))[0])).toBe('from there');
    // Nobody reads it there: the writer is held back after what the sockets hold.
    let written = 0;
    const block = Buffer.alloc(1 << 20);
    for (; written < 200 && client.write(block); written++) await new Promise((done) => setImmediate(done));
    const before = client.bytesWritten - client.writableLength;
    expect(before).toBeLessThan(64 << 20);
    let read = 0;
    there?.once('end', () => there?.end());
    there?.on('data', (chunk: Buffer) => (read += chunk.length));
    client.end('last words');
    await once(there as Socket, 'close');
    expect(read).toBe(client.bytesWritten);
    if (!client.destroyed) await once(client, 'close');
  });

  it('is served to no other machine than the one that sent it', async () => {
    const { address } = await serverOf({});
    const { link } = linkTo(address);
    // Of another machine, which may not have it served.
    const other = linkTo(address, { proofs: proofsOf('c') });
    const { id, socket } = await link.openSocket();
    await expect(other.link.ask('media', MEDIA, id)).rejects.toThrow();
    expect(socket.destroyed).toBe(false);
    socket.destroy();
  });
});

const MEDIA = {
  grant: { carrier: 'twilio', callId: 'x', attachmentId: 'y' },
  transport: 'websocket',
  headers: {},
  early: '',
  answered: false,
  address: '127.0.0.1',
} as const;

/** Reads proofs as machine B does, and cannot make one. */
function impostor(): PeerProofs {
  const real = proofsOf('b');
  const other = proofsOf('b', randomBytes(32));
  return { readRequest: (token: string) => real.readRequest(token), forAnswer: other.forAnswer.bind(other) } as PeerProofs;
}

function upgrade(address: string, path: string, token: string): Promise<number> {
  const headers = { connection: 'Upgrade', upgrade: 'offhook-socket', authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const asked = request(new URL(path, address), { headers, agent: false });
    asked.once('upgrade', (_response, socket) => {
      socket.destroy();
      resolve(101);
    });
    asked.once('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.once('error', reject).end();
  });
}
