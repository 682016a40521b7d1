import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { type MessageSink, WholeMessages } from './whole-messages.ts';

/** What the sockets of all calls are read into, one at a time: as much as Node reads at once. */
const lent = Buffer.allocUnsafeSlow(65_536);

/**
 * Has a WebSocket of ours read into memory that is used again, where Node lets us, and takes its messages from there. Otherwise each message of
 * 400 bytes is read into 64 KB of its own, and passes a stream, views and events besides. Messages that come whole are told here,
 * lent for the time of the call; everything else goes on to `ws` and comes as its events.
 * @param stream what the WebSocket was upgraded from
 * @param masked whether the other end is the client
 * @returns whether it is so; otherwise everything comes as `ws`'s events
 */
export function takeMessages(
  socket: WebSocket,
  stream: Socket,
  masked: boolean,
  take: (payload: Buffer, isBinary: boolean) => void,
): boolean {
  // Bytes that came before the upgrade are in the stream already, and maybe end within a frame.
  if (stream.readableLength > 0) return false;
  const messages = new WholeMessages(masked);
  let wantsMore = true;
  const sink: MessageSink = {
    message(payload, isBinary) {
      // In its turn, and only while `ws` would tell it, too.
      const inTurn = stream.readableLength === 0 && stream.readableFlowing === true;
      if (!inTurn || socket.readyState !== WebSocket.OPEN || (!isBinary && !isUtf8(payload))) return false;
      take(payload, isBinary);
      return true;
    },
    rest(bytes) {
      wantsMore = stream.push(Buffer.from(bytes));
    },
  };
  return readInto(lent, stream, (count) => {
    wantsMore = true;
    messages.read(lent, count, sink);
    return wantsMore;
  });
}

/**
 * What `onread` of `net.connect` does (nodejs.org/api/net.html), which Node offers for sockets that it opens itself, and neither for those it
 * accepts nor for upgraded ones: the same places inside of it are set, if this version of Node has them.
 * @param onRead told how many bytes were read; false to read no more until the stream is resumed
 */
function readInto(memory: Buffer, stream: Socket, onRead: (count: number) => boolean): boolean {
  const symbols = Object.getOwnPropertySymbols(stream);
  const buffer = symbols.find(({ description }) => description === 'kBuffer');
  const callback = symbols.find(({ description }) => description === 'kBufferCb');
  const inside = stream as unknown as Record<symbol, unknown> & { _handle?: { useUserBuffer?: (memory: Buffer) => void } };
  if (buffer === undefined || callback === undefined || typeof inside._handle?.useUserBuffer !== 'function') return false;
  inside[buffer] = memory;
  inside[callback] = onRead;
  inside._handle.useUserBuffer(memory);
  return true;
}
