import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { type TextSink, WholeTexts } from './whole-texts.ts';

/** What the sockets of all calls are read into, one at a time: as much as Node reads at once. */
const lent = Buffer.allocUnsafeSlow(65_536);

/**
 * Has a WebSocket of ours read into memory that is used again, where Node lets us, and takes its texts from there. Otherwise each message of
 * 400 bytes is read into 64 KB of its own, and passes a stream, views and events besides. Texts that come whole are told here,
 * lent for the time of the call; everything else goes on to `ws` and comes as its events.
 * @param stream what the WebSocket was upgraded from
 * @returns whether it is so; otherwise everything comes as `ws`'s events
 */
export function takeTexts(socket: WebSocket, stream: Socket, take: (text: Buffer) => void): boolean {
  // Bytes that came before the upgrade are in the stream already, and maybe end within a frame.
  if (stream.readableLength > 0) return false;
  const texts = new WholeTexts();
  let wantsMore = true;
  const sink: TextSink = {
    text(message) {
      // In its turn, and only while `ws` would tell it, too.
      const inTurn = stream.readableLength === 0 && stream.readableFlowing === true;
      if (!inTurn || socket.readyState !== WebSocket.OPEN || !isUtf8(message)) return false;
      take(message);
      return true;
    },
    rest(bytes) {
      wantsMore = stream.push(Buffer.from(bytes));
    },
  };
  return readInto(lent, stream, (count) => {
    wantsMore = true;
    texts.read(lent, count, sink);
    return wantsMore;
  });
}

/**
 * What `onread` of `net.connect` does (nodejs.org/api/net.html), which Node offers for sockets that it opens and not for those it
 * accepts: the same places inside of it are set, if this version of Node has them.
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
