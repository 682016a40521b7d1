import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { freePort, run } from './processes.ts';

export interface TestServer extends AsyncDisposable {
  readonly url: string;
}

/**
 * A Redis server of its own on a free loopback port, in memory or in a folder, from which a later one goes on.
 * @param program from `requireTool('redis-server')`
 */
export async function startRedis(
  program: string,
  onPort?: number,
  {
    password,
    cluster = false,
    keptIn,
  }: { readonly password?: string; readonly cluster?: boolean; readonly keptIn?: string } = {},
): Promise<TestServer> {
  const folder = keptIn ?? (await mkdtemp(join(tmpdir(), 'offhook-redis-')));
  const port = onPort ?? (await freePort());
  const common = {
    bind: '127.0.0.1',
    port,
    dir: folder,
    save: '',
    appendonly: keptIn === undefined ? 'no' : 'yes',
    'maxmemory-policy': 'noeviction',
  };
  const options = {
    ...common,
    ...(password === undefined ? {} : { requirepass: password }),
    // The bus of a cluster's nodes usually stands 10,000 above, where a port may be none.
    ...(cluster ? { 'cluster-enabled': 'yes', 'cluster-port': await freePort(), 'cluster-announce-ip': '127.0.0.1' } : {}),
  };
  const server = run(
    program,
    Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]),
  );
  await eventually('redis-server to answer', () => answers(port)).catch((error: unknown) => {
    throw new Error(`redis-server did not start: ${server.output()}`, { cause: error });
  });
  return {
    url: `redis://${password === undefined ? '' : `:${encodeURIComponent(password)}@`}127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      await server.stop();
      if (keptIn === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A sentinel that watches a server started by `startRedis`. @param of the name under which it knows that server */
export async function startSentinel(
  program: string,
  of: { readonly name: string; readonly server: string; readonly password: string },
): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), 'offhook-sentinel-'));
  const port = await freePort();
  const file = join(folder, 'sentinel.conf');
  const { hostname, port: watched } = new URL(of.server);
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor ${of.name} ${hostname} ${watched} 1`,
    `sentinel auth-pass ${of.name} ${of.password}`,
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  const sentinel = run(program, [file, '--sentinel']);
  await eventually('the sentinel to answer', () => answers(port)).catch((error: unknown) => {
    throw new Error(`the sentinel did not start: ${sentinel.output()}`, { cause: error });
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      await sentinel.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.once('data', (chunk: Buffer) => {
      socket.destroy();
      resolve(/^(\+PONG|-NOAUTH)/.test(chunk.toString()));
    });
    socket.once('error', () => resolve(false));
  });
}
