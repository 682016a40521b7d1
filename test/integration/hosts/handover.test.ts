import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MediaProcess } from '../../../src/hosts/media-process.ts';
import type { MediaElsewhere } from '../../../src/http/intake.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { answer, authToken, type Gateway, openSocket, openStream, startGateway, upgradeHeader } from '../http/gateway.ts';
import { starting } from '../http/starting-carrier.ts';
import { nodeArguments } from '../../support/program.ts';
import { HANGS_MS } from '../../support/patience.ts';

const CHILD = fileURLToPath(new URL('../../support/media-child.ts', import.meta.url));
let media: MediaProcess;
let gateway: Gateway;
let taken = 0;

beforeAll(async () => {
  const args = await nodeArguments(CHILD);
  const child = fork(args.at(-1) ?? '', [], { execArgv: args.slice(0, -1) });
  media = new MediaProcess({ number: 1, child, clock: systemClock, logger: silentLogger, onReport: () => undefined });
  await media.up(60_000);
  const elsewhere: MediaElsewhere = {
    expect: () => undefined,
    abandon: () => undefined,
    async take(grant, { socket, headers, early, answered = false, address }) {
      taken++;
      const sent = Buffer.from(early).toString('base64');
      await media.ask(
        'media',
        { grant, transport: 'websocket', headers: { ...headers }, early: sent, answered, address },
        socket,
      );
    },
  };
  gateway = await startGateway({
    media: elsewhere,
    others: [starting],
    env: { OFFHOOK_HTTP__PENDING_STREAMS_PER_ADDRESS: '20' },
  });
});

afterAll(async () => {
  media.kill();
  await media.gone;
});

it('serves the media of calls in another process, each stream once, and knows nothing of its frames', async () => {
  const urls = await Promise.all(
    Array.from({ length: 10 }, (_, call) =>
      answer(gateway, { fields: { CallSid: `CA${String(call).repeat(32)}`, From: '+1', To: '+2', Direction: 'inbound' } }),
    ),
  );
  const sockets = await Promise.all(urls.map((url) => openSocket(url)));
  const said = sockets.map(async (socket, call) => {
    const heard = once(socket, 'message');
    socket.send(`call ${call}`);
    return String((await heard)[0]);
  });
  expect(await Promise.all(said)).toEqual(sockets.map((_, call) => `${media.pid} call ${call}`));
  expect(await openStream(urls[0]!)).toBe(403);
  expect(gateway.intake.attachments).toEqual([]);
  const closed = Promise.all(sockets.map((socket) => once(socket, 'close')));
  for (const socket of sockets) socket.close();
  await closed;
});

it('loses nothing of what a client sends before it was answered', async () => {
  const url = new URL(await answer(gateway));
  const socket = connect(Number(url.port), url.hostname);
  const headers = { ...upgradeHeader(url.href), connection: 'Upgrade', upgrade: 'websocket', host: url.host };
  const more = { 'sec-websocket-version': '13', 'sec-websocket-key': Buffer.alloc(16).toString('base64') };
  const lines = Object.entries({ ...headers, ...more }).map(([name, value]) => `${name}: ${value}`);
  // A text frame with a mask of zeros: "hello".
  const frame = Buffer.from([0x81, 0x85, 0, 0, 0, 0, ...Buffer.from('hello')]);
  socket.write(Buffer.concat([Buffer.from(`GET ${url.pathname} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`), frame]));
  let heard = '';
  socket.on('data', (part: Buffer) => (heard += part.toString('latin1')));
  await expect.poll(() => heard, { timeout: HANGS_MS }).toContain(`${media.pid} hello`);
  socket.destroy();
});

it('goes on in another process with a socket whose start was read here, and loses no message', async () => {
  const socket = await openStream(`${gateway.url.replace('http', 'ws')}/carriers/starting/media`, { 'x-key': authToken });
  if (typeof socket === 'number') throw new Error(`refused with ${socket}`);
  const heard: string[] = [];
  socket.on('message', (data: Buffer) => heard.push(data.toString()));
  const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
  const start = JSON.stringify({ event: 'start', start: { streamSid: 's', callSid: 'call-9', mediaFormat } });
  const sent = [start, ...Array.from({ length: 500 }, (_, index) => `frame ${index}`)];
  for (const [index, message] of sent.entries()) {
    socket.send(message);
    if (index % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await expect.poll(() => heard.length, { timeout: HANGS_MS }).toBe(sent.length);
  expect(heard).toEqual(sent.map((message) => `${media.pid} ${message}`));
  socket.close();
});

it('leaves no client waiting when a process dies that had its socket, or did not know of it yet', async () => {
  const socket = await openSocket(await answer(gateway));
  const closed = once(socket, 'close');
  const urls = await Promise.all([answer(gateway), answer(gateway)]);
  const before = taken;
  process.kill(media.pid!, 'SIGSTOP');
  const refused = urls.map((url) => expect(openStream(url)).rejects.toThrow(/socket hang up|ECONNRESET/u));
  await expect.poll(() => taken).toBe(before + urls.length);
  media.kill();
  await Promise.all([closed, ...refused]);
});

it('closes its port though a process that had sockets is gone, and refuses those it is given by closing them', async () => {
  const url = await answer(gateway);
  await expect(openStream(url)).rejects.toThrow(/socket hang up|ECONNRESET/u);
  await gateway.app.close();
});
