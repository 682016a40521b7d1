import { Socket } from 'node:net';
import { Client, type PoolConfig, Pool } from 'pg';
import type { Duplex } from 'node:stream';

/** How a Postgres client reaches the database: a server's address, a socket's folder, or a stream inside this process. */
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
  /** What a pool makes its clients of, where that matters. */
  readonly Client?: PoolConfig['Client'];
};

/**
 * A pool none of whose connections can end the process by being lost: the pool listens to idle ones alone, and one that dies
 * between two queries of a transaction has nobody else to tell.
 */
export function openPool(config: PoolConfig, onProblem: (error: Error) => void): Pool {
  const pool = new Pool(config);
  pool.on('error', onProblem);
  pool.on('connect', (client) => void client.on('error', onProblem));
  return pool;
}

type ClientClass = NonNullable<PoolConfig['Client']>;

/**
 * The clients of a pool whose server can be lost without a word, as when its machine or the way to it is gone: one that waits
 * and hears nothing for so long loses its connection, and with it fails what waits. Otherwise that would last as long as the
 * system believes in the connection, which is hours, and a pool is empty after as many queries as it has connections. A pool
 * closes idle ones long before.
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
