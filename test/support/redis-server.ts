import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, run, until } from './processes.ts';

export interface TestServer extends AsyncDisposable {
  readonly url: string;
}

/** A Redis server of its own, in memory, on a free loopback port. @param program from `requireTool('redis-server')` */
export async function startRedis(program: string, onPort?: number): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), 'offhook-redis-'));
  const port = onPort ?? (await freePort());
  const options = { bind: '127.0.0.1', port, dir: folder, save: '', appendonly: 'no', 'maxmemory-policy': 'noeviction' };
  const server = run(
    program,
    Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]),
  );
  await until('redis-server to answer', () => answers(port)).catch((error: unknown) => {
    throw new Error(`redis-server did not start: ${server.output()}`, { cause: error });
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.once('data', (chunk: Buffer) => {
      socket.destroy();
      resolve(chunk.toString().startsWith('+PONG'));
    });
    socket.once('error', () => resolve(false));
  });
}
