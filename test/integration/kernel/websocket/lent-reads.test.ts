import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { takeMessages } from '../../../../src/kernel/websocket/lent-reads.ts';
import { untilPasses } from '../../../support/eventually.ts';

/**
 * Majors of Node whose sockets lent their memory when this file ran on them. Reading into shared memory uses internal fields of Node:
 * run this file on a new major before it is added. Where the fields are gone, `ws` reads as ever, and calls go on with more work.
 */
const TRIED_ON = [20, 22, 24, 25, 26];

/** One accepted socket: what it told, in order, and by which way. */
interface Accepted {
  readonly socket: WebSocket;
  readonly lends: boolean;
  readonly told: string[];
  readonly memory: Set<ArrayBufferLike>;
}

let server: Server;
let accepted: Accepted[];

beforeEach(async () => {
  accepted = [];
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 65_536, perMessageDeflate: false });
  server = createServer();
  server.on('upgrade', (request, stream: Socket, head) =>
    sockets.handleUpgrade(request, stream, head, (socket) => {
      const told: string[] = [];
      const memory = new Set<ArrayBufferLike>();
      const lends = takeMessages(socket, stream, true, (payload, isBinary) => {
        told.push(`lent ${isBinary ? 'binary ' : ''}${payload.toString()}`);
        memory.add(payload.buffer);
      });
      socket.on('message', (data: Buffer, isBinary) => void told.push(`${isBinary ? 'binary' : 'text'} ${data.toString()}`));
      socket.on('ping', (data) => void told.push(`ping ${data.toString()}`));
      socket.on('error', (error) => void told.push(`error ${error.message}`));
      socket.on('close', (code) => void told.push(`closed ${code}`));
      accepted.push({ socket, lends, told, memory });
    }),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(() => {
  for (const { socket } of accepted) socket.terminate();
  server.close();
});

const port = (): number => (server.address() as AddressInfo).port;

async function opened(): Promise<{ readonly client: WebSocket; readonly gateway: Accepted }> {
  const client = new WebSocket(`ws://127.0.0.1:${port()}`, { perMessageDeflate: false });
  await once(client, 'open');
  return { client, gateway: accepted.at(-1)! };
}

describe('a carrier’s socket read into shared memory', () => {
  it('takes whole messages from that memory and everything else as events, in order', async () => {
    const { client, gateway } = await opened();
    client.send('one');
    client.send(Buffer.from('two'), { binary: true });
    client.send('th', { fin: false });
    client.send('ree', { fin: true });
    client.ping('four');
    client.send('five');
    client.close(1000);
    await untilPasses(() => expect(gateway.told.at(-1)).toBe('closed 1000'));
    expect(gateway.lends).toBe(true);
    expect(gateway.told).toEqual(['lent one', 'lent binary two', 'text three', 'ping four', 'lent five', 'closed 1000']);
  });

  it('uses the same memory for every message of every socket', async () => {
    const both = [await opened(), await opened()];
    for (const { client } of both) for (let count = 0; count < 50; count += 1) client.send(`message ${count}`);
    await untilPasses(() => expect(both.map(({ gateway }) => gateway.told.length)).toEqual([50, 50]));
    const memory = new Set(both.flatMap(({ gateway }) => [...gateway.memory]));
    expect(memory.size).toBe(1);
  });

  it('takes messages that are larger than a read', async () => {
    const { client, gateway } = await opened();
    const large = 'x'.repeat(65_000);
    for (const text of ['before', large, large, 'behind']) client.send(text);
    await untilPasses(() => expect(gateway.told).toHaveLength(4));
    expect(gateway.told.map((one) => one.replace(/^(?:lent|text) /u, ''))).toEqual(['before', large, large, 'behind']);
  });

  it('reads nothing while paused, and everything in order afterwards', async () => {
    const { client, gateway } = await opened();
    client.send('before');
    await untilPasses(() => expect(gateway.told).toEqual(['lent before']));
    gateway.socket.pause();
    for (let count = 0; count < 20; count += 1) client.send(`${count}`);
    // They have come as far as this process.
    const other = await opened();
    other.client.send('other');
    await untilPasses(() => expect(other.gateway.told).toEqual(['lent other']));
    expect(gateway.told).toEqual(['lent before']);
    gateway.socket.resume();
    await untilPasses(() => expect(gateway.told).toHaveLength(21));
    expect(gateway.told.slice(1).map((one) => one.split(' ')[1])).toEqual(Array.from({ length: 20 }, (_, count) => `${count}`));
  });

  it.each([
    ['a text that is not UTF-8', Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0xc3, 0x28]), 1007],
    ['a frame without a mask', Buffer.from([0x81, 0x01, 0x61]), 1002],
    ['a text in the middle of a fragmented one', Buffer.from([0x01, 0x80, 0, 0, 0, 0, 0x81, 0x80, 0, 0, 0, 0]), 1002],
    ['a message that is too long', Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0]), 1009],
  ])('closes after %s as ever, and what had come before it is told', async (_what, wrong, code) => {
    const raw = connect(port(), '127.0.0.1');
    raw.write(upgrade);
    await once(raw, 'data');
    const gateway = accepted.at(-1)!;
    raw.write(Buffer.concat([Buffer.from([0x81, 0x82, 0, 0, 0, 0]), Buffer.from('ok'), wrong]));
    const [closing] = (await once(raw, 'data')) as [Buffer];
    expect(closing.readUInt16BE(2)).toBe(code);
    expect(gateway.told[0]).toBe('lent ok');
    expect(gateway.told[1]).toMatch(/^error /u);
    raw.destroy();
  });
});

