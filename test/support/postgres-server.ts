import { readFile, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { eventually } from './eventually.ts';
import { freePort, run } from './processes.ts';
import type { TestServer } from './redis-server.ts';

export interface PostgresServer extends TestServer {
  /** Stops it, with every connection, and starts it again with its data. */
  restart(): Promise<void>;
}

/**
 * A PostgreSQL server of its own on a free loopback port, gone with its data when disposed. Postgres refuses to run as
 * root: there it runs as the system's `postgres` user.
 * @param program from `requireTool('postgres')`; `initdb` is expected beside it
 */
export async function startPostgres(program: string): Promise<PostgresServer> {
  const user = process.getuid?.() === 0 ? await systemUser('postgres') : undefined;
  const folder = await mkdtemp(join(tmpdir(), 'offhook-postgres-'));
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const made = run(
    join(dirname(program), 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', '-E', 'UTF8'],
    user,
  );
  await eventually('initdb to end', () => made.child.exitCode !== null);
  if (made.child.exitCode !== 0) throw new Error(`initdb failed: ${made.output()}`);
  const port = await freePort();
  const settings = { listen_addresses: '127.0.0.1', port, unix_socket_directories: folder, fsync: 'off', max_connections: 60 };
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const start = async () => {
    const started = run(program, ['-D', data, ...options], user);
    await eventually('postgres to answer', () => answers(url)).catch((error: unknown) => {
      throw new Error(`postgres did not start: ${started.output()}`, { cause: error });
    });
    return started;
  };
  let server = await start();
  return {
    url,
    async restart() {
      // "Fast" shutdown.
      await server.stop('SIGINT');
      server = await start();
    },
    async [Symbol.asyncDispose]() {
      // "Immediate" shutdown: the data goes with it.
      await server.stop('SIGQUIT');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function systemUser(name: string): Promise<{ uid: number; gid: number }> {
  const line = (await readFile('/etc/passwd', 'utf8')).split('\n').find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  if (uid === undefined || gid === undefined) throw new Error(`there is no user ${name} to run Postgres as`);
  return { uid: Number(uid), gid: Number(gid) };
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
