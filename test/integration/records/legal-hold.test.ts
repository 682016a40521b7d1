import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { AUDIT_FILE } from '../../../src/records/retention/audit-log.ts';
import { LegalHolds } from '../../../src/records/retention/retention.ts';
import { callRecordOf } from '../../support/call-records.ts';
import { keeping } from '../../support/databases.ts';

it('holds calls by id and by number against erasing, lifts holds, and logs who did it', async () => {
  await using kept = await keeping();
  const { records, folder } = kept;
  const { store, eraser, audit } = records;
  const startedAtMs = Date.UTC(2026, 0, 2);
  await store.calls.upsert(callRecordOf({ id: 'c1', from: '+15550111' }));
  await store.calls.upsert(callRecordOf({ id: 'c2', from: '+15550111', startedAtMs }));
  await store.calls.upsert(callRecordOf({ id: 'c3', from: '+15550222' }));
  await store.calls.upsert(callRecordOf({ id: 'theirs', from: '+15550111', tenantId: 'other' }));
  const holds = new LegalHolds(store, audit);
  const listed = async (tenantId = 'default'): Promise<string[]> => {
    const ids = [];
    for await (const { id } of holds.list(tenantId)) ids.push(id);
    return ids;
  };
  const change = (of: { callId: string } | { number: string }, on = true) =>
    holds.change({ tenantId: 'default', of, on, by: 'cli:anna' });

  expect((await change({ number: '+1 555 0111' })).changed.sort()).toEqual(['c1', 'c2']);
  expect(await change({ callId: 'nobody' })).toEqual({ changed: [], missing: ['nobody'] });
  expect(await listed()).toEqual(['c2', 'c1']);
  expect(await listed('other')).toEqual([]);
  expect(await eraser.eraseNumber('default', '+15550111')).toMatchObject({
    erased: [],
    held: expect.arrayContaining(['c1', 'c2']),
  });

  expect(await change({ callId: 'c1' }, false)).toEqual({ changed: ['c1'], missing: [] });
  expect(await listed()).toEqual(['c2']);
  expect(await eraser.eraseNumber('default', '+15550111')).toMatchObject({ erased: ['c1'], held: ['c2'] });

  const lines = (await readFile(join(folder.path, AUDIT_FILE), 'utf8')).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({ by: 'cli:anna', action: 'hold.set', outcome: 'done', tenantId: 'default' }),
    expect.objectContaining({ action: 'hold.set', outcome: 'done' }),
    expect.objectContaining({ action: 'hold.set', subject: 'nobody', outcome: 'refused' }),
    expect.objectContaining({ action: 'hold.lift', subject: 'c1', outcome: 'done', at: expect.stringMatching(/^20.*Z$/u) }),
  ]);
  expect(lines.join('\n')).not.toContain('5550111');
});
