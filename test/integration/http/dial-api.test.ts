import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { fastify, type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { z } from 'zod';
import { CarrierControlError } from '../../../src/carriers/errors.ts';
import { readCallerIds } from '../../../src/config/caller-ids.ts';
import { apiRoutes } from '../../../src/http/api/api.ts';
import { ApiKeys, type ApiScope } from '../../../src/http/api/system/api-keys.ts';
import type { attemptView } from '../../../src/http/api/calls/call-views.ts';
import { useProblems } from '../../../src/http/problem.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import type { Store } from '../../../src/records/port.ts';
import { storeOn } from '../../../src/records/database.ts';
import { callRecordOf } from '../../support/call-records.ts';
import { embeddedDatabases, type TestDatabases } from '../../support/databases.ts';
import { diallerOver, NOON_MS, ScriptedCarrier } from '../../unit/outbound/dialler-bench.ts';

type AttemptView = z.output<typeof attemptView>;

const CALLER_ID = '+442079460001';

describe('placing calls over the API', () => {
  let databases: TestDatabases;
  let store: Store;
  let app: FastifyInstance;
  const folder = mkdtempSync(join(tmpdir(), 'offhook-dial-api-'));
  const clock = new ManualClock(0, NOON_MS);
  const carrier = new ScriptedCarrier();
  let bench: ReturnType<typeof diallerOver>;
  let numbers = 0;
  /** Nobody was called there yet. */
  const somebody = (): string => `+44207946${String((numbers += 1)).padStart(4, '0')}`;

  const appOver = (dialler: ReturnType<typeof diallerOver>): FastifyInstance => {
    const made = fastify();
    useProblems(made, silentLogger);
    const keys = new ApiKeys(join(folder, 'api-keys.json'));
    const unused = async (): Promise<never> => {
      throw new TypeError('not used');
    };
    made.register(async (scope) =>
      apiRoutes(
        scope,
        {
          keys,
          store,
          clock,
          profiles: { names: [] },
          uploads: { keep: unused, remove: unused },
          uploadFolder: folder,
          recordings: { open: unused },
          queue: { enqueue: unused, failed: unused, retry: unused },
          dialling: {
            dialler: dialler.dialler,
            bots: () => ['reminder', 'clinic'],
            means: () => ({ callerIds: readCallerIds(CALLER_ID).callerIds, carriers: ['twilio'], carrier: undefined }),
            settings: { profile: 'none', zoneSource: 'number', defaultRegion: 'GB', ringTimeoutMs: 30_000 },
          },
        },
        { maxUploadBytes: 1000 },
      ),
    );
    return made;
  };
  beforeAll(async () => {
    databases = await embeddedDatabases();
    store = storeOn(await databases.open());
    bench = diallerOver({ attempts: store.attempts, carrier, clock, callsPerSecond: Infinity });
    app = appOver(bench);
    await app.ready();
  });
  afterAll(async () => {
    await app.close();
    await store.close();
    await databases[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const keyFor = (scopes: readonly ApiScope[], tenantId = 'default'): string =>
    new ApiKeys(join(folder, 'api-keys.json')).create({ name: 'test', tenantId, scopes: [...scopes] }, 0).secret;
  const ALL: readonly ApiScope[] = ['calls:dial', 'calls:read', 'numbers:read'];
  const RULES: readonly ApiScope[] = [...ALL, 'dialling:rules'];
  const post = (body: object, { key = keyFor(ALL), once = '', on = app, url = '/api/calls' } = {}) =>
    on.inject({
      method: 'POST',
      url,
      headers: { authorization: `Bearer ${key}`, ...(once === '' ? {} : { 'idempotency-key': once }) },
      payload: body,
    });
  const get = (url: string, key = keyFor(ALL)) => app.inject({ url: `/api${url}`, headers: { authorization: `Bearer ${key}` } });

  it('answers with the attempt, which the call is found by before and after its end', async () => {
    const to = somebody();
    const wish = { to, bot: 'reminder', variables: { name: 'Asha' }, metadata: { order: '17' }, ringTimeoutMs: 20_000 };
    const placed = await post(wish);
    expect(placed.statusCode).toBe(201);
    const attempt = placed.json<AttemptView>();
    expect(attempt).toMatchObject({ state: 'placing', to, from: CALLER_ID, bot: 'reminder', carrier: 'twilio', attempt: 1 });
    expect(placed.headers['location']).toBe(`/api/attempts/${attempt.id}`);
    expect(bench.held.get(attempt.id)).toMatchObject({ variables: { name: 'Asha' }, metadata: { order: '17' } });
    expect(carrier.orders.at(-1)).toMatchObject({ callId: attempt.id, to, ringTimeoutMs: 20_000 });

    const { follower } = bench.dialler;
    const carrierCallId = `CA-${attempt.id}`;
    await follower.reported(attempt.id, { carrier: 'twilio', carrierCallId, progress: { state: 'ringing' } });
    expect((await get(`/attempts/${attempt.id}`)).json()).toMatchObject({ state: 'ringing', ringingAt: expect.any(String) });
    expect((await get(`/calls/${attempt.id}`)).json()).toMatchObject({
      id: attempt.id,
      direction: 'outbound',
      endedAt: null,
      attempt: { state: 'ringing' },
      turns: [],
    });
    const record = callRecordOf({
      id: attempt.id,
      direction: 'outbound',
      carrierCallId,
      from: CALLER_ID,
      to,
      endReason: 'caller-hangup',
      outbound: { answeredBy: 'person', opinions: [], identified: true },
    });
    await store.calls.upsert(record);
    const kept = await store.calls.get('default', attempt.id);
    if (kept === undefined) throw new Error('the record is not in the store');
    await follower.stored(kept);
    expect((await get(`/calls/${attempt.id}`)).json()).toMatchObject({
      outbound: { answeredBy: 'person' },
      attempt: { state: 'ended', disposition: 'completed' },
    });
  });

  it('masks the number without the scope, and shows no attempt to another tenant', async () => {
    const to = somebody();
    const { id } = (await post({ to, bot: 'clinic', variables: { phone: to } })).json<AttemptView>();
    const seen = await get(`/attempts/${id}`, keyFor(['calls:read']));
    expect(seen.json<AttemptView>().to).not.toBe(to);
    expect(seen.body).not.toContain(to.slice(1, -2));
    expect((await get(`/attempts/${id}`, keyFor(ALL, 'other'))).statusCode).toBe(404);
    expect((await get(`/calls/${id}`, keyFor(ALL, 'other'))).statusCode).toBe(404);
    expect((await post({ to, bot: 'clinic' }, { key: keyFor(['calls:read', 'calls:control']) })).statusCode).toBe(403);
  });

  it('names the refusal, says when it passes, and keeps it', async () => {
    const to = somebody();
    await store.suppressions.add('default', [{ list: 'own', number: to, addedAtMs: NOON_MS, source: 'test' }]);
    const suppressed = await post({ to, bot: 'reminder' });
    expect([suppressed.statusCode, suppressed.headers['content-type']]).toEqual([422, 'application/problem+json; charset=utf-8']);
    const problem = suppressed.json<{ attempt: string }>();
    expect(problem).toMatchObject({ refusal: 'suppressed', detail: 'The number is on the list own.', retryAt: null });
    expect((await get(`/attempts/${problem.attempt}`)).json()).toMatchObject({ disposition: 'refused', cause: 'suppressed' });
    expect((await get(`/attempts?disposition=refused&number=${encodeURIComponent(to)}`)).json()).toMatchObject({
      attempts: [{ id: problem.attempt }],
    });
    const atNight = await post({ to: somebody(), bot: 'reminder', zone: 'Pacific/Auckland' });
    expect(atNight.statusCode).toBe(409);
    expect(atNight.json()).toMatchObject({ refusal: 'outside-window', retryAt: '2026-03-03T19:00:00.000Z' });
  });

  it('lets a key that only dials choose neither the profile nor the clock', async () => {
    const rules = keyFor(RULES);
    const to = somebody();
    const profile = await post({ to, bot: 'reminder', profile: 'eu' });
    expect(profile.statusCode).toBe(403);
    expect(profile.json<{ detail: string }>().detail).toContain('dialling.profile is none');
    expect((await post({ to, bot: 'reminder', profile: 'eu' }, { key: rules })).json()).toMatchObject({
      refusal: 'number-invalid',
    });
    // That of the settings may be named by everybody.
    expect((await post({ to, bot: 'reminder', profile: 'none' })).statusCode).toBe(201);
    // At noon in London it is night in Tokyo.
    const tokyo = { to: '+81312345678', bot: 'reminder', zone: 'Europe/London' };
    expect((await post(tokyo)).json()).toMatchObject({ refusal: 'outside-window' });
    expect((await post(tokyo, { key: rules })).statusCode).toBe(201);
  });

  test.each([
    { what: 'a bot that there is not', body: { bot: 'remindr' }, status: 422, says: 'Did you mean reminder?' },
    { what: 'a profile that there is not', body: { profile: 'usa' }, status: 422, scopes: RULES, says: 'Did you mean us?' },
    { what: 'a carrier without an account', body: { carrier: 'vonage' }, status: 422, says: 'twilio has one' },
    { what: 'a number that is none', body: { to: 'hello' }, status: 422, says: 'ot a telephone number' },
    { what: 'another caller id', body: { from: '020 7946 0009' }, status: 422, says: "not one of the tenant's own" },
    { what: 'an unknown field', body: { variable: {} }, status: 400, says: 'variable' },
    { what: 'a ring timeout that is too short', body: { ringTimeoutMs: 1000 }, status: 400, says: 'ringTimeoutMs' },
  ])('refuses $what and says what is accepted', async ({ body, status, says, scopes = ALL }) => {
    const answer = await post({ to: somebody(), bot: 'reminder', ...body }, { key: keyFor(scopes) });
    expect([answer.statusCode, answer.json<{ detail: string }>().detail]).toEqual([status, expect.stringContaining(says)]);
  });

  it('reads a number without + as one of the default region', async () => {
    const to = somebody();
    const national = `0${to.slice(3)}`;
    expect((await post({ to: national, bot: 'reminder' })).json()).toMatchObject({ to });
  });

  it('answers with what the carrier said when it refuses the order', async () => {
    const { dial } = carrier;
    carrier.dial = async () => {
      throw new CarrierControlError('no', { retryable: false, facts: { status: 400, carrierCode: 21215 } });
    };
    const refused = await post({ to: somebody(), bot: 'reminder' });
    carrier.dial = dial;
    expect(refused.json()).toMatchObject({ state: 'ended', disposition: 'rejected', cause: '21215', placedAt: null });
  });

  it('places one call for one key, also when both requests come at once, and dials again under another', async () => {
    const key = keyFor(ALL);
    const body = { to: somebody(), bot: 'reminder' };
    const before = carrier.orders.length;
    const both = await Promise.all([post(body, { key, once: 'k1' }), post(body, { key, once: 'k1' })]);
    const again = await post(body, { key, once: 'k1' });
    const ids = [...both, again].map((answer) => answer.json<AttemptView>().id);
    expect(new Set(ids).size).toBe(1);
    expect([again.statusCode, again.headers['idempotent-replayed']]).toEqual([201, 'true']);
    expect(carrier.orders.length - before).toBe(1);
    expect((await post({ ...body, bot: 'clinic' }, { key, once: 'k1' })).statusCode).toBe(422);
    expect((await post(body, { key, once: 'k2' })).json()).toMatchObject({ refusal: 'too-soon' });
  });

  it('places one call for one key when the process died before it answered', async () => {
    const key = keyFor(ALL);
    const body = { to: somebody(), bot: 'reminder' };
    // Dies between the order and its answer: the request never ends, and neither keeps nor gives up its key.
    const { dial } = carrier;
    const orders = carrier.orders.length;
    const died = new Promise<void>((resolve) => {
      carrier.dial = () => {
        resolve();
        return new Promise(() => undefined);
      };
    });
    void post(body, { key, once: 'crash' });
    await died;
    carrier.dial = dial;
    const next = appOver(diallerOver({ attempts: store.attempts, carrier, clock, callsPerSecond: Infinity }));
    const repeated = await post(body, { key, once: 'crash', on: next });
    expect(repeated.statusCode).toBe(201);
    expect(repeated.json()).toMatchObject({ id: carrier.orders.at(-1)?.callId, state: 'placing' });
    expect(carrier.orders.length - orders).toBe(1);
    await next.close();
  });

  it('places what a dead process had only asked the gate for', async () => {
    const key = keyFor(ALL);
    const body = { to: somebody(), bot: 'reminder' };
    const before = carrier.orders.length;
    const dead = diallerOver({ attempts: store.attempts, carrier, clock, callsPerSecond: Infinity });
    dead.dialler.place = () => new Promise(() => undefined);
    const deadApp = appOver(dead);
    void post(body, { key, once: 'asked', on: deadApp });
    const queued = async () => (await store.attempts.page('default', { limit: 1, number: body.to })).attempts[0];
    await expect.poll(queued).toMatchObject({ state: 'queued' });
    const repeated = await post(body, { key, once: 'asked' });
    expect(repeated.json()).toMatchObject({ state: 'placing' });
    expect(carrier.orders.length - before).toBe(1);
  });

  it('says that there is no room, keeps the number free, and takes the same key again', async () => {
    const key = keyFor(ALL);
    const body = { to: somebody(), bot: 'reminder' };
    bench.outbound.room = 0;
    const full = await post(body, { key, once: 'room' });
    expect([full.statusCode, full.headers['retry-after']]).toEqual([503, '5']);
    // What no room would mend is said first.
    expect((await post({ ...body, carrier: 'vonage' }, { key })).statusCode).toBe(422);
    bench.outbound.room = 10;
    expect((await post(body, { key, once: 'room' })).statusCode).toBe(201);
  });

  it('gives up a call that nobody has answered, and says why it cannot give up another', async () => {
    const { id } = (await post({ to: somebody(), bot: 'reminder' })).json<AttemptView>();
    const cancel = () => post({}, { url: `/api/attempts/${id}/cancel` });
    expect((await cancel()).json()).toMatchObject({ state: 'ended', disposition: 'cancelled' });
    expect(carrier.hungUp).toContain(`CA-${id}`);
    expect([(await cancel()).statusCode, (await cancel()).json<{ detail: string }>().detail]).toEqual([
      409,
      'The attempt is over.',
    ]);
    expect((await post({}, { url: '/api/attempts/call_none/cancel' })).statusCode).toBe(404);
  });

  it('is described in the OpenAPI document', async () => {
    const document = (await app.inject({ url: '/api/openapi.json' })).json<Record<string, unknown>>();
    expect(await new Validator().validate(document)).toMatchObject({ valid: true });
    expect(document).toMatchObject({
      paths: {
        '/calls': { post: { responses: { '201': expect.anything() } } },
        '/attempts/{attemptId}/cancel': expect.anything(),
      },
    });
  });

  it('takes so many calls of one tenant, and then says when to come again', async () => {
    const tenant = keyFor(ALL, 'eager');
    const statuses: number[] = [];
    for (let count = 0; count < 70; count += 1)
      statuses.push((await post({ to: '12', bot: 'reminder' }, { key: tenant })).statusCode);
    expect(statuses.filter((status) => status === 422)).toHaveLength(60);
    expect(statuses.at(-1)).toBe(429);
  });
});
