import { Pool, type PoolConfig } from 'pg';

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
