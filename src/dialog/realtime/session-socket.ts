import { WebSocket } from 'ws';

/** What a vendor's socket reports. After `closed` nothing follows. */
export interface WireListener {
  opened(): void;
  frame(text: string): void;
  /** @param status of the HTTP answer, where the upgrade was refused */
  closed(reason: string, status?: number): void;
}

/** One socket to a vendor. */
export interface Wire {
  /** Dropped unless the socket is open. */
  send(frame: string): void;
  /** Bytes that the network has not taken yet. */
  readonly waitingBytes: number;
  close(): void;
}

/** Opens a socket; its events come once this has returned. */
export type OpenWire = (url: string, headers: Readonly<Record<string, string>>, listener: WireListener) => Wire;

/** The longest message of a vendor: 15 MiB is the limit of audio in one at OpenAI; seconds of audio need far less. */
const MOST_FRAME_BYTES = 4 * 1024 * 1024;
const HANDSHAKE_MS = 10_000;

/** Opens a WebSocket to a vendor. */
export const openSocket: OpenWire = (url, headers, listener) => {
  const socket = new WebSocket(url, {
    headers: { ...headers },
    maxPayload: MOST_FRAME_BYTES,
    perMessageDeflate: false,
    handshakeTimeout: HANDSHAKE_MS,
    followRedirects: false,
  });
  let isOver = false;
  const over = (reason: string, status?: number): void => {
    if (isOver) return;
    isOver = true;
    listener.closed(reason, status);
  };
  socket.on('open', () => listener.opened());
  // Some vendors send JSON in binary frames.
  socket.on('message', (data: Buffer) => listener.frame(data.toString('utf8')));
  socket.on('unexpected-response', (_request, response) => {
    response.resume();
    over(`it answered the upgrade with HTTP ${response.statusCode ?? 0}`, response.statusCode);
    socket.terminate();
  });
  socket.on('close', (code) => over(`it closed the socket with code ${code}`));
  socket.on('error', () => over('the socket broke'));
  return {
    send: (frame) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(frame);
    },
    get waitingBytes() {
      return socket.bufferedAmount;
    },
    close: () => {
      isOver = true;
      socket.close(1000);
    },
  };
};
