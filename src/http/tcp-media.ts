import { Buffer } from 'node:buffer';
import { createServer, type Socket, type AddressInfo } from 'node:net';
import type { TcpMedia } from '../carriers/carrier.ts';
import { TcpConnection, type TcpFraming } from '../carriers/tcp-connection.ts';
import type { StreamGrant } from '../carriers/stream-token.ts';
import type { Clock } from '../kernel/clock.ts';
import { errorText, hasCode, OffhookError } from '../kernel/errors.ts';
import { stopReading } from './first-messages.ts';
import type { MediaElsewhere } from './intake.ts';
import type { PendingSockets } from './media-routes.ts';
import { isLocal } from './public-addresses.ts';
import { type MediaServingDeps, serveMediaSocket } from './serve-media-socket.ts';
import type { StreamAddresses } from './stream-addresses.ts';

/** The port for a carrier's media over TCP is unavailable; the message names its setting. */
export class MediaPortError extends OffhookError {
  readonly code = 'OFFHOOK_MEDIA_PORT';
  readonly retryable = false;
}

export interface TcpMediaDeps extends MediaServingDeps {
  /** Name of the carrier. */
  readonly carrier: string;
  readonly media: TcpMedia;
  readonly loopbackOnly: boolean;
  readonly streams: StreamAddresses;
  /** The processes that serve media; this one when absent. */
  readonly elsewhere: MediaElsewhere | undefined;
  /** Media connections without a start so far, over all carriers. */
  readonly pending: PendingSockets;
}

/** A connection that does not name its call within this time is closed. */
const SILENT_MS = 5_000;

/**
 * Accepts a carrier's media connections over TCP. Each must name its call in its first message: without a valid token nothing is allocated for it.
 * @throws MediaPortError
 */
export async function listenForTcpMedia(
  deps: TcpMediaDeps,
  at: NonNullable<TcpMedia['listen']>,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const { carrier } = deps;
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    void admit(deps, socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const why = hasCode(cause, 'EADDRINUSE') ? 'is taken' : `cannot be listened on: ${errorText(cause)}`;
      const advice = `choose another one with ${carrier}.port, or another address with ${carrier}.host`;
      reject(new MediaPortError(`port ${at.port} on ${at.host} ${why}; ${advice}`, { cause, facts: { ...at } }));
    });
    server.listen(at.port, at.host, resolve);
  });
  server
    .removeAllListeners('error')
    .on('error', (error) => deps.logger.error({ carrier, error }, 'taking a media connection failed'));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroySoon();
      await closed;
    },
  };
}

async function admit(deps: TcpMediaDeps, socket: Socket): Promise<void> {
  const { carrier, events, pending, streams, elsewhere, logger } = deps;
  const address = socket.remoteAddress ?? '';
  const refuse = (reason: string): void => {
    events.streamRefused({ carrier, reason, status: 101, address });
    socket.destroy();
  };
  if (deps.loopbackOnly && !isLocal(address, {})) return refuse('not-local');
  if (pending.isFull(address)) return refuse('too-many-pending');
  const settled = pending.enter(address);
  try {
    const first = await firstMessage(socket, deps.media.framing, deps.clock);
    if (first === undefined) return refuse('not-started');
    const token = deps.media.tokenOf(first.message);
    if (token === undefined) return refuse('no-call');
    const claimed = await streams.claim(token, carrier);
    if ('refused' in claimed) return refuse(claimed.refused);
    if ('listen' in claimed) return refuse('no-call');
    const { grant } = claimed;
    if (elsewhere !== undefined) stopReading(socket);
    const early = Buffer.concat([first.message, first.rest, takeAll(socket)]);
    if (elsewhere !== undefined) await elsewhere.take(grant, { socket, transport: 'tcp', headers: {}, early, address });
    else await new Promise<void>((done) => serveTcpMedia(deps, { socket, early, grant, address, settled: done }));
  } catch (error) {
    logger.warn({ carrier, error }, 'serving a media connection failed');
    refuse('failed');
  } finally {
    settled();
  }
}

export interface GrantedTcp {
  readonly socket: Socket;
  /** All bytes so far, the first message included. */
  readonly early: Buffer;
  readonly grant: StreamGrant;
  readonly address: string;
  readonly settled: () => void;
}

/** Waits for the start of an admitted connection, and passes it to its call. */
export function serveTcpMedia(deps: MediaServingDeps, { socket, early, ...about }: GrantedTcp): void {
  const door = deps.carriers.get(about.grant.carrier)?.door;
  if (door?.kind !== 'webhook' || door.tcp === undefined) throw new TypeError(`${about.grant.carrier} has no media over TCP`);
  const { framing } = door.tcp;
  serveMediaSocket(deps, { ...about, connection: new TcpConnection(socket, { framing, early, clock: deps.clock }) });
}

/** @returns the first complete message and the bytes after it; undefined for a closed, silent or unreadable connection */
async function firstMessage(
  socket: Socket,
  { headBytes, lengthOf }: TcpFraming,
  clock: Clock,
): Promise<{ readonly message: Buffer; readonly rest: Buffer } | undefined> {
  let bytes = Buffer.alloc(0);
  return new Promise((resolve) => {
    const settle = (found: { readonly message: Buffer; readonly rest: Buffer } | undefined): void => {
      timer.cancel();
      socket.off('readable', read);
      socket.off('close', gone);
      resolve(found);
    };
    const gone = (): void => settle(undefined);
    const timer = clock.after(SILENT_MS, gone);
    const read = (): void => {
      bytes = Buffer.concat([bytes, takeAll(socket)]);
      if (bytes.length < headBytes) return;
      const length = lengthOf(bytes.subarray(0, headBytes));
      if (length === undefined) settle(undefined);
      else if (bytes.length >= length) settle({ message: bytes.subarray(0, length), rest: bytes.subarray(length) });
    };
    socket.once('close', gone);
    socket.on('readable', read);
  });
}

function takeAll(socket: Socket): Buffer {
  const bytes: unknown = socket.read();
  return Buffer.isBuffer(bytes) ? bytes : Buffer.alloc(0);
}
