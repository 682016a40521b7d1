import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../support/manual-clock.ts';
import { maskSecret } from '../../../src/kernel/mask-secret.ts';
import { openSocket, type PlatformSocket } from '../../../src/speech/client/socket.ts';
import { eventually } from '../../support/eventually.ts';
import { startScripted } from './scripted-platform.ts';
import { clock, failureOf } from './support.ts';

const signal = new AbortController().signal;

class Heard {
  readonly texts: string[] = [];
  readonly closes: { readonly code: number; readonly reason: string }[] = [];
  readonly text = (text: string): void => void this.texts.push(text);
  readonly binary = (): void => undefined;
  readonly closed = (code: number, reason: string): void => void this.closes.push({ code, reason });
}

/** A TCP server that answers an upgrade with these bytes, or with nothing. */
async function rawServer(answer: string | undefined): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((stream) => {
    stream.on('error', () => undefined);
    stream.once('data', () => (answer === undefined ? undefined : stream.end(answer)));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

describe('socket to the platform', () => {
  it('shows no token that a refused upgrade repeats', async () => {
    const { url, server } = await rawServer('HTTP/1.1 403 No\r\nx-request-id: the-token\r\n\r\n{"detail":"Bearer the-token"}');
    const error = await failureOf(openSocket(url, new Heard(), { clock, signal, mask: maskSecret('the-token') }));
    expect(error).toMatchObject({ message: expect.stringContaining('Bearer [token]'), requestId: '[token]' });
    expect(JSON.stringify(error)).not.toContain('the-token');
    server.close();
  });

  it('gives up an upgrade that is not answered', async () => {
    const { url, server } = await rawServer(undefined);
    const manual = new ManualClock();
    const failure = failureOf(openSocket(url, new Heard(), { clock: manual, timeoutMs: 700, signal }));
    manual.advance(699);
    expect(manual.pendingTimers).toBe(1);
    manual.advance(1);
    expect(await failure).toMatchObject({ code: 'OFFHOOK_SPEECH_UNAVAILABLE' });
    expect(manual.pendingTimers).toBe(0);
    server.close();
  });

  it('opens below the path of the address', async () => {
    await using platform = await startScripted({});
    const socket = await openSocket(`${platform.url}/asr`, new Heard(), {
      path: '/ws',
      query: { voice: 'Nisha' },
      clock,
      signal,
    });
    expect(platform.sockets[0]!.url).toBe('/asr/ws?voice=Nisha');
    socket.close();
  });

  it('reads a refusal whose body breaks off, and follows no redirect [47]', async () => {
    for (const [answer, status] of [
      ['HTTP/1.1 401 Unauthorized\r\ncontent-length: 500\r\n\r\n{"detail":', 401],
      ['HTTP/1.1 307 Elsewhere\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n', 307],
      ['HTTP/1.1 503 Busy\r\ncontent-length: 4\r\n\r\nwait', 503],
    ] as const) {
      const { url, server } = await rawServer(answer);
      expect(await failureOf(openSocket(url, new Heard(), { clock, signal }))).toMatchObject({ status });
      server.close();
    }
  });

  it('leaves nothing behind when it is aborted while it opens', async () => {
    const { url, server } = await rawServer(undefined);
    const manual = new ManualClock();
    const abort = new AbortController();
    const failure = failureOf(openSocket(url, new Heard(), { clock: manual, signal: abort.signal }));
    abort.abort(new Error('hung up'));
    expect((await failure).message).toBe('hung up');
    expect(manual.pendingTimers).toBe(0);
    server.close();
  });

  it('is cut when the other end answers no ping', async () => {
    const manual = new ManualClock();
    await using platform = await startScripted({});
    const heard = new Heard();
    await openSocket(platform.url, heard, { clock: manual, signal });
    await eventually(() => platform.sockets.length === 1);
    // Reads nothing any more, as a machine that has vanished.
    platform.sockets[0]!.socket.pause();
    manual.advance(5_000);
    expect(heard.closes).toHaveLength(0);
    manual.advance(5_000);
    await eventually(() => heard.closes.length === 1);
    expect(heard.closes[0]!.code).toBe(1006);
    expect(manual.pendingTimers).toBe(0);
  });

  it('stays while pings are answered', async () => {
    const manual = new ManualClock();
    await using platform = await startScripted({});
    const heard = new Heard();
    await openSocket(platform.url, heard, { clock: manual, signal });
    await eventually(() => platform.sockets.length === 1);
    const { socket } = platform.sockets[0]!;
    for (let times = 0; times < 4; times += 1) {
      const pinged = new Promise((resolve) => socket.once('ping', resolve));
      manual.advance(5_000);
      await pinged;
      // Our ping goes behind the pong: once it is answered, the pong was read.
      const read = new Promise((resolve) => socket.once('pong', resolve));
      socket.ping();
      await read;
    }
    expect(heard.closes).toHaveLength(0);
  });

  it('is cut a second after a close that the other end does not answer', async () => {
    const manual = new ManualClock();
    await using platform = await startScripted({});
    const heard = new Heard();
    const socket: PlatformSocket = await openSocket(platform.url, heard, { clock: manual, signal });
    await eventually(() => platform.sockets.length === 1);
    platform.sockets[0]!.socket.pause();
    socket.close();
    socket.send('nothing is sent any more');
    manual.advance(999);
    expect(heard.closes).toHaveLength(0);
    manual.advance(1);
    await eventually(() => heard.closes.length === 1);
    expect(manual.pendingTimers).toBe(0);
  });

  it('is cut then also where the other end goes on, and every message has it closed again', async () => {
    const manual = new ManualClock();
    await using platform = await startScripted({});
    const heard = new Heard();
    const { binary, closed } = heard;
    const text = (said: string): void => {
      heard.text(said);
      socket.close();
    };
    const socket: PlatformSocket = await openSocket(platform.url, { text, binary, closed }, { clock: manual, signal });
    await eventually(() => platform.sockets.length === 1);
    platform.sockets[0]!.socket.pause();
    for (const count of [1, 2, 3]) {
      platform.sockets[0]!.json({ type: 'chunk' });
      await eventually(() => heard.texts.length === count);
      manual.advance(333);
    }
    expect(heard.closes).toHaveLength(0);
    manual.advance(1);
    await eventually(() => heard.closes.length === 1);
    expect(manual.pendingTimers).toBe(0);
  });

  it('closes at a message over four megabytes', async () => {
    await using platform = await startScripted({ onOpen: ({ socket }) => socket.send('x'.repeat(4 * 1024 * 1024 + 1)) });
    const heard = new Heard();
    await openSocket(platform.url, heard, { clock, signal });
    await eventually(() => heard.closes.length === 1);
    expect(heard.texts).toHaveLength(0);
  });
});
