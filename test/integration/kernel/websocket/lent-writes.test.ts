import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { LentWrites } from '../../../../src/kernel/websocket/lent-writes.ts';
import { untilPasses } from '../../../support/eventually.ts';

/** One end of a connection: what it sends by, and what it was told. */
interface End {
  readonly socket: WebSocket;
  readonly stream: Socket;
  readonly writes: LentWrites;
  readonly told: { readonly data: Buffer; readonly isBinary: boolean }[];
}

/** TLS for which no certificate has to be made. */
const UNSIGNED = { ciphers: 'aNULL:@SECLEVEL=0', maxVersion: 'TLSv1.2', rejectUnauthorized: false } as const;

let server: Server;
let ends: End[];

beforeEach(async () => {
  ends = [];
  server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(() => {
  for (const { socket } of ends) socket.terminate();
  server.close();
});

function end(socket: WebSocket, stream: Socket, masks: boolean): End {
  const told: End['told'] = [];
  socket.on('message', (data: Buffer, isBinary) => void told.push({ data: Buffer.from(data), isBinary }));
  const made = { socket, stream, writes: new LentWrites(socket, stream, masks), told };
  ends.push(made);
  return made;
}

async function connected(scheme: 'ws' | 'wss' = 'ws'): Promise<{ readonly client: End; readonly gateway: End }> {
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  const accepted = new Promise<End>((resolve) => {
    server.once('upgrade', (request, stream: Socket, head) =>
      sockets.handleUpgrade(request, stream, head, (socket) => resolve(end(socket, stream, false))),
    );
  });
  const address = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const socket = new WebSocket(address, { ...UNSIGNED, perMessageDeflate: false });
  const upgraded = once(socket, 'upgrade') as Promise<[{ readonly socket: Socket }]>;
  await once(socket, 'open');
  return { client: end(socket, (await upgraded)[0].socket, true), gateway: await accepted };
}

/** Bytes that differ from place to place and from one seed to the next. */
function bytesOf(length: number, seed: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += 1) bytes[at] = at * 31 + seed * 7;
  return bytes;
}
/** Around every length at which a frame's head changes, and beyond what is lent. */
const LENGTHS = [0, 1, 2, 3, 4, 5, 125, 126, 127, 1_000, 65_000, 65_520, 65_535, 65_536, 65_537, 200_000];

describe('messages sent from shared memory', () => {
  it.each(['client', 'gateway'] as const)('arrive unchanged, whatever their length, from the %s', async (from) => {
    const both = await connected();
    const to = from === 'client' ? both.gateway : both.client;
    for (const [seed, length] of LENGTHS.entries()) {
      both[from].writes.sendBinary(bytesOf(length, seed));
      both[from].writes.sendText('ä'.repeat(length / 2));
    }
    await untilPasses(() => expect(to.told).toHaveLength(2 * LENGTHS.length));
    for (const [seed, length] of LENGTHS.entries()) {
      const [binary, text] = [to.told[2 * seed]!, to.told[2 * seed + 1]!];
      expect(binary.isBinary && binary.data.equals(bytesOf(length, seed)), `${length} bytes`).toBe(true);
      expect(!text.isBinary && text.data.toString() === 'ä'.repeat(length / 2), `a text of ${length} bytes`).toBe(true);
    }
  });

  it('keep unsent bytes of a socket while others send from the same memory', async () => {
    const [slow, quick] = [await connected(), await connected()];
    slow.client.stream.pause();
    // More than two sockets' buffers hold.
    const messages = 200;
    for (let seed = 0; seed < messages; seed += 1) {
      slow.gateway.writes.sendBinary(bytesOf(60_000, seed));
      quick.gateway.writes.sendBinary(bytesOf(60_000, seed + 1));
    }
    expect(slow.gateway.socket.bufferedAmount).toBeGreaterThan(0);
    slow.client.stream.resume();
    await untilPasses(() => expect(slow.client.told).toHaveLength(messages));
    await untilPasses(() => expect(quick.client.told).toHaveLength(messages));
    expect(slow.client.told.every(({ data }, seed) => data.equals(bytesOf(60_000, seed)))).toBe(true);
    expect(quick.client.told.every(({ data }, seed) => data.equals(bytesOf(60_000, seed + 1)))).toBe(true);
  });

  it('arrive over TLS, which takes the bytes later', async () => {
    server.close();
    server = createTlsServer(UNSIGNED);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { client, gateway } = await connected('wss');
    for (let seed = 0; seed < 50; seed += 1)
      for (const { writes } of [client, gateway]) writes.sendBinary(bytesOf(2_000 + seed, seed));
    for (const { told } of [client, gateway]) {
      await untilPasses(() => expect(told).toHaveLength(50));
      expect(told.every(({ data }, seed) => data.equals(bytesOf(2_000 + seed, seed)))).toBe(true);
    }
  });

  it('keep their order with messages sent by the WebSocket itself', async () => {
    const { client, gateway } = await connected();
    const order: string[] = [];
    client.socket.on('ping', (data) => void order.push(`ping ${data.toString()}`));
    client.socket.on('message', (data: Buffer) => void order.push(data.toString()));
    gateway.writes.sendText('one');
    gateway.socket.ping('two');
    gateway.writes.sendText('three');
    gateway.socket.send('four');
    gateway.writes.sendText('five');
    gateway.socket.close(1000, 'done');
    const [code] = (await once(client.socket, 'close')) as [number];
    expect(order).toEqual(['one', 'ping two', 'three', 'four', 'five']);
    expect(code).toBe(1000);
  });

  it('are masked with different keys, as a client’s must be', async () => {
    const { client } = await connected();
    const frames: Buffer[] = [];
    vi.spyOn(client.stream, 'write').mockImplementation((bytes) => frames.push(Buffer.from(bytes as Buffer)) > 0);
    for (let count = 0; count < 3_000; count += 1) client.writes.sendText('the same');
    expect(frames.every((frame) => frame[0] === 0x81 && frame[1] === (0x80 | 8))).toBe(true);
    expect(new Set(frames.map((frame) => frame.readInt32BE(2))).size).toBeGreaterThan(2_990);
  });

  it('are sent by the WebSocket itself without its stream', () => {
    const sent: unknown[] = [];
    const writes = new LentWrites({ send: (message) => void sent.push(message) }, undefined, false);
    writes.sendText('{"ok":"ü"}');
    writes.sendBinary(bytesOf(300, 1));
    writes.sendBinary(bytesOf(300, 2));
    expect(sent).toEqual(['{"ok":"ü"}', bytesOf(300, 1), bytesOf(300, 2)]);
  });
});
