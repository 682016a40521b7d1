import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { takeTexts } from '../../../src/carriers/lent-reads.ts';

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
      const lends = takeTexts(socket, stream, (text) => {
        told.push(`lent ${text.toString()}`);
        memory.add(text.buffer);
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

describe('a carrier’s socket that is read into lent memory', () => {
  it('tells whole texts out of that memory and everything else as its events, in order', async () => {
    const { client, gateway } = await opened();
    client.send('one');
    client.send(Buffer.from('two'), { binary: true });
    client.send('th', { fin: false });
    client.send('ree', { fin: true });
    client.ping('four');
    client.send('five');
    client.close(1000);
    await vi.waitFor(() => expect(gateway.told.at(-1)).toBe('closed 1000'));
    expect(gateway.lends).toBe(true);
    expect(gateway.told).toEqual(['lent one', 'binary two', 'text three', 'ping four', 'lent five', 'closed 1000']);
  });

  it('uses the same memory for every message of every socket', async () => {
    const both = [await opened(), await opened()];
    for (const { client } of both) for (let count = 0; count < 50; count += 1) client.send(`message ${count}`);
    await vi.waitFor(() => expect(both.map(({ gateway }) => gateway.told.length)).toEqual([50, 50]));
    const memory = new Set(both.flatMap(({ gateway }) => [...gateway.memory]));
    expect(memory.size).toBe(1);
  });

  it('tells messages that are larger than a read', async () => {
    const { client, gateway } = await opened();
    const large = 'x'.repeat(65_000);
    for (const text of ['before', large, large, 'behind']) client.send(text);
    await vi.waitFor(() => expect(gateway.told).toHaveLength(4));
    expect(gateway.told.map((one) => one.replace(/^(?:lent|text) /u, ''))).toEqual(['before', large, large, 'behind']);
  });

  it('reads nothing while it is paused, and all of it in order afterwards', async () => {
    const { client, gateway } = await opened();
    client.send('before');
    await vi.waitFor(() => expect(gateway.told).toEqual(['lent before']));
    gateway.socket.pause();
    for (let count = 0; count < 20; count += 1) client.send(`${count}`);
    // They have come as far as this process.
    const other = await opened();
    other.client.send('other');
    await vi.waitFor(() => expect(other.gateway.told).toEqual(['lent other']));
    expect(gateway.told).toEqual(['lent before']);
    gateway.socket.resume();
    await vi.waitFor(() => expect(gateway.told).toHaveLength(21));
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

describe('a socket that cannot be', () => {
  it('is left to `ws` when bytes came before the upgrade: they may end within a frame', async () => {
    const raw = connect(port(), '127.0.0.1');
    // All of one frame, and the first half of the next.
    raw.write(
      Buffer.concat([Buffer.from(upgrade), Buffer.from([0x81, 0x82, 0, 0, 0, 0]), Buffer.from('ok'), Buffer.from([0x81])]),
    );
    await once(raw, 'data');
    raw.write(Buffer.concat([Buffer.from([0x82, 0, 0, 0, 0]), Buffer.from('on')]));
    const gateway = accepted.at(-1)!;
    await vi.waitFor(() => expect(gateway.told).toEqual(['text ok', 'text on']));
    expect(gateway.lends).toBe(false);
    raw.destroy();
  });

  it('is left to `ws` where Node keeps its sockets otherwise', () => {
    expect(takeTexts({ readyState: WebSocket.OPEN } as WebSocket, new Socket(), () => undefined)).toBe(false);
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
