import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { type MessageSink, WholeMessages } from './whole-messages.ts';

/** Memory that all sockets of calls are read into, one at a time; as large as Node's own reads. */
const lent = Buffer.allocUnsafeSlow(65_536);

/**
 * Reads a WebSocket into shared memory, where this Node allows it, and takes whole messages from there. Without this, Node
 * allocates 64 KB for each message of 400 bytes, and the message passes a stream and events. Whole messages go to `take`, valid
 * during the call only; everything else arrives as events of `ws`.
 * @param stream the socket that was upgraded
 * @param masked whether the other end is the client
 * @returns false when this Node does not allow it: then all messages arrive as events of `ws`
 */
export function takeMessages(
  socket: WebSocket,
  stream: Socket,
  masked: boolean,
  take: (payload: Buffer, isBinary: boolean) => void,
): boolean {
  // Bytes that arrived before the upgrade are in the stream already, and may end within a frame.
  if (stream.readableLength > 0) return false;
  const messages = new WholeMessages(masked);
  let wantsMore = true;
  const sink: MessageSink = {
    message(payload, isBinary) {
      // Only in order, and only while `ws` itself would emit it.
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
 * The same as `onread` of `net.connect` (nodejs.org/api/net.html), which Node offers only for sockets that it opens: sets the same
 * internal fields, if this version of Node has them.
 * @param onRead gets the number of bytes read; returns false to pause until the stream is resumed
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
