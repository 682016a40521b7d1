import { Socket } from 'node:net';
import { Client, type PoolConfig, Pool } from 'pg';
import type { Duplex } from 'node:stream';

/** How a Postgres client reaches the database: a server's address, a socket's folder, or an in-process stream. */
export type DatabaseConnection = {
  readonly connectionString?: string;
  readonly host?: string;
  readonly port?: number;
  readonly user?: string;
  readonly database?: string;
  readonly ssl?: false;
  readonly stream?: () => Duplex;
  readonly connectionTimeoutMillis?: number;
  readonly keepAlive: true;
  /** Class of a pool's clients, where it matters. */
  readonly Client?: PoolConfig['Client'];
};

/**
 * A pool whose lost connections cannot end the process: the pool only listens for errors on idle ones, and one that dies between two queries of a
 * transaction has no other listener.
 */
export function openPool(config: PoolConfig, onProblem: (error: Error) => void): Pool {
  const pool = new Pool(config);
  pool.on('error', onProblem);
  pool.on('connect', (client) => void client.on('error', onProblem));
  return pool;
}

type ClientClass = NonNullable<PoolConfig['Client']>;

/**
 * A client class for a server that can vanish silently, as when its machine or network fails: a query without any answer for this long fails with its
 * connection. Otherwise it would wait as long as the system keeps the connection, for hours, and a pool would be exhausted after as many queries as
 * it has connections. A pool closes idle ones long before.
 * @param silenceMs longer than any query takes
 */
export function impatientClient(silenceMs: number): ClientClass {
  return class extends Client {
    constructor(config?: ConstructorParameters<typeof Client>[0]) {
      super(config);
      this.once('connect', () => {
        const { stream } = this.connection;
        if (stream instanceof Socket)
          stream.setTimeout(silenceMs, () => stream.destroy(new Error(`the database said nothing for ${silenceMs} ms`)));
      });
    }
  };
}
