import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi } from '../../support/api-server.ts';
import { yesToEach } from '../../support/attempt-records.ts';

const CONSENTS = 'phone,level,purposes,given_at,evidence,evidence_kind,evidence_source';
const ASHA = '+919876543210';
const RAVI = '+12127365000';

describe('who may be called, over the API', () => {
  let api: Awaited<ReturnType<typeof startApi>>;
  beforeAll(async () => {
    api = await startApi({ transcribe: () => Promise.reject(new Error('nothing is transcribed here')) });
  });
  afterAll(async () => api[Symbol.asyncDispose]());

  const ask = async (path: string, more: RequestInit = {}, key = api.key) => {
    const answer = await fetch(`${api.url}/api${path}`, {
      ...more,
      headers: { authorization: `Bearer ${key}`, ...(more.headers as Record<string, string>) },
    });
    const replayed = answer.headers.get('idempotent-replayed');
    return { status: answer.status, replayed, body: (await answer.json()) as Record<string, unknown> };
  };
  const post = (path: string, body: unknown, headers: Record<string, string> = {}, key = api.key) =>
    ask(path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } }, key);
  const csv = (path: string, body: string) => ask(path, { method: 'POST', body, headers: { 'content-type': 'text/csv' } });

  it('puts a number on a list once for each idempotency key, shows it to its tenant alone, and takes it off', async () => {
    const once = { 'idempotency-key': 'k1' };
    const counts = { added: 1, known: 0, refused: 0, problems: [] };
    expect(await post('/suppressions', { number: '98765 43210', note: `call of ${ASHA}` }, once)).toMatchObject({
      status: 200,
      body: counts,
    });
    expect(await post('/suppressions', { number: '98765 43210', note: `call of ${ASHA}` }, once)).toMatchObject({
      replayed: 'true',
      body: counts,
    });
    expect((await post('/suppressions?until=2099-01-01', { number: ASHA })).body).toMatchObject({ added: 0, known: 1 });
    const { body } = await ask(`/suppressions?number=${ASHA}`);
    expect(body).toEqual({
      suppressions: [
        {
          number: ASHA,
          list: 'own',
          addedAt: expect.any(String),
          until: null,
          source: expect.stringMatching(/^key_/u),
          callId: null,
          note: null,
        },
      ],
      next: null,
    });
    expect((await ask('/suppressions', {}, api.otherKey)).body).toEqual({ suppressions: [], next: null });
    const removed = `/suppressions?number=${encodeURIComponent(ASHA)}`;
    expect((await ask(removed, { method: 'DELETE' }, api.otherKey)).status).toBe(404);
    expect(await ask(removed, { method: 'DELETE' })).toMatchObject({ status: 200, body: { removed: true } });
    expect((await ask(removed, { method: 'DELETE' })).status).toBe(404);
  });

  it('imports files of numbers and names bad rows, pages through them, and knows when a list was obtained', async () => {
    const file = `phone,note\n${RAVI},first\nnobody,\n${ASHA},\n`;
    expect(await csv('/suppressions?list=national', file)).toMatchObject({
      status: 400,
      body: { detail: 'obtained: say when the list national was obtained; the gate asks how old it is.' },
    });
    // Such a list would never be too old.
    expect(await csv('/suppressions?list=national&obtained=2999-01-01', file)).toMatchObject({
      status: 400,
      body: { detail: 'obtained is in the future: the gate asks how old the list is' },
    });
    expect(await csv('/suppressions?list=national&obtained=2026-03-01', file)).toMatchObject({
      status: 200,
      body: { added: 2, known: 0, refused: 1, problems: [{ line: 3, reason: 'not a telephone number', column: 'phone' }] },
    });
    expect((await csv('/suppressions', 'name\nAsha\n')).body).toMatchObject({
      status: 400,
      detail: expect.stringContaining('no column is called'),
    });
    const first = (await ask('/suppressions?list=national&limit=1')).body;
    const second = (await ask(`/suppressions?list=national&limit=1&cursor=${String(first['next'])}`)).body;
    const numbers = [first, second].map(({ suppressions }) => (suppressions as { number: string }[])[0]?.number);
    expect(new Set(numbers)).toEqual(new Set([ASHA, RAVI]));
    expect(second['next']).toBeNull();
    expect((await ask('/suppressions/lists')).body).toEqual({
      lists: [{ list: 'national', obtainedAt: '2026-03-01T00:00:00.000Z' }],
    });
  });

  it('writes down why a number was taken off a list, without numbers', async () => {
    await post('/suppressions', { number: ASHA });
    const reason = `she asked: ${ASHA.slice(3)} was a typing error`;
    const path = `/suppressions?${new URLSearchParams({ number: ASHA, reason }).toString()}`;
    expect((await ask(path, { method: 'DELETE' })).body).toMatchObject({ removed: true });
    const lines = (await api.audit()).split('\n').filter((line) => line.includes('suppression.remove'));
    expect(JSON.parse(lines.at(-1) ?? '{}')).toMatchObject({
      outcome: 'done',
      reason: expect.stringMatching(/^she asked: \*{6,}\d\d was a typing error$/u),
    });
  });

  it('keeps consents with their evidence, refuses half ones, and withdraws them', async () => {
    const consent = {
      number: ASHA,
      level: 'written',
      purposes: ['service'],
      givenAt: '2026-01-02',
      evidence: `letter of ${ASHA}`,
      evidenceKind: 'letter',
      evidenceSource: 'post of the branch in Pune',
    };
    expect((await post('/consents', consent)).body).toMatchObject({ added: 1 });
    expect((await post('/consents', { ...consent, evidence: ' ' })).body).toMatchObject({
      status: 400,
      detail: expect.stringContaining('evidence'),
    });
    expect((await post('/consents', { ...consent, purposes: ['sales'] })).status).toBe(400);
    for (const [change, words] of [
      [{ evidence: 'x' }, 'evidence is too short'],
      [{ givenAt: '2999-01-01' }, 'given_at is in the future'],
      [{ givenAt: '1970-01-01' }, 'given_at is before 1990'],
      [{ evidenceSource: '?' }, 'evidence_source is missing'],
      [{ evidenceKind: 'dream' }, 'evidenceKind'],
      [{ evidenceKind: 'verbal' }, 'verbal proves no written consent'],
    ] as const)
      expect((await post('/consents', { ...consent, ...change })).body).toMatchObject({
        status: 400,
        detail: expect.stringContaining(words),
      });
    expect((await post('/consents', { ...consent, number: '12' })).body).toMatchObject({
      detail: expect.stringMatching(/^number: /u),
    });
    expect(
      (await csv('/consents', `${CONSENTS}\n${RAVI},express,service,2026-01-03,form 17,form,web shop\n`)).body,
    ).toMatchObject({ added: 1 });
    const { body } = await ask(`/consents?number=${ASHA}`);
    expect(body['consents']).toMatchObject([
      {
        number: ASHA,
        evidence: consent.evidence,
        evidenceKind: 'letter',
        evidenceSource: consent.evidenceSource,
        writtenBy: expect.stringMatching(/^key_/u),
        writtenAt: expect.any(String),
        withdrawnAt: null,
        purposes: ['service'],
      },
    ]);
    const [{ id }] = body['consents'] as [{ id: string }];
    expect((await post('/consents/withdraw', { number: ASHA })).body).toEqual({ withdrawn: [id] });
    expect((await post('/consents/withdraw', { number: ASHA, id: 'none' })).status).toBe(404);
    expect((await ask(`/consents?number=${ASHA}`)).body['consents']).toMatchObject([{ withdrawnAt: expect.any(String) }]);
  });

  it('masks numbers for keys that may not see them, and refuses what a key has no scope for', async () => {
    const { secret } = api.keys.create({ name: 'reader', tenantId: 'default', scopes: ['dialling:read'] }, 0);
    const lists = await ask('/suppressions', {}, secret);
    expect(lists.status).toBe(200);
    const consents = await ask('/consents', {}, secret);
    expect(JSON.stringify([lists.body, consents.body])).not.toMatch(/98765|736500/u);
    expect(consents.body['consents']).toMatchObject([{ evidence: expect.stringMatching(/^letter of \*+10$/u) }, {}]);
    expect((await post('/suppressions', { number: ASHA }, {}, secret)).status).toBe(403);
    const { secret: calls } = api.keys.create({ name: 'calls', tenantId: 'default', scopes: ['calls:read'] }, 0);
    expect((await ask('/suppressions', {}, calls)).status).toBe(403);
  });

  it('verifies the log of decisions of the tenant, against an end that was kept elsewhere', async () => {
    expect((await ask('/dial-decisions/verify')).body).toEqual({ ok: true, entries: 0, faults: [], faultCount: 0, head: null });
    const about = { numbers: [ASHA, RAVI], sinceMs: 0, lease: { owner: 'test', untilMs: 1 } };
    await api.store.attempts.decide(
      'default',
      about,
      yesToEach('default', (number) => `d${number.slice(1)}`),
    );
    const { body } = await ask('/dial-decisions/verify');
    expect(body).toMatchObject({ ok: true, entries: 2, faultCount: 0, head: { sequence: 2 } });
    const { sequence, hash } = body['head'] as { sequence: number; hash: string };
    expect((await ask(`/dial-decisions/verify?expect=${sequence}:${hash}`)).body).toMatchObject({ ok: true });
    const later = await ask(`/dial-decisions/verify?expect=${sequence + 3}:${hash}`);
    expect(later.body).toMatchObject({ ok: false, faultCount: 1, faults: [{ fault: 'missing', sequence: 3, toSequence: 5 }] });
    expect((await ask('/dial-decisions/verify?expect=2')).status).toBe(400);
    expect((await ask('/dial-decisions/verify', {}, api.otherKey)).body).toMatchObject({ entries: 0 });
  });

  it('erases a person, who stays on the list of those that are not called', async () => {
    await post('/suppressions', { number: ASHA });
    await api.store.attempts.advance('default', 'd919876543210', ['queued'], 'placing', { placedAtMs: 1 });
    expect((await post('/erasures', { number: '98765 43210' })).body).toMatchObject({
      live: ['d919876543210'],
      suppressions: 2,
      consents: 1,
    });
    await api.store.attempts.advance('default', 'd919876543210', ['placing'], 'ended', { endedAtMs: 2, disposition: 'busy' });
    expect((await post('/erasures', { call: 'd919876543210' })).body).toMatchObject({ erased: ['d919876543210'], live: [] });
    expect((await post('/erasures', { call: 'nothing' })).status).toBe(404);
    expect((await post('/erasures', { call: 'd12127365000' }, {}, api.otherKey)).status).toBe(404);
    expect((await post('/erasures', {})).body).toMatchObject({ status: 400, detail: expect.stringContaining('either') });
    expect((await ask('/suppressions?list=own')).body['suppressions']).toMatchObject([{ number: null, list: 'own' }]);
    expect((await ask('/dial-decisions/verify')).body).toMatchObject({ ok: true, entries: 2 });
  });
});
