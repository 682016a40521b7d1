import { describe, expect, it } from 'vitest';
import { migrateDatabase } from '../../src/records/postgres/connection.ts';
import { callRecordOf } from '../support/call-records.ts';
import { sharedStore, STORE_PLACES } from '../support/databases.ts';

describe.each(STORE_PLACES)('the store on $place', ({ isThere, start }) => {
  const store = sharedStore(start);

  it.runIf(isThere)('gives a record back as it was given', async () => {
    const record = callRecordOf();
    await store.calls.upsert(record);
    expect(await store.calls.get('default', 'call_1')).toMatchObject({ ...record, revision: 0 });
  });

  it.runIf(isThere)('keeps what only a call that we placed has, and nothing of it once the call is erased', async () => {
    const record = callRecordOf({
      id: 'placed',
      direction: 'outbound',
      metadata: { order: 'A-7' },
      outbound: {
        campaignId: 'cmp_1',
        answeredBy: 'person',
        opinions: [{ by: 'person', atMs: 700, confidence: 0.9 }],
        identified: true,
      },
      optOut: { kind: 'opt-out', how: 'spoken', atMs: 5_000 },
      callBackAtMs: 9_000,
    });
    for (const write of [() => store.calls.upsert(record), () => store.calls.upsertMany([record])]) {
      await write();
      expect(await store.calls.get('default', 'placed')).toMatchObject(record);
    }
    expect(await store.privacy.callsOf('default', record.to)).toContain('placed');
    await store.privacy.erase('default', 'placed', 1);
    const erased = await store.calls.get('default', 'placed');
    for (const fact of ['metadata', 'outbound', 'optOut', 'callBackAtMs']) expect(erased).not.toHaveProperty(fact);
  });

  it.runIf(isThere)('keeps a record with no optional part', async () => {
    const bare = callRecordOf({ id: 'bare', legs: [], attachments: [], turns: [], timeline: [] });
    delete bare.answeredAtMs;
    delete bare.endedAtMs;
    delete bare.endReason;
    delete bare.recordingPath;
    delete bare.recordingSidecarPath;
    delete bare.recordingStartedAtMs;
    await store.calls.upsert(bare);
    expect(await store.calls.get('default', 'bare')).toMatchObject({ ...bare, revision: 0 });
  });

  it.runIf(isThere)('replaces a record whole by a newer revision, and never by an older one', async () => {
    await store.calls.upsert(callRecordOf({ id: 'rev', revision: 2 }));
    const newer = callRecordOf({ id: 'rev', revision: 3, turns: [], digits: '', recordingPath: undefined });
    await store.calls.upsert(newer);
    await store.calls.upsert(callRecordOf({ id: 'rev', revision: 1, digits: 'old' }));
    const found = await store.calls.get('default', 'rev');
    expect(found).toMatchObject({ revision: 3, turns: [], digits: '' });
    expect(found).not.toHaveProperty('recordingPath');
  });

  it.runIf(isThere)(
    'writes a batch of records as it writes each alone: new, known, erased, repeated, of several tenants',
    async () => {
      await store.calls.upsert(callRecordOf({ id: 'm-known', revision: 5, digits: 'kept' }));
      await store.privacy.erase('default', 'm-erased', 1);
      const long = callRecordOf({ id: 'm-long' });
      const turns = Array.from({ length: 1_200 }, (_, index) => ({ ...long.turns[0]!, index }));
      const given = [
        callRecordOf({ id: 'm-new' }),
        callRecordOf({ id: 'm-known', revision: 4, digits: 'older' }),
        callRecordOf({ id: 'm-twice', revision: 2, digits: '2' }),
        callRecordOf({ id: 'm-twice', revision: 1, digits: '1' }),
        callRecordOf({ id: 'm-erased' }),
        callRecordOf({ id: 'm-theirs', tenantId: 'other' }),
        { ...long, turns },
      ];
      await store.calls.upsertMany(given);
      // And all of it once more.
      await store.calls.upsertMany(given);
      expect(await store.calls.get('default', 'm-new')).toMatchObject({ ...given[0], keeping: { analysisState: 'pending' } });
      expect((await store.calls.get('default', 'm-known'))?.digits).toBe('kept');
      expect((await store.calls.get('default', 'm-twice'))?.digits).toBe('2');
      expect(await store.calls.get('default', 'm-erased')).toBeUndefined();
      expect((await store.calls.get('other', 'm-theirs'))?.turns).toHaveLength(2);
      expect(await store.calls.get('default', 'm-theirs')).toBeUndefined();
      expect((await store.calls.get('default', 'm-long'))?.turns).toHaveLength(1_200);
      await Promise.all([1, 2, 3].map(() => store.calls.upsertMany([callRecordOf({ id: 'm-b' }), callRecordOf({ id: 'm-a' })])));
      expect((await store.calls.get('default', 'm-a'))?.turns).toHaveLength(2);
    },
  );

  it.runIf(isThere)('writes the same record at the same time from many sides', async () => {
    const record = callRecordOf({ id: 'same' });
    await Promise.all(Array.from({ length: 8 }, () => store.calls.upsert(record)));
    expect((await store.calls.get('default', 'same'))?.turns).toHaveLength(2);
  });

  it.runIf(isThere)('shows a tenant its own calls only', async () => {
    await store.calls.upsert(callRecordOf({ tenantId: 'other', id: 'theirs' }));
    await store.calls.upsert(callRecordOf({ tenantId: 'third', id: 'theirs', digits: '9' }));
    await store.analyses.put({ tenantId: 'other', callId: 'theirs', version: 1, createdAtMs: 5, document: {} });
    expect(await store.calls.get('default', 'theirs')).toBeUndefined();
    expect((await store.calls.get('third', 'theirs'))?.digits).toBe('9');
    expect((await store.calls.search('third', { limit: 10 })).calls).toHaveLength(1);
    expect(await store.analyses.list('third', 'theirs')).toEqual([]);
  });

  it.runIf(isThere)('lists calls newest first, page by page, each once, even where many began together', async () => {
    for (let index = 0; index < 7; index += 1) {
      const startedAtMs = 1_000 + Math.floor(index / 3);
      await store.calls.upsert(callRecordOf({ tenantId: 'pages', id: `p${index}`, startedAtMs }));
    }
    const ids: string[] = [];
    let before: string | undefined;
    do {
      const page = await store.calls.search('pages', { limit: 2, before });
      expect(page.calls.length).toBeLessThanOrEqual(2);
      ids.push(...page.calls.map((call) => call.id));
      before = page.next;
    } while (before !== undefined);
    expect(ids).toEqual(['p6', 'p5', 'p4', 'p3', 'p2', 'p1', 'p0']);
    expect((await store.calls.search('pages', { limit: 1 })).calls[0]).toMatchObject({
      turnCount: 2,
      endReason: 'caller-hung-up',
    });
  });

  it.runIf(isThere)('keeps text that Postgres itself cannot hold, with the replacement character', async () => {
    const record = callRecordOf({
      id: 'odd',
      endReason: 'a\0b',
      timeline: [{ atMs: 0, type: 'x', text: 'half \uD83D', ok: '🙂' }],
    });
    await store.calls.upsert(record);
    expect(await store.calls.get('default', 'odd')).toMatchObject({
      endReason: 'a\uFFFDb',
      timeline: [{ text: 'half \uFFFD', ok: '🙂' }],
    });
  });

  it.runIf(isThere)('refuses malformed records, cursors and unknown calls', async () => {
    await expect(store.calls.upsert(callRecordOf({ id: '' }))).rejects.toMatchObject({ code: 'OFFHOOK_STORE_RECORD' });
    await expect(store.calls.search('default', { limit: 0 })).rejects.toThrow(RangeError);
    await expect(store.calls.search('default', { limit: 1, before: '{}' })).rejects.toMatchObject({
      code: 'OFFHOOK_STORE_RECORD',
    });
    const orphan = { tenantId: 'default', callId: 'nobody', version: 1, createdAtMs: 0, document: {} };
    await expect(store.analyses.put(orphan)).rejects.toMatchObject({ code: 'OFFHOOK_STORE_RECORD', retryable: false });
  });

  it.runIf(isThere)('keeps one analysis a version, the latest written', async () => {
    await store.calls.upsert(callRecordOf({ id: 'analysed' }));
    const analysis = { tenantId: 'default', callId: 'analysed', version: 1, createdAtMs: 1, document: { a: [1, null, 'ü'] } };
    await store.analyses.put(analysis);
    await store.analyses.put({ ...analysis, createdAtMs: 2 });
    await store.analyses.put({ ...analysis, version: 2, document: { b: true } });
    expect((await store.analyses.list('default', 'analysed')).map(({ version }) => version)).toEqual([2, 1]);
    expect(await store.analyses.get('default', 'analysed', 1)).toMatchObject({ ...analysis, createdAtMs: 2, profile: 'default' });
    expect(await store.analyses.get('default', 'analysed', 3)).toBeUndefined();
  });

  it.runIf(isThere)('keeps two transactions apart', async () => {
    const [first, second] = [await store.database.pool.connect(), await store.database.pool.connect()];
    try {
      await first.query('BEGIN');
      await first.query(`UPDATE offhook.calls SET language = 'x' WHERE id = 'call_1'`);
      const read = second.query<{ language: string }>(
        `SELECT language FROM offhook.calls WHERE id = 'call_1' AND tenant_id = 'default'`,
      );
      await first.query('ROLLBACK');
      expect((await read).rows).toEqual([{ language: 'en' }]);
    } finally {
      first.release();
      second.release();
    }
  });

  it.runIf(isThere)('can be migrated again, and by several at once', async () => {
    await Promise.all([
      migrateDatabase(store.database.pool),
      migrateDatabase(store.database.pool),
      migrateDatabase(store.database.pool),
    ]);
    expect((await store.calls.get('default', 'call_1'))?.turns).toHaveLength(2);
  });
});
