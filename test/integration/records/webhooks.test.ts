import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../../src/config/secrets.ts';
import { WEBHOOK_EVENTS, type WebhookEndpoint } from '../../../src/config/webhook-endpoints.ts';
import { deliverEndedCalls, keepEndedCall } from '../../../src/records/after-call/call-ended.ts';
import { WEBHOOKS, POST_CALL } from '../../../src/records/queue/catalog.ts';
import { LiveCallEvents } from '../../../src/records/after-call/call-keeping.ts';
import { Outbox } from '../../../src/records/outbox/outbox.ts';
import { OutboxPump } from '../../../src/records/outbox/outbox-pump.ts';
import type { JobQueue } from '../../../src/records/queue/port.ts';
import { postCallJob } from '../../../src/records/after-call/post-call-job.ts';
import { openQueue } from '../../../src/records/queue/bull-queue.ts';
import { sweep } from '../../../src/records/sweep.ts';
import { deliverWebhook } from '../../../src/records/webhooks/deliver-webhook.ts';
import { WebhookDispatcher } from '../../../src/records/webhooks/webhook-dispatcher.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import type { Store } from '../../../src/records/port.ts';
import { storeOn } from '../../../src/records/database.ts';
import { callRecordOf } from '../../support/call-records.ts';
import { type TestDatabases, embeddedDatabases, onProblem, temporaryFolder } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { type WebhookReceiver, startReceiver } from '../../support/webhook-receiver.ts';

