import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { type Socket, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionGate, GateSession } from './session-gate.ts';
import { type Duplex, duplexPair } from 'node:stream';
import { errorText } from '../../kernel/errors.ts';
import {
  fatal,
  welcome,
  CANCEL_REQUEST,
  FrontendFrames,
  PROTOCOL_3,
  type Subscription,
  endsBatch,
  sqlOf,
  subscriptionOf,
} from './wire.ts';

/** PostgreSQL's own name for a socket, so that `psql -h FOLDER` finds it too. */
export const SOCKET_NAME = '.s.PGSQL.5432';

/** A Unix socket's path may have 107 bytes (unix(7)); macOS allows 103. */
const MAX_PATH_BYTES = 100;

/** The folder of the store's socket: inside the data directory, or, where that path is too long, one named after it. */
export function socketDirOf(dataDir: string): string {
  const inside = join(dataDir, 'run');
  if (Buffer.byteLength(join(inside, SOCKET_NAME)) <= MAX_PATH_BYTES) return inside;
  const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  return join(tmpdir(), `offhook-${process.getuid?.() ?? 0}-${name}`);
}

/**
 * Lets other processes of the same user reach the store: the folder is private (0700), and that is the only key.
 * Call only while the store's lock is held: a socket left by a dead owner is removed.
 */
export async function serveSocket(folder: string, gate: SessionGate): Promise<AsyncDisposable> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  const path = join(folder, SOCKET_NAME);
  await rm(path, { force: true });
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    serveWire(socket, gate);
  });
  server.listen(path);
  await once(server, 'listening');
  await chmod(path, 0o600);
  server.unref();
  return {
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

/** Longest message a client may send: a call's whole record fits many times over. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

let sessionNumber = 0;

/** Serves one client's byte stream from the gate until either side ends. The stream may be a socket or a pair in memory. */
function serveWire(stream: Duplex, gate: SessionGate): void {
  const frames = new FrontendFrames(MAX_MESSAGE_BYTES);
  let parts: Buffer[] = [];
  let subscriptions: Subscription[] = [];
  let session: GateSession | undefined;

  const stop = (): void => {
    session?.close();
    session = undefined;
    // Ended, not destroyed: what was said last still arrives.
    if (!stream.writableEnded) stream.end();
  };
  const refuse = (sqlState: string, reason: string): void => {
    if (!stream.writableEnded) stream.end(fatal(sqlState, reason));
  };
  const start = (code: number): void => {
    if (code === CANCEL_REQUEST) stop();
    // SSLRequest and GSSENCRequest: neither is offered on a private socket.
    else if (code !== PROTOCOL_3) stream.write('N');
    else {
      session = gate.open({ deliver: (bytes) => void stream.write(bytes), ended: refuse });
      if (!stream.writableEnded) stream.write(welcome(++sessionNumber));
    }
  };
  const take = (type: string, bytes: Buffer): void => {
    if (type === 'X') return stop();
    parts.push(bytes);
    const sql = sqlOf({ type, bytes });
    const subscription = sql === undefined ? undefined : subscriptionOf(sql);
    if (subscription !== undefined) subscriptions.push(subscription);
    if (!endsBatch(type)) return;
    session?.run({ bytes: Buffer.concat(parts), subscriptions });
    parts = [];
    subscriptions = [];
  };

  stream.on('data', (chunk: Buffer) => {
    try {
      for (const frame of frames.push(chunk)) {
        if (frame.kind === 'startup') start(frame.code);
        else take(frame.type, frame.bytes);
      }
    } catch (error) {
      refuse('08P01', errorText(error));
      stop();
    }
  });
  stream.on('error', stop);
  stream.on('end', stop);
  stream.on('close', stop);
}

/** A connection inside this process, shaped like the socket that the Postgres client expects to dial. */
export function dialGate(gate: SessionGate): Duplex {
  const [client, server] = duplexPair();
  serveWire(server, gate);
  // A socket that is cut tells the other end; a pair in memory does not.
  client.once('close', () => server.destroy());
  return Object.assign(client, {
    connect(): void {
      // As late as a socket's: a client that is refused and dials again and again leaves the loop to everyone else.
      setImmediate(() => client.emit('connect'));
    },
    setNoDelay: () => client,
    setKeepAlive: () => client,
    ref: () => client,
    unref: () => client,
  });
}
