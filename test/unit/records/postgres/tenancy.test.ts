import { expect, it } from 'vitest';
import { ManualClock } from '../../../support/manual-clock.ts';
import { dialGate } from '../../../../src/records/embedded/socket-server.ts';
import { SessionGate } from '../../../../src/records/embedded/session-gate.ts';
import { openPool } from '../../../../src/records/postgres/connection.ts';
import { Tenancy } from '../../../../src/records/postgres/tenancy.ts';

it('gives a connection back whose transaction could not begin', async () => {
  const gone = { exec: () => Promise.reject(new Error('the engine is gone')) };
  const gate = new SessionGate(gone, new ManualClock(), { maxWaiting: 10, idleInTransactionMs: 1_000 });
  const reached = { stream: () => dialGate(gate), user: 'postgres', max: 1, connectionTimeoutMillis: 2_000 };
  const pool = openPool(reached, () => undefined);
  const tenancy = await Tenancy.over(pool, false, () => undefined);
  for (let time = 0; time < 3; time += 1) {
    await expect(tenancy.atOnce('default', async () => undefined)).rejects.toThrow('begin');
    expect(pool.totalCount - pool.idleCount).toBe(0);
  }
  await pool.end();
});