const SECRET = `whsec_${Buffer.alloc(32, 'w').toString('base64')}`;
describe('webhooks', () => {
  let databases: TestDatabases;
  let store: Store;
  let queue: JobQueue;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let all: WebhookReceiver;
  let ends: WebhookReceiver;
  let worded: WebhookReceiver;
  let dispatcher: WebhookDispatcher;
  let outbox: Outbox;
  let pump: OutboxPump;

  const endpoint = (name: string, url: string, more: Partial<WebhookEndpoint> = {}): WebhookEndpoint => ({
    name,
    url,
    events: [...WEBHOOK_EVENTS],
    secretEnv: 'HOOK',
    secret: new Secret(SECRET),
    numbers: 'masked',
    words: false,
    allowPrivate: true,
    tenantId: 'default',
    ...more,
  });

  beforeAll(async () => {
    databases = await embeddedDatabases();
    const database = await databases.open();
    store = storeOn(database);
    const retry = { attempts: 3, backoff: { firstMs: 1, factor: 1, maxMs: 1, jitter: 0 } };
    queue = openQueue({ redisUrl: undefined, database, clock: systemClock, onProblem, retry });
    folder = await temporaryFolder();
    [all, ends, worded] = [await startReceiver(SECRET), await startReceiver(SECRET), await startReceiver(SECRET)];
    const endpoints = [
      endpoint('all', all.url, { words: true, numbers: 'full' }),
      endpoint('worded', worded.url, { events: ['call.ended'], words: true }),
      endpoint('ends', ends.url, { events: ['call.ended'] }),
      endpoint('theirs', all.url, { tenantId: 'other' }),
      endpoint('inside', all.url, { allowPrivate: false, tenantId: 'guarded' }),
      endpoint('named', all.url.replace('127.0.0.1', 'localhost'), { allowPrivate: false, tenantId: 'guarded' }),
    ];
    dispatcher = new WebhookDispatcher({ endpoints, store, queue, clock: systemClock });
    outbox = await Outbox.open(join(folder.path, 'outbox'), () => Date.now());
    pump = new OutboxPump({
      outbox,
      deliver: deliverEndedCalls({ store, queue, dispatcher }),
      clock: systemClock,
      logger: silentLogger,
    });
    queue.work(WEBHOOKS, deliverWebhook({ store, dispatcher, clock: systemClock, timeoutMs: 5_000 }), { concurrency: 4 });
  });

  afterAll(async () => {
    await pump.stop();
    await queue.close();
    await store.close();
    await all[Symbol.asyncDispose]();
    await ends[Symbol.asyncDispose]();
    await worded[Symbol.asyncDispose]();
    await databases[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  const typesOf = (receiver: WebhookReceiver, callId: string): string[] =>
    receiver.received.filter(({ body }) => body.data['callId'] === callId).map(({ body }) => body.type);

  it('tell of a live call and its end, signed, once each for whoever asked, with what they may see', async () => {
    const variables = { day: '2026-01-06', phone: '+919876543210' };
    const record = callRecordOf({ id: 'told', variables, notes: ['Call +15550001 back'] });
    const { endedAtMs: _endedAtMs, endReason: _endReason, ...live } = record;
    const events = new LiveCallEvents({ outbox, pump, dispatcher }, silentLogger);
    events.seen({ ...live, turns: record.turns.slice(0, 1) });
    events.seen(live);
    events.seen(live);
    await eventually('the start and the first turn', () => typesOf(all, 'told').length === 2);
    expect(typesOf(all, 'told').sort()).toEqual(['call.started', 'turn.completed']);

    await keepEndedCall(outbox, pump, record);
    await keepEndedCall(outbox, pump, record);
    await pump.drained();
    await eventually(
      'all of them',
      () => typesOf(all, 'told').length === 4 && typesOf(ends, 'told').length === 1 && typesOf(worded, 'told').length === 1,
    );
    expect(typesOf(all, 'told').sort()).toEqual(['call.ended', 'call.started', 'turn.completed', 'turn.completed']);
    const bodyOf = (receiver: WebhookReceiver, type: string) =>
      receiver.received.findLast(({ body }) => body.type === type && body.data['callId'] === 'told')!.body;
    expect(bodyOf(all, 'call.ended')).toMatchObject({
      timestamp: new Date(record.endedAtMs!).toISOString(),
      data: { from: record.from, endReason: 'caller-hung-up', turns: 2, durationMs: 9_000 },
    });
    expect(bodyOf(all, 'call.ended').data).toMatchObject({ variables, notes: ['Call +15550001 back'] });
    expect(bodyOf(worded, 'call.ended').data).toMatchObject({
      variables: { day: '2026-01-06', phone: '***********10' },
      notes: ['Call *******01 back'],
    });
    expect(bodyOf(ends, 'call.ended').data).not.toHaveProperty('variables');
    expect(bodyOf(ends, 'call.ended').data).not.toHaveProperty('notes');
    expect(bodyOf(ends, 'call.ended').data['from']).toBe('*'.repeat(record.from.length - 2) + record.from.slice(-2));
    const turns = all.received.filter(({ body }) => body.type === 'turn.completed').map(({ body }) => body.data);
    expect(new Set(turns.map((turn) => turn['botHeardText']))).toEqual(new Set(record.turns.map((turn) => turn.botHeardText)));
    expect([...all.unbelieved, ...ends.unbelieved]).toEqual([]);
    expect(new Set(all.received.map(({ id }) => id)).size).toBe(4);
  });

  it('are tried again under the same id until they are taken, and can be sent once more', async () => {
    ends.answers.push(500, 0);
    await keepEndedCall(outbox, pump, callRecordOf({ id: 'again' }));
    await eventually('the third try', () => typesOf(ends, 'again').length === 3);
    const [delivery] = await eventually('the outcome', async () => {
      const { deliveries } = await store.webhooks.page('default', { limit: 10, callId: 'again', state: 'delivered' });
      const found = deliveries.filter((candidate) => candidate.endpoint === 'ends');
      return found.length === 1 && found;
    });
    const ids = ends.received.filter(({ body }) => body.data['callId'] === 'again').map(({ id }) => id);
    expect(new Set(ids)).toEqual(new Set([delivery!.id]));
    expect(delivery).toMatchObject({ attempts: 3, status: 204, reason: undefined });
    expect(await dispatcher.replay('default', delivery!.id)).toBe(true);
    expect(await dispatcher.replay('default', 'nobody')).toBe(false);
    await eventually('the replay', () => typesOf(ends, 'again').length === 4);
  });

  it('are given up after their tries, or at once when nobody wants them, and follow no redirect', async () => {
    ends.answers.push(302, 503, 400, 410);
    const outcomeOf = (callId: string) =>
      eventually(`the outcome of ${callId}`, async () => {
        const { deliveries } = await store.webhooks.page('default', { limit: 10, callId, state: 'failed' });
        return deliveries[0];
      });
    await keepEndedCall(outbox, pump, callRecordOf({ id: 'refused' }));
    expect(await outcomeOf('refused')).toMatchObject({ attempts: 3, status: 400, reason: 'the endpoint answered 400' });
    await keepEndedCall(outbox, pump, callRecordOf({ id: 'unwanted' }));
    expect(await outcomeOf('unwanted')).toMatchObject({ attempts: 1, status: 410 });
    expect((await queue.failed(WEBHOOKS)).map(({ reason }) => reason).sort()).toEqual([
      'OFFHOOK_WEBHOOK_FAILED: a delivery failed: the endpoint answered 400',
      'OFFHOOK_WEBHOOK_FAILED: a delivery failed: the endpoint answered 410',
    ]);
  });

  it('go to no address of our own network, by number or by name, unless its settings allow it', async () => {
    const before = all.received.length;
    await keepEndedCall(outbox, pump, callRecordOf({ id: 'guarded', tenantId: 'guarded', turns: [] }));
    const deliveries = await eventually('both to be refused', async () => {
      const page = await store.webhooks.page('guarded', { limit: 10, state: 'failed' });
      return page.deliveries.length === 4 && page.deliveries;
    });
    expect(new Set(deliveries.map(({ reason }) => reason))).toEqual(new Set(['the address of a webhook endpoint is not public']));
    expect(all.received).toHaveLength(before);
  });

  it('come of what the store holds after the queue forgot everything', async () => {
    const forgetful: JobQueue = Object.assign(Object.create(queue) as JobQueue, { enqueue: async () => {} });
    const amnesiac = new WebhookDispatcher({
      endpoints: [endpoint('ends', ends.url, { events: ['call.ended'] })],
      store,
      queue: forgetful,
      clock: systemClock,
    });
    await deliverEndedCalls({ store, queue: forgetful, dispatcher: amnesiac })({
      kind: 'call-ended',
      body: callRecordOf({ id: 'forgotten' }),
    });
    expect(typesOf(ends, 'forgotten')).toEqual([]);
    await sweep({ store, queue, dispatcher, clock: systemClock, settledMs: -1_000 });
    await eventually('the delivery', () => typesOf(ends, 'forgotten').length === 1);
    expect((await queue.counts(POST_CALL)).waiting).toBeGreaterThan(0);
  });

  it('tell of an analysis, and of one that was given up', async () => {
    const transcriber = {
      transcribe: async () => {
        throw new Error('not asked');
      },
      transcribeMedical: async () => {
        throw new Error('not asked');
      },
    };
    const job = postCallJob({ store, dispatcher, transcriber, clock: systemClock, workFolder: join(folder.path, 'work') });
    const run = { name: POST_CALL, attempt: 1, isLast: true, signal: new AbortController().signal };
    await store.calls.upsert(callRecordOf({ id: 'good', recordingPath: undefined }));
    await store.calls.upsert(callRecordOf({ id: 'bad', recordingPath: join(folder.path, 'away', 'none.wav') }));
    await job({ ...run, id: 'good', payload: { tenantId: 'default', callId: 'good' } });
    await expect(job({ ...run, id: 'bad', payload: { tenantId: 'default', callId: 'bad' } })).rejects.toThrow();
    await eventually('both', () => typesOf(all, 'good').length + typesOf(all, 'bad').length === 2);
    expect(typesOf(all, 'good')).toEqual(['analysis.completed']);
    expect(typesOf(all, 'bad')).toEqual(['analysis.failed']);
    expect(all.received.at(-1)?.body.data).toMatchObject({ version: 1 });
    expect((await store.calls.get('default', 'bad'))?.keeping.analysisState).toBe('failed');
  });
});
