import { sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import type { CallQuery } from '../../src/records/port.ts';
import { callRecordOf } from '../support/call-records.ts';
import { sharedStore, STORE_PLACES } from '../support/databases.ts';

describe.each(STORE_PLACES)('searching and erasing in $place', ({ place, isThere, start }) => {
  const store = sharedStore(start);

  const turn = (index: number, callerText: string, botHeardText = '') => ({
    ...callRecordOf().turns[1]!,
    index,
    callerText,
    botText: botHeardText,
    botHeardText,
  });
  const idsOf = async (tenantId: string, query: Omit<CallQuery, 'limit'>): Promise<string[]> =>
    (await store.calls.search(tenantId, { limit: 50, ...query })).calls.map((call) => call.id);

  it.runIf(isThere)(
    'finds calls by number, bot, time, carrier, direction, disposition and words, alone and together',
    async () => {
      const tenantId = 'search';
      const base = callRecordOf({ tenantId });
      const calls = [
        { id: 'c1', startedAtMs: 1_000, from: '+15550100001', turns: [turn(0, 'I want my MONEY back, please', 'Certainly')] },
        { id: 'c2', startedAtMs: 2_000, from: '+15550100002', botName: 'other', turns: [turn(0, 'मुझे मंगलवार को आना है', 'ठीक है')] },
        { id: 'c3', startedAtMs: 3_000, from: '+15550100003', to: '+15550100001', direction: 'outbound' as const, turns: [] },
      ];
      for (const call of calls) await store.calls.upsert({ ...base, ...call });
      expect(await store.calls.setDisposition(tenantId, 'c2', 'booked')).toBe(true);
      expect(await store.calls.setDisposition(tenantId, 'nobody', 'booked')).toBe(false);
      const found: readonly (readonly [Omit<CallQuery, 'limit'>, readonly string[]])[] = [
        [{}, ['c3', 'c2', 'c1']],
        [{ number: '+1 (555) 010-0001' }, ['c3', 'c1']],
        [{ botName: 'other' }, ['c2']],
        [{ fromMs: 2_000, toMs: 3_000 }, ['c2']],
        [{ direction: 'outbound' }, ['c3']],
        [{ carrier: 'nobody' }, []],
        [{ disposition: 'booked' }, ['c2']],
        [{ text: 'money BACK' }, ['c1']],
        [{ text: 'मंगलवार' }, ['c2']],
        [{ text: 'मंगल' }, []],
        [{ text: 'money मंगलवार' }, []],
        [{ text: '?!' }, []],
        [{ text: 'ठीक', botName: 'other', fromMs: 0 }, ['c2']],
      ];
      for (const [query, ids] of found) expect([query, await idsOf(tenantId, query)]).toEqual([query, ids]);
      expect(await idsOf('elsewhere', { text: 'money' })).toEqual([]);
    },
  );

  it.runIf(isThere)(
    'finds calls by outcome, campaign, duration, worst reply and variables, counts them, and none by what was erased',
    async () => {
      const tenantId = 'outcomes';
      const waited = (index: number, inputKind: 'start' | 'spoken' | 'keyed', total: number) => ({
        ...turn(index, 'refund'),
        inputKind,
        latencies: { total },
      });
      const calls = [
        {
          id: 'o1',
          startedAtMs: 1_000,
          endedAtMs: 31_000,
          endReason: 'caller-hangup',
          botVersion: 'v7',
          summary: { interruptions: 2 },
          variables: { day: 'Tuesday', phone: '+919876543210' },
          // The greeting is not waited for.
          turns: [waited(0, 'start', 9_000), waited(1, 'spoken', 700.4), waited(2, 'keyed', 300), waited(3, 'spoken', 1_499.6)],
        },
        {
          id: 'o2',
          startedAtMs: 2_000,
          endedAtMs: 7_000,
          endReason: 'dialog-failed',
          language: 'hi',
          summary: { interruptions: 0 },
          variables: { day: 'मंगलवार', phone: 'Tuesday' },
          turns: [waited(0, 'spoken', 400), { ...waited(1, 'spoken', 600), callerText: '' }],
        },
        {
          id: 'o3',
          startedAtMs: 3_000,
          endedAtMs: undefined,
          endReason: undefined,
          direction: 'outbound' as const,
          outbound: { campaignId: 'cmp_1', answeredBy: 'mailbox' as const, opinions: [], identified: true },
          turns: [],
          summary: {},
          recordingPath: undefined,
        },
      ];
      for (const call of calls) await store.calls.upsert(callRecordOf({ tenantId, ...call }));
      const found: readonly (readonly [Omit<CallQuery, 'limit'>, readonly string[]])[] = [
        [{ endReason: 'dialog-failed' }, ['o2']],
        [{ botVersion: 'v7' }, ['o1']],
        [{ language: 'hi' }, ['o2']],
        [{ interrupted: true }, ['o1']],
        [{ interrupted: false }, ['o3', 'o2']],
        [{ notUnderstood: true }, ['o2']],
        [{ campaignId: 'cmp_1' }, ['o3']],
        [{ answeredBy: 'mailbox' }, ['o3']],
        [{ answeredBy: 'person' }, []],
        [{ minDurationMs: 5_001 }, ['o1']],
        [{ minDurationMs: 5_000, maxDurationMs: 30_000 }, ['o2', 'o1']],
        [{ minReplyMs: 601 }, ['o1']],
        [{ maxReplyMs: 1_500 }, ['o2', 'o1']],
        [{ variables: [['day', 'tuesday']] }, ['o1']],
        [{ variables: [['day', 'मंगलवार']], text: 'refund' }, ['o2']],
        [{ variables: [['day', 'Tues']] }, []],
        [
          {
            variables: [
              ['day', 'Tuesday'],
              ['phone', '+919876543210'],
            ],
          },
          ['o1'],
        ],
        [
          {
            variables: [
              ['day', 'Tuesday'],
              ['phone', 'Tuesday'],
            ],
          },
          [],
        ],
        // A variable is no word, and a word is no variable.
        [{ text: 'day Tuesday' }, []],
      ];
      for (const [query, ids] of found) {
        expect([query, await idsOf(tenantId, query)]).toEqual([query, ids]);
        expect([query, await store.calls.count(tenantId, query, 100)]).toEqual([query, ids.length]);
      }
      expect(await store.calls.count(tenantId, {}, 2)).toBe(2);
      expect((await store.calls.search(tenantId, { limit: 9 })).calls).toMatchObject([
        { id: 'o3', campaignId: 'cmp_1', answeredBy: 'mailbox', durationMs: undefined, worstReplyMs: undefined, recorded: false },
        { id: 'o2', durationMs: 5_000, worstReplyMs: 600, medianReplyMs: 500, recorded: true },
        { id: 'o1', durationMs: 30_000, worstReplyMs: 1_500, medianReplyMs: 700, recorded: true },
      ]);
      for (const { id } of calls) expect(await store.privacy.erase(tenantId, id, 9_000)).not.toBe('held');
      for (const query of [
        { campaignId: 'cmp_1' },
        { answeredBy: 'mailbox' as const },
        { variables: [['day', 'tuesday']] as const },
      ])
        expect(await idsOf(tenantId, query)).toEqual([]);
      // What is about nobody stays.
      expect(await idsOf(tenantId, { minReplyMs: 600 })).toEqual(['o2', 'o1']);
    },
  );

  it.runIf(isThere)('finds a call by the words of its analysis, and pages through a text search', async () => {
    const tenantId = 'paged';
    for (let index = 0; index < 5; index += 1) {
      await store.calls.upsert(callRecordOf({ tenantId, id: `p${index}`, startedAtMs: 1_000, turns: [turn(0, 'refund')] }));
    }
    const analysis = { tenantId, callId: 'p0', version: 1, createdAtMs: 5, document: { text: 'Rückruf' } };
    await store.analyses.put({ ...analysis, searchText: 'bitte um RÜCKRUF', disposition: 'callback', score: 0.5 });
    expect(await idsOf(tenantId, { text: 'rückruf' })).toEqual(['p0']);
    expect(await idsOf(tenantId, { disposition: 'callback' })).toEqual(['p0']);
    const ids: string[] = [];
    let before: string | undefined;
    do {
      const page = await store.calls.search(tenantId, { limit: 2, before, text: 'Refund' });
      ids.push(...page.calls.map((call) => call.id));
      before = page.next;
    } while (before !== undefined);
    expect(ids).toEqual(['p4', 'p3', 'p2', 'p1', 'p0']);
  });

  it.runIf(isThere)('keeps one analysis a profile, and pages through all of a tenant', async () => {
    const tenantId = 'profiles';
    for (const id of ['a', 'b']) await store.calls.upsert(callRecordOf({ tenantId, id }));
    const put = (callId: string, profile: string, createdAtMs: number) =>
      store.analyses.put({ tenantId, callId, profile, version: 1, createdAtMs, document: { profile } });
    await put('a', 'sales', 1);
    await put('a', 'support', 2);
    await put('b', 'sales', 2);
    expect((await store.analyses.get(tenantId, 'a', 1, 'sales'))?.document).toEqual({ profile: 'sales' });
    const seen: string[] = [];
    let before: string | undefined;
    do {
      const page = await store.analyses.page(tenantId, { limit: 1, before });
      seen.push(...page.analyses.map(({ callId, profile }) => `${callId}/${profile}`));
      before = page.next;
    } while (before !== undefined);
    expect(seen).toEqual(['b/sales', 'a/support', 'a/sales']);
    expect((await store.analyses.page(tenantId, { limit: 9, profile: 'support' })).analyses).toHaveLength(1);
  });

  it.runIf(isThere)('lists ended calls that wait for their analysis, without imported recordings', async () => {
    const tenantId = 'waiting';
    const { endedAtMs: _endedAtMs, ...live } = callRecordOf({ tenantId, id: 'live' });
    await store.calls.upsert(live);
    for (const id of ['w1', 'w2', 'w3']) await store.calls.upsert(callRecordOf({ tenantId, id, endedAtMs: 5 }));
    await store.calls.upsert(callRecordOf({ tenantId, id: 'file', carrier: 'import', endedAtMs: 5 }));
    const waiting = async () =>
      (await store.calls.awaitingAnalysis({ endedBeforeMs: 6, limit: 100 })).filter((ref) => ref.tenantId === tenantId);
    expect((await waiting()).map(({ callId }) => callId).sort()).toEqual(['w1', 'w2', 'w3']);
    await store.analyses.put({ tenantId, callId: 'w1', version: 1, createdAtMs: 9, document: {} });
    await store.calls.analysisFailed(tenantId, 'w2');
    await store.calls.upsert(callRecordOf({ tenantId, id: 'w1', endedAtMs: 5 }));
    expect((await waiting()).map(({ callId }) => callId)).toEqual(['w3']);
    expect((await store.calls.get(tenantId, 'w1'))?.keeping.analysisState).toBe('done');
  });

  it.runIf(isThere)("keeps a call's analysis when the next one fails", async () => {
    const tenantId = 'analysed';
    for (const id of ['good', 'new']) await store.calls.upsert(callRecordOf({ tenantId, id, endedAtMs: 5 }));
    await store.analyses.put({ tenantId, callId: 'good', version: 1, createdAtMs: 9, document: {} });
    for (const id of ['good', 'new']) await store.calls.analysisFailed(tenantId, id);
    const stateOf = async (id: string) => (await store.calls.get(tenantId, id))?.keeping.analysisState;
    expect([await stateOf('good'), await stateOf('new')]).toEqual(['done', 'failed']);
  });

  it.runIf(isThere)('stores words and phone numbers sealed only', async () => {
    const tenantId = 'sealed';
    await store.calls.upsert(
      callRecordOf({
        tenantId,
        id: 's',
        from: '+15550199999',
        digits: '48151623',
        turns: [turn(0, 'unspeakable', 'unheardof')],
        timeline: [{ atMs: 0, type: 'note', text: 'unwritten' }],
        variables: { name: 'unnamed' },
      }),
    );
    await store.analyses.put({
      tenantId,
      callId: 's',
      version: 1,
      createdAtMs: 1,
      document: { t: 'unread' },
      searchText: 'unread',
    });
    let dump = '';
    for (const table of ['calls', 'legs', 'attachments', 'turns', 'events', 'analyses', 'call_keys', 'tenant_keys']) {
      const { rows } = await store.database.pool.query<{ row: string }>(
        `SELECT t::text AS row FROM offhook.${table} t WHERE tenant_id = 'sealed'`,
      );
      dump += rows.map(({ row }) => row).join('\n');
    }
    expect(dump).toContain('sealed');
    const secrets = ['15550199999', '48151623', 'unspeakable', 'unheardof', 'unwritten', 'unnamed', 'unread'];
    for (const secret of secrets) {
      expect(dump).not.toContain(secret);
      expect(dump).not.toContain(Buffer.from(secret).toString('hex'));
    }
    expect(await store.calls.get(tenantId, 's')).toMatchObject({ from: '+15550199999', variables: { name: 'unnamed' } });
  });

  it.runIf(isThere)('erases a call for good and refuses late copies of its record and analysis', async () => {
    const tenantId = 'erasing';
    const record = callRecordOf({ tenantId, id: 'gone', from: '+15550177777', turns: [turn(0, 'farewell')] });
    await store.calls.upsert(record);
    const analysis = { tenantId, callId: 'gone', version: 1, createdAtMs: 1, document: {} };
    await store.analyses.put({ ...analysis, searchText: 'farewell' });
    expect(await store.privacy.callsOf(tenantId, '+1 555 017 7777')).toEqual(['gone']);
    expect(await store.privacy.erase(tenantId, 'gone', 77)).toEqual({
      tenantId,
      callId: 'gone',
      startedAtMs: record.startedAtMs,
      recordingPath: record.recordingPath,
      recordingSidecarPath: record.recordingSidecarPath,
      recordingObject: undefined,
    });
    await store.calls.upsert({ ...record, revision: 9 });
    await expect(store.analyses.put(analysis)).rejects.toMatchObject({ code: 'OFFHOOK_STORE_RECORD', retryable: false });
    const left = await store.calls.get(tenantId, 'gone');
    expect(left).toMatchObject({
      from: '',
      to: '',
      digits: '',
      timeline: [],
      keeping: { textErasedAtMs: 77, audioErasedAtMs: 77 },
    });
    expect(left?.turns).toMatchObject([{ callerText: '', botText: '', botHeardText: '', latencies: record.turns[0]!.latencies }]);
    expect(left).not.toHaveProperty('recordingPath');
    expect(await store.analyses.list(tenantId, 'gone')).toEqual([]);
    expect(await store.privacy.callsOf(tenantId, '+15550177777')).toEqual([]);
    expect(await idsOf(tenantId, { text: 'farewell' })).toEqual([]);
    expect(await idsOf(tenantId, {})).toEqual(['gone']);
    const keys = await store.database.pool.query(`SELECT 1 FROM offhook.call_keys WHERE tenant_id = 'erasing'`);
    expect(keys.rows).toEqual([]);
    await store.privacy.erase(tenantId, 'early', 78);
    await store.calls.upsert({ ...record, id: 'early' });
    expect(await store.calls.get(tenantId, 'early')).toBeUndefined();
    for (const id of ['gone', 'early']) expect(await store.privacy.knows(tenantId, id)).toBe(true);
    for (const [tenant, id] of [
      [tenantId, 'never'],
      ['other', 'gone'],
    ] as const)
      expect(await store.privacy.knows(tenant, id)).toBe(false);
  });

  it.runIf(isThere)('refuses a record that is written while its call is erased', async () => {
    const tenantId = 'racing';
    const ids = Array.from({ length: 12 }, (_, index) => `r${index}`);
    await Promise.all(
      ids.flatMap((id) => [
        store.calls.upsert(callRecordOf({ tenantId, id, revision: 1 })),
        store.privacy.erase(tenantId, id, 1),
        store.calls.upsert(callRecordOf({ tenantId, id, revision: 2 })),
      ]),
    );
    for (const id of ids) expect((await store.calls.get(tenantId, id))?.from ?? '').toBe('');
    const keys = await store.database.pool.query(`SELECT 1 FROM offhook.call_keys WHERE tenant_id = 'racing'`);
    expect(keys.rows).toEqual([]);
  });

  it.runIf(isThere)('erases one kind of data, lists what has expired, and keeps held calls', async () => {
    const tenantId = 'expiring';
    for (const id of ['old', 'held', 'young']) {
      await store.calls.upsert(callRecordOf({ tenantId, id, botName: 'expires', endedAtMs: id === 'young' ? 5_000 : 1_000 }));
    }
    expect(await store.calls.setLegalHold(tenantId, 'held', true)).toBe(true);
    const query = { endedBeforeMs: 2_000, botNames: ['expires'], except: false, limit: 10 } as const;
    const old = [{ tenantId, callId: 'old' }];
    expect(await store.privacy.expired({ ...query, kind: 'audio' })).toEqual(old);
    expect(await store.privacy.expired({ ...query, kind: 'audio', botNames: [] })).toEqual([]);
    expect(await store.privacy.expired({ ...query, kind: 'audio', except: true })).not.toContainEqual(old[0]);
    await store.privacy.eraseKind(tenantId, 'old', 'audio', 9);
    expect(await store.privacy.expired({ ...query, kind: 'audio' })).toEqual([]);
    expect(await store.privacy.expired({ ...query, kind: 'text' })).toEqual(old);
    expect((await store.calls.get(tenantId, 'old'))?.turns[1]?.callerText).toBe('मंगलवार');
    await store.privacy.eraseKind(tenantId, 'old', 'text', 9);
    expect((await store.calls.get(tenantId, 'old'))?.turns[1]?.callerText).toBe('');
    expect(await store.privacy.erase(tenantId, 'held', 9)).toBe('held');
    expect((await store.calls.get(tenantId, 'held'))?.turns[1]?.callerText).toBe('मंगलवार');
  });

  it.runIf(isThere)('keeps webhook deliveries with their outcome until their call is erased', async () => {
    const tenantId = 'hooks';
    const delivery = (id: string, createdAtMs: number) =>
      ({ tenantId, id, callId: 'hooked', endpoint: 'crm', type: 'call.ended', body: { said: 'hush' }, createdAtMs }) as const;
    expect(await store.webhooks.add(delivery('m1', 1_000))).toBe(true);
    expect(await store.webhooks.add({ ...delivery('m1', 5_000), body: 'another' })).toBe(true);
    expect(await store.webhooks.add(delivery('m2', 2_000))).toBe(true);
    expect(await store.webhooks.get(tenantId, 'm1')).toMatchObject({ ...delivery('m1', 1_000), state: 'pending', attempts: 0 });
    expect(await store.webhooks.get('elsewhere', 'm1')).toBeUndefined();
    const ref = { tenantId, id: 'm1' };
    await store.webhooks.tried(ref, { state: 'pending', status: 500, reason: 'broken', atMs: 3_000 });
    expect(await store.webhooks.pending({ untouchedSinceMs: 2_500, limit: 9 })).toEqual([{ tenantId, id: 'm2' }]);
    await store.webhooks.tried(ref, { state: 'delivered', status: 204, reason: undefined, atMs: 4_000 });
    expect(await store.webhooks.get(tenantId, 'm1')).toMatchObject({
      state: 'delivered',
      attempts: 2,
      status: 204,
      reason: undefined,
    });
    const first = await store.webhooks.page(tenantId, { limit: 1 });
    const second = await store.webhooks.page(tenantId, { limit: 1, before: first.next });
    expect([...first.deliveries, ...second.deliveries].map(({ id }) => id)).toEqual(['m2', 'm1']);
    expect(second.next).toBeUndefined();
    expect((await store.webhooks.page(tenantId, { limit: 5, state: 'pending', callId: 'hooked' })).deliveries).toHaveLength(1);
    expect(await store.webhooks.replay(tenantId, 'm1', 6_000)).toBe(true);
    expect((await store.webhooks.get(tenantId, 'm1'))?.state).toBe('pending');
    await store.privacy.erase(tenantId, 'hooked', 7_000);
    expect(await store.webhooks.add(delivery('m3', 8_000))).toBe(false);
    expect((await store.webhooks.page(tenantId, { limit: 5 })).deliveries).toEqual([]);
  });

  it("erases a call's idempotent answers with the call, and refuses later ones", async () => {
    const tenantId = 'default';
    const times = { fingerprint: 'f', atMs: 1_000, forgetBeforeMs: 0, abandonedBeforeMs: 0 };
    const claim = (key: string, callId: string) => store.idempotency.claim(tenantId, key, { ...times, callId });
    await store.calls.upsert(callRecordOf({ tenantId, id: 'asked' }));
    const kept = { status: 200, location: undefined, answer: { id: 'asked' } };
    for (const key of ['answered', 'busy']) expect(await claim(key, 'asked')).toEqual({ kind: 'ours' });
    expect(await claim('another', 'kept')).toEqual({ kind: 'ours' });
    for (const key of ['answered', 'another']) await store.idempotency.keep(tenantId, key, kept);
    await store.privacy.erase(tenantId, 'asked', 7_000);
    await store.idempotency.keep(tenantId, 'busy', kept);
    const left = await store.database.tenancy.atOnce(tenantId, (session) =>
      session.execute<{ key: string }>(sql`SELECT key FROM offhook.idempotency_keys WHERE tenant_id = ${tenantId}`),
    );
    expect(left.rows).toEqual([{ key: 'another' }]);
  });

  it.runIf(isThere && place === 'a Postgres server')(
    "hides another tenant's rows even from a query that names no tenant",
    async () => {
      for (const tenantId of ['mine', 'theirs']) {
        await store.calls.upsert(callRecordOf({ tenantId, id: 'rls' }));
        await store.analyses.put({ tenantId, callId: 'rls', version: 1, createdAtMs: 1, document: {} });
        const hook = { callId: 'rls', endpoint: 'crm', type: 'call.ended', body: {}, createdAtMs: 1 };
        await store.webhooks.add({ ...hook, tenantId, id: 'rls' });
      }
      const tables = ['calls', 'legs', 'attachments', 'turns', 'events', 'analyses', 'call_keys', 'tenant_keys'];
      for (const table of tables) {
        const seen = await store.database.tenancy.atOnce('mine', (session) =>
          session.execute<{ tenant_id: string }>(sql.raw(`SELECT DISTINCT tenant_id FROM offhook.${table}`)),
        );
        expect([table, seen.rows]).toEqual([table, [{ tenant_id: 'mine' }]]);
      }
      await store.database.tenancy.atOnce('mine', async (session) => {
        const changed = await session.execute(sql`UPDATE offhook.calls SET language = 'xx' WHERE tenant_id = 'theirs'`);
        expect(changed.rowCount).toBe(0);
      });
      const smuggled = store.database.tenancy.atOnce('mine', (session) =>
        session.execute(sql`INSERT INTO offhook.erasures VALUES ('theirs', 'rls', 1)`),
      );
      await expect(smuggled).rejects.toMatchObject({ cause: { code: '42501' } });
    },
  );
});
