import { describe, expect, it } from 'vitest';
import type { NewCallRecord } from '../../src/records/port.ts';
import { callRecordOf } from '../support/call-records.ts';
import { sharedStore, STORE_PLACES } from '../support/databases.ts';

const NOON = Date.UTC(2026, 2, 1, 12);

/** A call whose bot failed, or that went well. */
function call(id: string, changes: Partial<NewCallRecord> = {}): NewCallRecord {
  return callRecordOf({ id, startedAtMs: NOON, endedAtMs: NOON + 9_000, endReason: 'dialog-failed', timeline: [], ...changes });
}

describe.each(STORE_PLACES)('calls that deserve a look on $place', ({ isThere, start }) => {
  const store = sharedStore(start);

  it.runIf(isThere)('lists them newest first with reasons and numbers, in pages, each tenant its own', async () => {
    const tenantId = 'listing';
    await store.calls.upsertMany([
      ...[0, 1, 2].map((n) => call(`c${n}`, { tenantId, startedAtMs: NOON + n })),
      call('well', { tenantId, endReason: 'finished' }),
      call('theirs', { tenantId: 'other' }),
    ]);
    const first = await store.reviews.page(tenantId, { limit: 2 });
    expect(first.reviews.map(({ callId }) => callId)).toEqual(['c2', 'c1']);
    expect(first.reviews[0]).toMatchObject({
      state: 'open',
      from: '+15550001',
      endReason: 'dialog-failed',
      labels: [],
      comments: 0,
    });
    expect(first.reviews[0]?.findings.map(({ reason }) => reason)).toEqual(['failed']);
    const second = await store.reviews.page(tenantId, { limit: 2, before: first.next });
    expect(second.reviews.map(({ callId }) => callId)).toEqual(['c0']);
    expect(second.next).toBeUndefined();
    expect(await store.reviews.count(tenantId, { state: 'open', reason: 'failed' }, 100)).toBe(3);
    expect(await store.reviews.count(tenantId, { reason: 'angry' }, 100)).toBe(0);
    const found = await store.calls.search(tenantId, { limit: 10, attention: 'failed' });
    expect(found.calls.map(({ id }) => id)).toEqual(['c2', 'c1', 'c0']);
  });

  it.runIf(isThere)(
    'keeps what people decided when a newer record comes, and forgets a call in which nothing is found',
    async () => {
      await store.calls.upsert(call('kept'));
      await store.calls.upsert(call('lost'));
      const change = { state: 'done', labels: ['prompt'], assignee: 'asha' } as const;
      expect(await store.reviews.change('default', 'kept', change, 'ravi', 5)).toBe(true);
      for (const id of ['kept', 'lost']) await store.calls.upsert(call(id, { revision: 1, endReason: 'finished' }));
      expect(await store.reviews.get('default', 'kept')).toMatchObject({
        ...change,
        findings: [],
        changedBy: 'ravi',
        changedAtMs: 5,
      });
      expect(await store.reviews.get('default', 'lost')).toBeUndefined();
      expect((await store.reviews.page('default', { limit: 5, label: 'prompt', assignee: 'asha' })).reviews).toHaveLength(1);
      await store.reviews.change('default', 'kept', { assignee: null }, 'ravi', 6);
      expect(await store.reviews.get('default', 'kept')).toMatchObject({
        assignee: undefined,
        labels: ['prompt'],
        state: 'done',
      });
    },
  );

  it.runIf(isThere)('adds what an analysis judged wrong, and takes it away again', async () => {
    await store.calls.upsert(call('judged', { endReason: 'finished' }));
    const analysis = { tenantId: 'default', callId: 'judged', version: 1, createdAtMs: 1, document: {} };
    const judged = [{ reason: 'judged-wrong' as const, atMs: 4_000, turn: null }];
    await store.analyses.put({ ...analysis, judged });
    expect((await store.reviews.get('default', 'judged'))?.findings).toEqual(judged);
    await store.calls.upsert(call('judged', { revision: 1 }));
    const both = await store.reviews.get('default', 'judged');
    expect(both?.findings.map(({ reason }) => reason)).toEqual(['failed', 'judged-wrong']);
    expect(await store.reviews.count('default', { reason: 'judged-wrong' }, 10)).toBe(1);
    await store.analyses.put({ ...analysis, judged: [] });
    expect((await store.reviews.get('default', 'judged'))?.findings.map(({ reason }) => reason)).toEqual(['failed']);
  });

  it.runIf(isThere)('keeps comments on any call, and removes one’s own', async () => {
    await store.calls.upsert(call('talked', { endReason: 'finished' }));
    const comment = { id: 'cmt_1', by: 'asha', atMs: 7, text: 'Listen at the end — उधर' };
    expect(await store.reviews.comment('default', 'talked', comment)).toBe(true);
    expect(await store.reviews.comments('default', 'talked')).toEqual([comment]);
    expect(await store.reviews.get('default', 'talked')).toMatchObject({ findings: [], comments: 1 });
    expect(await store.reviews.comments('other', 'talked')).toEqual([]);
    expect(await store.reviews.removeComment('default', 'talked', 'cmt_1', 'ravi')).toBe(false);
    expect(await store.reviews.removeComment('default', 'talked', 'cmt_1', 'asha')).toBe(true);
    expect(await store.reviews.comment('default', 'none', comment)).toBe(false);
    expect(await store.reviews.change('default', 'none', { state: 'done' }, 'asha', 1)).toBe(false);
  });

  it.runIf(isThere)('erases all of it with the words of its call, and takes nothing afterwards', async () => {
    await store.calls.upsert(call('erased'));
    await store.reviews.change('default', 'erased', { labels: ['vip'] }, 'asha', 1);
    await store.reviews.comment('default', 'erased', { id: 'cmt_2', by: 'asha', atMs: 1, text: 'words' });
    await store.privacy.eraseKind('default', 'erased', 'text', 2);
    expect(await store.reviews.get('default', 'erased')).toBeUndefined();
    expect(await store.reviews.comments('default', 'erased')).toEqual([]);
    expect(await store.reviews.comment('default', 'erased', { id: 'cmt_3', by: 'asha', atMs: 1, text: 'late' })).toBe(false);
    expect(await store.reviews.change('default', 'erased', { state: 'done' }, 'asha', 3)).toBe(false);
    await store.calls.upsert(call('erased', { revision: 2 }));
    expect(await store.reviews.get('default', 'erased')).toBeUndefined();
  });
});