/** TLS for which no certificate has to be made. */
const UNSIGNED = { ciphers: 'aNULL:@SECLEVEL=0', maxVersion: 'TLSv1.2', rejectUnauthorized: false } as const;

describe.each(['ws', 'wss'])('a socket to the platform, by %s, read into shared memory', (scheme) => {
  interface Client {
    readonly socket: WebSocket;
    readonly told: string[];
    readonly memory: Set<ArrayBufferLike>;
    readonly lends: boolean;
    /** Told before anything of a message is. */
    onTold: () => void;
  }
  let platform: Server;
  let sockets: WebSocketServer;

  beforeEach(async () => {
    platform = scheme === 'ws' ? createServer() : createTlsServer(UNSIGNED);
    sockets = new WebSocketServer({ server: platform, perMessageDeflate: false });
    platform.listen(0, '127.0.0.1');
    await once(platform, 'listening');
  });

  afterEach(() => void platform.close());

  async function connected(): Promise<{ readonly client: Client; readonly service: WebSocket }> {
    const accepted = once(sockets, 'connection') as Promise<[WebSocket]>;
    const socket = new WebSocket(`${scheme}://127.0.0.1:${(platform.address() as AddressInfo).port}`, {
      ...UNSIGNED,
      perMessageDeflate: false,
    });
    const upgraded = once(socket, 'upgrade') as Promise<[{ readonly socket: Socket }]>;
    await once(socket, 'open');
    const [{ socket: stream }] = await upgraded;
    const told: string[] = [];
    const memory = new Set<ArrayBufferLike>();
    const tell = (how: string, data: Buffer, isBinary: boolean): void => {
      client.onTold();
      told.push(`${how} ${isBinary ? 'binary ' : ''}${data.length > 50 ? `of ${data.length}` : data.toString()}`);
    };
    const lends = takeMessages(socket, stream, false, (payload, isBinary) => {
      memory.add(payload.buffer);
      tell('lent', payload, isBinary);
    });
    const client: Client = { socket, told, memory, lends, onTold: () => undefined };
    socket.on('message', (data: Buffer, isBinary) => tell('copied', data, isBinary));
    socket.on('ping', (data: Buffer) => tell('ping', data, false));
    const [service] = await accepted;
    return { client, service };
  }

  it('takes whole messages from that memory and everything else as events, in order', async () => {
    const { client, service } = await connected();
    service.send('one');
    service.send(Buffer.alloc(2_000), { binary: true });
    service.send('th', { fin: false });
    service.send('ree', { fin: true });
    service.ping('four');
    service.send(Buffer.alloc(200_000), { binary: true });
    service.send('six');
    await untilPasses(() => expect(client.told.at(-1)).toMatch(/six$/u));
    expect(client.told.map((one) => one.replace(/^(?:lent|copied) /u, ''))).toEqual([
      'one',
      'binary of 2000',
      'three',
      'ping four',
      'binary of 200000',
      'six',
    ]);
    expect(client.lends).toBe(true);
    expect(client.told[0]).toBe('lent one');
    expect(client.memory.size).toBe(1);
    client.socket.terminate();
  });

  it('emits nothing while its listener has paused it, even from the same read', async () => {
    const { client, service } = await connected();
    client.onTold = () => {
      if (client.told.length === 4) client.socket.pause();
    };
    const sent = Array.from({ length: 40 }, (_, count) => `message ${count}`);
    for (const text of sent) service.send(text);
    await untilPasses(() => expect(client.told).toHaveLength(5));
    // What comes behind it does so by another connection.
    const other = await connected();
    other.service.send('other');
    await untilPasses(() => expect(other.client.told).toEqual(['lent other']));
    expect(client.told).toHaveLength(5);
    client.socket.resume();
    await untilPasses(() => expect(client.told).toHaveLength(40));
    expect(client.told.map((one) => one.replace(/^(?:lent|copied) /u, ''))).toEqual(sent);
    for (const { socket } of [client, other.client]) socket.terminate();
  });
});

it('was tried on this major of Node', () => {
  expect(TRIED_ON).toContain(Number.parseInt(process.versions.node, 10));
});

describe('a socket that cannot be', () => {
  it('is left to `ws` when bytes came before the upgrade, since they may end within a frame', async () => {
    const raw = connect(port(), '127.0.0.1');
    // All of one frame, and the first half of the next.
    raw.write(
      Buffer.concat([Buffer.from(upgrade), Buffer.from([0x81, 0x82, 0, 0, 0, 0]), Buffer.from('ok'), Buffer.from([0x81])]),
    );
    await once(raw, 'data');
    raw.write(Buffer.concat([Buffer.from([0x82, 0, 0, 0, 0]), Buffer.from('on')]));
    const gateway = accepted.at(-1)!;
    await untilPasses(() => expect(gateway.told).toEqual(['text ok', 'text on']));
    expect(gateway.lends).toBe(false);
    raw.destroy();
  });

  it('is left to `ws` when Node has other socket internals', () => {
    expect(takeMessages({ readyState: WebSocket.OPEN } as WebSocket, new Socket(), true, () => undefined)).toBe(false);
  });
});

const upgrade = [
  'GET / HTTP/1.1',
  'Host: gateway',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  '\r\n',
].join('\r\n');
