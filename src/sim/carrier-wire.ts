import { connect } from 'node:net';
import { WebSocket } from 'ws';

/** What carries a simulated media stream to the gateway: a WebSocket, or a TCP connection. */
export interface CarrierWire {
  readonly open: boolean;
  /** Text goes as a text message, bytes as a binary one; over TCP both are bytes. */
  send(data: string | Uint8Array): void;
  /** Closes politely. @param code of the close frame, where there is one */
  close(code: number): void;
  /** Dies without a word. */
  destroy(): void;
  /** To be called once; what came before is delivered at once. */
  listen(listener: WireListener): void;
}

export interface WireListener {
  /** One whole message, or over TCP a chunk of any length. */
  message(data: Buffer, isBinary: boolean): void;
  /** Nothing follows. @param code of the close frame; over TCP 1000 for an end, and 1006 for a reset */
  closed(code: number): void;
}

const OPENS_WITHIN_MS = 5_000;

/** @throws when the gateway does not upgrade the socket */
export async function openWebSocket(
  url: string,
  options: { readonly headers?: Readonly<Record<string, string>>; readonly protocols?: readonly string[] } = {},
): Promise<CarrierWire> {
  const { headers = {}, protocols = [] } = options;
  const socket = new WebSocket(url, [...protocols], { headers, perMessageDeflate: false, handshakeTimeout: OPENS_WITHIN_MS });
  const held = new HeldEvents();
  socket.on('message', (data: Buffer, isBinary) => held.message(data, isBinary));
  socket.once('close', (code) => held.closed(code));
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.on('error', reject);
  });
  return {
    get open() {
      return socket.readyState === WebSocket.OPEN;
    },
    send: (data) => socket.send(data),
    close: (code) => socket.close(code),
    destroy: () => socket.terminate(),
    listen: (listener) => held.release(listener),
  };
}

/** @throws when nobody listens there */
export async function openTcp(host: string, port: number): Promise<CarrierWire> {
  const socket = connect({ host, port, noDelay: true, timeout: OPENS_WITHIN_MS });
  const held = new HeldEvents();
  let failed = false;
  socket.on('data', (data: Buffer) => held.message(data, true));
  socket.once('close', () => held.closed(failed ? 1006 : 1000));
  socket.on('error', () => {
    failed = true;
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
    socket.once('timeout', () => socket.destroy(new Error(`${host}:${port} does not answer`)));
  });
  socket.setTimeout(0);
  return {
    get open() {
      return socket.readyState === 'open';
    },
    send: (data) => void socket.write(data),
    close: () => void socket.end(),
    destroy: () => socket.resetAndDestroy(),
    listen: (listener) => held.release(listener),
  };
}

/** Events of a wire until somebody listens: a gateway may speak in the very packet of its upgrade. */
class HeldEvents implements WireListener {
  readonly #held: ((listener: WireListener) => void)[] = [];
  #listener: WireListener | undefined;

  message(data: Buffer, isBinary: boolean): void {
    this.#deliver((listener) => listener.message(data, isBinary));
  }

  closed(code: number): void {
    this.#deliver((listener) => listener.closed(code));
  }

  release(listener: WireListener): void {
    this.#listener = listener;
    for (const deliver of this.#held.splice(0)) deliver(listener);
  }

  #deliver(deliver: (listener: WireListener) => void): void {
    if (this.#listener === undefined) this.#held.push(deliver);
    else deliver(this.#listener);
  }
}

/**
 * Where an address of the gateway is really asked: what is signed is its public address, which may not be reachable yet.
 * @param address `http` or `ws`
 * @param gateway its public address, and where it is reached all the same
 */
export function reachedAddress(
  address: string,
  { url, connectTo }: { readonly url: string; readonly connectTo?: string | undefined },
): string {
  const asked = new URL(address);
  if (connectTo === undefined || asked.host !== new URL(url).host) return address;
  const base = asked.protocol.startsWith('ws') ? connectTo.replace(/^http/iu, 'ws') : connectTo;
  return new URL(asked.pathname + asked.search, base).href;
}
