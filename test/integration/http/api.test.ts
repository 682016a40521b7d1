import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { Validator } from '@seriousme/openapi-schema-validator';
import { fastify, type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it, test, vi } from 'vitest';
import { wavFile } from '../../../src/audio/wav.ts';
import { apiRoutes } from '../../../src/http/api/api.ts';
import { API_SCOPES, ApiKeys, type ApiScope } from '../../../src/http/api/system/api-keys.ts';
import { useProblems } from '../../../src/http/problem.ts';
import { POST_CALL, type FailedJob, type JsonValue } from '../../../src/records/queue/port.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { diskObjects } from '../../../src/records/objects/disk.ts';
import type { Store } from '../../../src/records/port.ts';
import { storeOn } from '../../../src/records/database.ts';
import { Recordings } from '../../../src/records/objects/recordings.ts';
import { callRecordOf } from '../../support/call-records.ts';
import { embeddedDatabases, type TestDatabases } from '../../support/databases.ts';

const COLLECTED = { day: '2026-01-06', phone: '+919876543210', booking: 'zebrafinch' };

describe('the API', () => {
  let databases: TestDatabases;
  let store: Store;
  let app: FastifyInstance;
  let clock: ManualClock;
  let keys: ApiKeys;
  const folder = mkdtempSync(join(tmpdir(), 'offhook-api-'));
  const enqueued: { name: string; id: string; payload: JsonValue }[] = [];
  const failed: FailedJob[] = [];
  const retried: string[] = [];
  const wav = wavFile(
    Int16Array.from({ length: 4_000 }, (_, n) => n),
    8_000,
    2,
  );

  beforeAll(async () => {
    databases = await embeddedDatabases();
    store = storeOn(await databases.open());
    const recordingPath = join(folder, 'c2.wav');
    await writeFile(recordingPath, wav);
    const at = Date.UTC(2026, 0, 1);
    for (let n = 1; n <= 5; n += 1)
      await store.calls.upsert(
        callRecordOf({
          id: `c${n}`,
          startedAtMs: at + n * 60_000,
          recordingPath: n === 2 ? recordingPath : undefined,
          ...(n === 1 ? { variables: COLLECTED, notes: ['Call +15550001 back', 'bot: billing'] } : {}),
          botName: n === 5 ? '=bad()' : 'clinic',
        }),
      );
    await store.calls.upsert(callRecordOf({ id: 'theirs', tenantId: 'other' }));
    await store.analyses.put({
      tenantId: 'default',
      callId: 'c1',
      version: 1,
      createdAtMs: at,
      disposition: 'booked',
      score: 80,
      document: { a: 1 },
    });
    clock = new ManualClock();
    keys = new ApiKeys(join(folder, 'api-keys.json'));
    app = fastify();
    useProblems(app, silentLogger);
    app.register(async (scope) =>
      apiRoutes(
        scope,
        {
          keys,
          profiles: { names: ['default', 'sales'] },
          uploads: { keep: async () => 'object', remove: async () => undefined },
          uploadFolder: join(folder, 'uploads'),
          store,
          recordings: new Recordings(store, diskObjects(folder)),
          clock,
          queue: {
            enqueue: async (name, id, payload) => void enqueued.push({ name, id, payload }),
            failed: async () => failed,
            retry: async (_name, id) => retried.push(id) > 0,
          },
        },
        { maxUploadBytes: 1_000_000 },
      ),
    );
    await app.ready();
  });
  afterAll(async () => {
    await app.close();
    await store.close();
    await databases[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const keyFor = (scopes: readonly ApiScope[], tenantId = 'default'): string =>
    keys.create({ name: 'test', tenantId, scopes: [...scopes] }, 0).secret;
  const ask = async (url: string, key = keyFor(API_SCOPES), more: object = {}) =>
    app.inject({
      url: `/api${url}`,
      ...more,
      headers: { authorization: `Bearer ${key}`, ...('headers' in more ? (more.headers as object) : {}) },
    });

  it('lists newest first by cursor, each call once, and searches', async () => {
    const key = keyFor(API_SCOPES);
    const seen: string[] = [];
    let cursor = '';
    do {
      const answer = await ask(`/calls?limit=2${cursor}`, key);
      const { calls, next } = answer.json<{ calls: { id: string }[]; next: string | null }>();
      seen.push(...calls.map(({ id }) => id));
      cursor = next === null ? '' : `&cursor=${encodeURIComponent(next)}`;
    } while (cursor !== '');
    expect(seen).toEqual(['c5', 'c4', 'c3', 'c2', 'c1']);
    const ids = async (query: string) =>
      (await ask(`/calls?${query}`, key)).json<{ calls: { id: string }[] }>().calls.map(({ id }) => id);
    expect(await ids('disposition=booked')).toEqual(['c1']);
    expect(await ids(`text=${encodeURIComponent('मंगलवार goodbye')}&limit=1`)).toEqual(['c5']);
    expect(await ids('number=%2B15550001&from=2026-01-01T00:04:00Z')).toEqual(['c5', 'c4']);
    expect(await ids('bot=nobody')).toEqual([]);
    expect(await ids('variable=day:2026-01-06&variable=booking:ZebraFinch')).toEqual(['c1']);
    expect(await ids('variable=day:zebrafinch')).toEqual([]);
    expect(await ids('endReason=caller-hung-up&minDurationMs=9000&limit=2')).toEqual(['c5', 'c4']);
    expect(await ids('minReplyMs=1')).toEqual([]);
    expect(await ids('interrupted=false')).toEqual([]);
    expect(await ids('interrupted=true&language=en&limit=1')).toEqual(['c5']);
    expect((await ask('/calls/count?bot=clinic', key)).json()).toEqual({ count: 4, more: false });
    for (const wrong of ['variable=day', 'minReplyMs=soon', 'answeredBy=nobody', 'latency=5', 'interrupted=maybe'])
      expect((await ask(`/calls?${wrong}`, key)).statusCode).toBe(400);
  });

  it('refuses to look for a number that is shown masked, in lists, counts and exports', async () => {
    const key = keyFor(['calls:read']);
    for (const query of [
      'number=%2B15550001',
      'text=919876543210',
      'variable=phone:%2B919876543210',
      'text=91987%E2%80%8C6543210',
    ])
      for (const path of ['/calls', '/calls/count', '/calls/export']) {
        const answer = await ask(`${path}?${query}`, key);
        expect([path, query, answer.statusCode]).toEqual([path, query, 403]);
        expect(answer.json<{ detail: string }>().detail).toContain('numbers:read');
      }
    expect((await ask('/calls?variable=day:2026-01-06&text=2026', key)).json()).toMatchObject({ calls: [{ id: 'c1' }] });
  });

  it('shows one call with its turns, numbers masked unless the key may see them', async () => {
    const masked = await ask('/calls/c1', keyFor(['calls:read']));
    expect(masked.json()).toMatchObject({
      id: 'c1',
      from: '*******01',
      recorded: false,
      turns: [{ index: 0 }, { index: 1 }],
      timeline: [{}, {}],
    });
    expect(masked.body).not.toContain('5550001');
    expect((await ask('/calls/c1')).json()).toMatchObject({ from: '+15550001', analysis: 'done', disposition: 'booked' });
  });

  test.each([
    ['no range', undefined, 200, 0, undefined],
    ['the head', 'bytes=0-43', 206, 0, 44],
    ['the rest', 'bytes=44-', 206, 44, undefined],
    ['the tail', 'bytes=-10', 206, -10, undefined],
    ['past the end', 'bytes=40-99999999', 206, 40, undefined],
    ['several', 'bytes=0-1,4-5', 200, 0, undefined],
  ])('gives the recording: %s', async (_note, range, status, from, to) => {
    const answer = await ask('/calls/c2/audio', undefined, range === undefined ? {} : { headers: { range } });
    expect(answer.statusCode).toBe(status);
    expect(Buffer.compare(answer.rawPayload, Buffer.from(wav).subarray(from < 0 ? wav.length + from : from, to))).toBe(0);
    expect(answer.headers['content-type']).toBe('audio/wav');
    if (status === 206) expect(answer.headers['content-range']).toMatch(new RegExp(`^bytes \\d+-\\d+/${wav.length}$`));
  });

  it('refuses a range of nothing, and has no recording where there is none', async () => {
    const nothing = await ask('/calls/c2/audio', undefined, { headers: { range: `bytes=${wav.length}-` } });
    expect([nothing.statusCode, nothing.headers['content-range']]).toEqual([416, `bytes */${wav.length}`]);
    expect(nothing.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(nothing.json()).toMatchObject({ status: 416, detail: expect.stringContaining(`${wav.length} bytes`) });
    expect((await ask('/calls/c1/audio')).statusCode).toBe(404);
  });

  it('gives no range to a player that began with another file, and says what a compressed recording is', async () => {
    const { etag } = (await ask('/calls/c2/audio')).headers;
    const goOn = (tag: unknown) => ask('/calls/c2/audio', undefined, { headers: { range: 'bytes=44-', 'if-range': tag } });
    expect([(await goOn(etag)).statusCode, (await goOn('"flac-9"')).statusCode]).toEqual([206, 200]);
    const recordingPath = join(folder, 'c9.wav');
    await writeFile(join(folder, 'c9.opus'), 'OggS and more');
    await store.calls.upsert(callRecordOf({ id: 'c9', recordingPath, tenantId: 'third' }));
    await store.recordings.compressed('third', 'c9', { object: undefined, format: 'wav' }, { object: undefined, format: 'opus' });
    const answer = await ask('/calls/c9/audio', keyFor(['recordings:read'], 'third'), { headers: { range: 'bytes=0-3' } });
    expect([answer.statusCode, answer.body, answer.headers['content-type']]).toEqual([206, 'OggS', 'audio/ogg; codecs=opus']);
  });

  it('gives analyses, and queues another one by another profile once for each idempotency key', async () => {
    expect((await ask('/calls/c1/analyses')).json()).toMatchObject({
      analyses: [{ profile: 'default', score: 80, document: { a: 1 } }],
    });
    expect((await ask('/analyses?profile=default')).json()).toMatchObject({ analyses: [{ callId: 'c1' }], next: null });
    const again = (wish?: string) =>
      ask('/calls/c1/analyses', undefined, {
        method: 'POST',
        payload: { profile: 'sales' },
        headers: wish === undefined ? {} : { 'idempotency-key': wish },
      });
    const answers = [await again('one'), await again('one'), await again(), await again()];
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([202, 202, 202, 202]);
    expect(new Set(enqueued.map(({ id }) => id)).size).toBe(3);
    expect(enqueued[0]).toMatchObject({ name: POST_CALL, payload: { tenantId: 'default', callId: 'c1', profile: 'sales' } });
  });

  it('refuses to analyse a call with a profile that there is not, and names those there are', async () => {
    const before = enqueued.length;
    const answer = await ask('/calls/c1/analyses', undefined, { method: 'POST', payload: { profile: 'sale' } });
    expect([answer.statusCode, enqueued.length]).toEqual([400, before]);
    expect(answer.json()).toMatchObject({ detail: 'There is no analysis profile sale; there are default, sales.' });
  });

  it('shows what a bot collected in one call, lists, searches and exports, with numbers masked unless the key may see them', async () => {
    const whole = keyFor(['calls:read', 'numbers:read']);
    const masked = keyFor(['calls:read']);
    const collected = { variables: COLLECTED, notes: ['Call +15550001 back', 'bot: billing'] };
    const hidden = {
      variables: { ...COLLECTED, phone: '***********10' },
      notes: ['Call *******01 back', 'bot: billing'],
    };
    for (const [key, shown] of [
      [whole, collected],
      [masked, hidden],
    ] as const) {
      expect((await ask('/calls/c1', key)).json()).toMatchObject(shown);
      const found = (await ask('/calls?text=zebrafinch', key)).json<{ calls: object[] }>().calls;
      expect(found).toMatchObject([{ id: 'c1', ...shown }]);
      expect(JSON.parse((await ask('/calls/export?text=billing', key)).body)).toMatchObject(shown);
      const [header, row] = (await ask('/calls/export?format=csv&text=billing', key)).body.split('\r\n');
      expect(header).toMatch(/,variables,notes$/);
      expect(row).toContain(JSON.stringify(shown.variables).replaceAll('"', '""'));
      expect(row).toContain(shown.notes.join('\n'));
    }
    expect((await ask('/calls/c2', masked)).json()).toMatchObject({ variables: {}, notes: [] });
  });

  it('exports everything that a search finds, with no formula in it', async () => {
    const csv = await ask('/calls/export?format=csv');
    const lines = csv.body.trim().split('\r\n');
    expect([lines.length, csv.headers['content-type']]).toEqual([6, 'text/csv; charset=utf-8; header=present']);
    expect(csv.body).toContain("c5,'=bad(),");
    const jsonl = await ask('/calls/export?bot=clinic');
    expect(
      jsonl.body
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { id: string }).id),
    ).toEqual(['c4', 'c3', 'c2', 'c1']);
  });

  it('lists and retries the failed jobs of its own tenant', async () => {
    failed.push(
      { id: 'a', payload: { tenantId: 'default', callId: 'c1' }, attempts: 3, reason: 'x', failedAtMs: 1 },
      { id: 'b', payload: { tenantId: 'other', callId: 'theirs' }, attempts: 3, reason: 'x', failedAtMs: 1 },
    );
    expect((await ask('/jobs/post-call/failed')).json<{ failed: unknown[] }>().failed).toHaveLength(1);
    const retry = (payload: object) => ask('/jobs/post-call/retry', undefined, { method: 'POST', payload });
    expect((await retry({ id: 'b' })).statusCode).toBe(404);
    expect((await retry({})).json()).toEqual({ retried: 1 });
    expect(retried).toEqual(['a']);
  });

  it("keeps every route from another tenant's key", async () => {
    const other = keyFor(API_SCOPES, 'other');
    for (const path of ['/calls/c2', '/calls/c2/audio']) expect((await ask(path, other)).statusCode).toBe(404);
    expect((await ask('/calls', other)).json<{ calls: { id: string }[] }>().calls.map(({ id }) => id)).toEqual(['theirs']);
    expect((await ask('/calls/c1/analyses', other)).json()).toMatchObject({ analyses: [] });
    expect((await ask('/analyses', other)).json()).toMatchObject({ analyses: [] });
    expect((await ask('/calls/export', other)).body).not.toContain('"c1"');
    const post = await ask('/calls/c1/analyses', other, { method: 'POST', payload: { profile: 'sales' } });
    expect(post.statusCode).toBe(404);
  });

  it('wants a key that is known and has the scope, and says so as a problem document', async () => {
    const paths = app.inject({ url: '/api/openapi.json' }).then((answer) => Object.keys(answer.json<{ paths: object }>().paths));
    for (const path of await paths) {
      const url = `/api${path.replaceAll(/\{\w+\}/gu, 'post-call')}`;
      for (const method of ['GET', 'POST', 'DELETE'] as const) {
        if (!app.hasRoute({ method, url: `/api${path.replaceAll(/\{(\w+)\}/gu, ':$1')}` })) continue;
        const answer = await app.inject({ method, url, headers: { authorization: 'Bearer ohk_nobody' } });
        expect([answer.statusCode, answer.headers['content-type']]).toEqual([401, 'application/problem+json; charset=utf-8']);
      }
    }
    expect((await ask('/calls', keyFor(['analyses:read']))).statusCode).toBe(403);
    const { key, secret } = keys.create({ name: 'gone', tenantId: 'default', scopes: ['calls:read'] }, 0);
    expect((await ask('/calls', secret)).statusCode).toBe(200);
    keys.revoke(key.id);
    expect((await ask('/calls', secret)).statusCode).toBe(401);
  });

  it.each([
    ['GET', '/calls?carrier=%00', undefined, 'query.carrier'],
    ['GET', '/calls?text=a%00b', undefined, 'query.text'],
    ['GET', '/calls/%00', undefined, 'params.callId'],
    ['GET', '/analyses?profile=%00', undefined, 'query.profile'],
    ['GET', `/calls?cursor=${Buffer.from('[1,"\\u0000"]').toString('base64url')}`, undefined, 'not a place in a list'],
    ['GET', `/calls?cursor=${Buffer.from('[1.5,"c1"]').toString('base64url')}`, undefined, 'not a place in a list'],
    ['POST', '/jobs/post-call/retry', { id: '\0' }, 'body.id'],
    ['POST', '/analyses', { url: 'https://a.test/x.wav', metadata: { note: '\ud800' } }, 'body.metadata.note'],
    ['POST', '/analyses', { url: 'https://a.test/x.wav', metadata: { '\0': '' } }, 'a name'],
  ] as const)('answers 400 to a zero character that the store cannot keep: %s %s', async (method, url, payload, where) => {
    const answer = await ask(url, undefined, payload === undefined ? { method } : { method, payload });
    expect([answer.statusCode, answer.json<{ detail?: string }>().detail]).toEqual([400, expect.stringContaining(where)]);
  });

  it('makes the description that anybody may ask for once', async () => {
    await app.inject({ url: '/api/openapi.json' });
    const made = vi.spyOn(JSON, 'stringify');
    const again = await app.inject({ url: '/api/openapi.json' });
    expect([again.statusCode, made.mock.calls.filter(([value]) => 'openapi' in Object(value)).length]).toEqual([200, 0]);
    made.mockRestore();
  });

  it('describes every route to programs and to people, without a key', async () => {
    const description = await app.inject({ url: '/api/openapi.json' });
    const { openapi, paths } = description.json<{ openapi: string; paths: Record<string, object> }>();
    expect([openapi, Object.keys(paths).length]).toEqual(['3.1.0', 24]);
    expect(paths['/calls/{callId}/analyses']).toMatchObject({
      get: { parameters: [{ name: 'callId', in: 'path', required: true }] },
      post: { requestBody: {}, responses: { 202: {}, default: {} } },
    });
    expect(paths['/analyses']).toMatchObject({
      post: {
        requestBody: {
          required: true,
          content: {
            'application/json': { schema: { anyOf: [{ required: ['url'] }, { required: ['items'] }] } },
            'multipart/form-data': { schema: { required: ['file'], properties: { file: { type: 'string' } } } },
          },
        },
      },
    });
    expect(await new Validator().validate(description.json<Record<string, unknown>>())).toMatchObject({ valid: true });
    const page = await app.inject({ url: '/api' });
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    for (const path of Object.keys(paths)) expect(page.body).toContain(`/api${path.replaceAll(/\{(\w+)\}/gu, ':$1')}<`);
    expect(page.body).not.toContain('<script');
  });

  test.each(['/calls?limit=0', '/calls?nonsense=1', '/calls?cursor=broken', '/calls?from=yesterday', '/jobs/nothing/failed'])(
    'refuses %s with the reason',
    async (path) => {
      const answer = await ask(path);
      expect(answer.statusCode).toBe(400);
      expect(answer.json()).toMatchObject({ status: 400, detail: expect.any(String) as string });
    },
  );

  it('limits a key to ten requests a second after sixty, and other keys are not held up', async () => {
    clock.advance(60_000);
    const key = keyFor(['calls:read']);
    const codes: number[] = [];
    for (let n = 0; n < 61; n += 1) codes.push((await ask('/calls?limit=1', key)).statusCode);
    expect(codes.filter((code) => code === 429)).toHaveLength(1);
    expect((await ask('/calls?limit=1')).statusCode).toBe(200);
    clock.advance(1000);
    expect((await ask('/calls?limit=1', key)).statusCode).toBe(200);
  });
});
