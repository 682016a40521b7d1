import { Client } from 'pg';
import { expect, it } from 'vitest';
import { ManualClock } from '../../../support/manual-clock.ts';
import { dialGate } from '../../../../src/records/embedded/socket-server.ts';
import { SessionGate } from '../../../../src/records/embedded/session-gate.ts';

it('leaves the event loop to everyone else while a client dials a shut store again and again', async () => {
  const backend = { exec: () => Promise.reject(new Error('shut')) };
  const gate = new SessionGate(backend, new ManualClock(), { maxWaiting: 10, idleInTransactionMs: 1_000 });
  gate.shut('the store is closing');
  const others = new AbortController();
  setImmediate(() => others.abort());
  let dialled = 0;
  while (!others.signal.aborted && dialled < 1_000) {
    dialled += 1;
    const client = new Client({ stream: () => dialGate(gate), user: 'postgres', ssl: false });
    client.on('error', () => {});
    await expect(client.connect()).rejects.toThrow('the store is closing');
  }
  expect(dialled).toBeLessThan(10);
});
