import type { Duplex } from 'node:stream';
import type { PoolConfig } from 'pg';

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
