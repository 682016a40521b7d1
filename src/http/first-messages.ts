import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../kernel/clock.ts';
import { WholeMessages } from '../kernel/websocket/lent-reads.ts';

export interface FirstMessagesOptions {
  readonly socket: Socket;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes after the request. */
  readonly early: Uint8Array;
  readonly clock: Clock;
  /** Time until the first message, and from it until `read` is satisfied. */
  readonly withinMs: { readonly silent: number; readonly whole: number };
  /** Most bytes kept meanwhile. */
  readonly mostBytes: number;
}

/** How the wait for a socket's first messages ended. */
export type FirstMessages<Found> =
  | {
      readonly found: Found;
      /** All bytes so far. `leaving`: the socket goes to another process, and is not read here any longer. */
      readonly early: (leaving?: 'leaving') => Buffer;
    }
  | { readonly problem: string };

/** RFC 6455, 1.3. */
const ACCEPT_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
/** RFC 6455, 7.4.1: policy. */
const CLOSE_1008 = Buffer.from([0x88, 0x02, 0x03, 0xf0]);

/**
 * Answers the upgrade of a WebSocket and reads its first messages until they name its call: the socket can then be passed with all bytes to the
 * process that has the call (`GivenSockets`), this one or another. Control frames and fragments are skipped here and read there.
 * @param read examines one complete message; undefined for more
 */
export async function firstMessages<Found>(
  options: FirstMessagesOptions,
  read: (message: Buffer, isBinary: boolean) => Found | undefined,
): Promise<FirstMessages<Found>> {
  const { socket, headers, early, clock, withinMs, mostBytes } = options;
  const key = headers['sec-websocket-key'];
  if (key === undefined || !/^[+/0-9A-Za-z]{22}==$/u.test(key) || headers['sec-websocket-version'] !== '13') {
    socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    return { problem: 'no WebSocket upgrade' };
  }
  socket.write(answerTo(key, headers['sec-websocket-protocol']));
  const kept: Buffer[] = [];
  let keptBytes = 0;
  const messages = new WholeMessages(true);
  return new Promise((resolve) => {
    let timer: Timer = clock.after(withinMs.silent, () => giveUp(`no message within ${withinMs.silent} ms`));
    let heard = false;
    const settle = (end: FirstMessages<Found>): void => {
      timer.cancel();
      socket.off('readable', take);
      socket.off('close', gone);
      resolve(end);
    };
    const giveUp = (problem: string): void => {
      closeUnserved(socket);
      settle({ problem });
    };
    const gone = (): void => settle({ problem: 'the socket was closed before its start' });
    const look = (bytes: Buffer): Found | undefined => {
      let found: Found | undefined;
      // Messages are unmasked in place, and masked again if passed on.
      messages.read(bytes, bytes.length, {
        message(payload, isBinary) {
          found ??= read(Buffer.from(payload), isBinary);
          if (!heard) {
            heard = true;
            timer.cancel();
            timer = clock.after(withinMs.whole, () => giveUp(`no start within ${withinMs.whole} ms`));
          }
          return false;
        },
        rest: () => undefined,
      });
      return found;
    };
    const receive = (bytes: Buffer): boolean => {
      kept.push(bytes);
      keptBytes += bytes.length;
      const found = look(bytes);
      if (found !== undefined) {
        // Bytes read meanwhile are collected at the last moment: they would be lost on the way to another process.
        const early = (leaving?: 'leaving'): Buffer => {
          if (leaving !== undefined) stopReading(socket);
          return Buffer.concat([...kept, readOf(socket) ?? Buffer.alloc(0)]);
        };
        settle({ found, early });
        return true;
      }
      if (keptBytes <= mostBytes) return false;
      giveUp(`no start within ${mostBytes} bytes`);
      return true;
    };
    const take = (): void => {
      for (let bytes = readOf(socket); bytes !== undefined; bytes = readOf(socket)) if (receive(bytes)) return;
    };
    socket.once('close', gone);
    socket.on('error', () => undefined);
    if (early.length > 0 && receive(Buffer.from(early))) return;
    socket.on('readable', take);
    take();
  });
}

/** Closes an unserved WebSocket with 1008. */
export function closeUnserved(socket: Socket): void {
  if (socket.writable) socket.end(CLOSE_1008);
  socket.destroySoon();
}

function readOf(socket: Socket): Buffer | undefined {
  const bytes: unknown = socket.read();
  return Buffer.isBuffer(bytes) ? bytes : undefined;
}

/**
 * For a socket that goes to another process. Node keeps reading it until it is handed over, and drops that data. Pausing only stops at a full buffer,
 * so the handle itself is stopped, by an undocumented function (`lib/net.js`, `tryReadStart`).
 */
export function stopReading(socket: Socket): void {
  const handle = (socket as unknown as { _handle?: { reading?: boolean; readStop?: () => void } })._handle;
  if (typeof handle?.readStop !== 'function') return;
  handle.reading = false;
  handle.readStop();
}

/** Speaks the first offered sub-protocol, like `ws`. */
function answerTo(key: string, offered: string | undefined): string {
  const accept = createHash('sha1')
    .update(key + ACCEPT_GUID)
    .digest('base64');
  const protocol = offered?.split(',')[0]?.trim();
  return [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${accept}`,
    ...(protocol === undefined || !/^[\w.-]{1,100}$/u.test(protocol) ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
    '',
    '',
  ].join('\r\n');
}
