import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { type Socket, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionGate } from './session-gate.ts';
import { serveWire } from './wire-session.ts';

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
