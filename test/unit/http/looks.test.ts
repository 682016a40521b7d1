import { expect, it } from 'vitest';
import { Looks } from '../../../src/http/api/looks.ts';
import type { AuditEvent } from '../../../src/records/retention/audit-log.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const who = { id: 'console asha', tenantId: 'default' };

function start(addAll?: (events: readonly AuditEvent[]) => Promise<void>) {
  const clock = new ManualClock();
  const written: AuditEvent[][] = [];
  const errors: object[] = [];
  const logger = { error: (fields: object) => void errors.push(fields) };
  const audit = { addAll: addAll ?? (async (events: readonly AuditEvent[]) => void written.push([...events])) };
  return { clock, written, errors, looks: new Looks({ audit, clock, logger }) };
}

it('writes the looks of a second together, the same look once in ten minutes', async () => {
  const { clock, written, looks } = start();
  for (let n = 0; n < 50; n += 1) looks.note(who, '/live-calls');
  looks.note(who, '/calls/call_1');
  looks.note({ id: 'console b', tenantId: 'default' }, '/live-calls');
  expect(written).toEqual([]);
  clock.advance(1_000);
  await looks.write();
  expect(written.map((events) => events.map(({ by, subject }) => `${by} ${subject}`))).toEqual([
    ['console asha /live-calls', 'console asha /calls/call_1', 'console b /live-calls'],
  ]);
  clock.advance(9 * 60_000);
  looks.note(who, '/live-calls');
  clock.advance(60_000);
  looks.note(who, '/live-calls');
  await looks.write();
  expect(written[1]).toMatchObject([{ by: 'console asha', action: 'look', atMs: clock.wallMs() }]);
});

it('drops looks that a slow disk does not take, and says how many', async () => {
  let release = (): void => undefined;
  const blocked = new Promise<void>((resolve) => (release = resolve));
  let count = 0;
  const { looks, errors } = start(async (events) => {
    await blocked;
    count += events.length;
  });
  looks.note(who, 'first');
  const first = looks.write();
  // The first write has its entries before more come.
  await Promise.resolve();
  for (let n = 0; n < 6_000; n += 1) looks.note(who, `${n}`);
  release();
  await first;
  await looks.write();
  expect(count).toBe(5_001);
  expect(errors).toEqual([{ dropped: 1_000 }]);
});

it('goes on after a write that failed', async () => {
  let fails = true;
  const kept: string[] = [];
  const { looks, errors } = start(async (events) => {
    if (fails) throw new Error('no space');
    kept.push(...events.map(({ subject }) => subject));
  });
  looks.note(who, 'a');
  await looks.write();
  fails = false;
  looks.note(who, 'b');
  await looks.write();
  expect([kept, errors.length]).toEqual([['b'], 1]);
});
