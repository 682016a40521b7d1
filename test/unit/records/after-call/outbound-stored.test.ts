import { expect, it } from 'vitest';
import { deliverEndedCalls, type DeliverEndedParts } from '../../../../src/records/after-call/call-ended.ts';
import { endOrphans } from '../../../../src/records/after-call/orphan-watch.ts';
import { callsBackAfterDeath } from '../../../../src/hosts/backlog.ts';
import type { OutboxEntry } from '../../../../src/records/outbox/outbox.ts';
import type { CallRecord } from '../../../../src/records/record.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { callRecordOf } from '../../../support/call-records.ts';

const outbound = { opinions: [], identified: true };
const placed = (id: string): ReturnType<typeof callRecordOf> => callRecordOf({ id, direction: 'outbound', outbound });

/** Delivers into lists what would go to the store, the queue and the dialler. */
function delivery(onStored: (record: CallRecord) => Promise<void>) {
  const stored: string[] = [];
  const parts = {
    store: {
      calls: {
        upsert: async ({ id }: CallRecord) => void stored.push(id),
        upsertMany: async (records: readonly CallRecord[]) => void stored.push(...records.map(({ id }) => id)),
      },
    },
    queue: { enqueue: async () => undefined, enqueueMany: async () => undefined },
    onStored,
  };
  return { stored, deliver: deliverEndedCalls(parts as unknown as DeliverEndedParts) };
}

const entryOf = (record: object): OutboxEntry => ({ kind: 'call-ended', body: JSON.parse(JSON.stringify(record)) });

it('tells of an ended call that we placed once its record is stored, alone and among others', async () => {
  const told: string[] = [];
  const { stored, deliver } = delivery(async ({ id }) => {
    expect(stored).toContain(id);
    told.push(id);
  });
  await deliver(entryOf(placed('call_1')));
  await deliver(entryOf(callRecordOf({ id: 'call_2' })));
  await deliver.many?.([placed('call_3'), callRecordOf({ id: 'call_4' }), placed('call_5')].map(entryOf));
  expect(told).toEqual(['call_1', 'call_3', 'call_5']);
  expect(stored).toHaveLength(5);
});

it('retries the entry when the listener fails', async () => {
  let tries = 0;
  const { deliver } = delivery(async () => {
    tries += 1;
    if (tries === 1) throw new Error('the store is away');
  });
  await expect(deliver(entryOf(placed('call_1')))).rejects.toThrow('away');
  await deliver(entryOf(placed('call_1')));
  expect(tries).toBe(2);
});

it('tells of a call that we placed and whose process died', async () => {
  const journalled = { ...placed('call_1'), revision: 3, endedAtMs: undefined, endReason: undefined, recordingPath: undefined };
  const journal = {
    orphans: async () => [{ callId: 'call_1', document: JSON.parse(JSON.stringify(journalled)) as unknown }],
    forget: async () => undefined,
    setAside: async () => undefined,
  };
  const entries: OutboxEntry[] = [];
  const outbox = {
    append: async (kind: string, body: OutboxEntry['body']) => void entries.push({ kind, body }),
    appendAtOnce: async () => undefined,
  };
  await endOrphans(
    journal,
    { outbox, pump: undefined },
    { wallMs: () => Date.now() },
    {
      logger: silentLogger,
      events: { callEnded: () => undefined },
    },
  );
  const told: unknown[] = [];
  const { deliver } = delivery(async (record) => void told.push(record));
  for (const entry of entries) await deliver(entry);
  expect(told).toMatchObject([{ id: 'call_1', direction: 'outbound', endReason: 'process-died', outbound }]);
});

it('queues the call that a caller was promised, under the id of their call', async () => {
  const queued: unknown[] = [];
  const nothing = async (): Promise<void> => undefined;
  const parts = {
    store: { calls: { upsert: nothing, upsertMany: nothing } },
    queue: { enqueue: async (...job: unknown[]) => void queued.push(job), enqueueMany: nothing },
  };
  const deliver = deliverEndedCalls(parts as unknown as DeliverEndedParts);
  const promised = (id: string): object => callRecordOf({ id, endReason: 'callback-promised' });
  await deliver.many?.([promised('call_1'), callRecordOf({ id: 'call_2' }), placed('call_3')].map(entryOf));
  await deliver(entryOf(promised('call_4')));
  const ids = queued.flatMap((job) => (Array.isArray(job) && job[0] === 'call-backs' ? [job.slice(1)] : []));
  expect(ids).toEqual(
    ['call_1', 'call_4'].map((callId) => [callId, { tenantId: 'default', callId }, { delayMs: expect.any(Number) }]),
  );
});

it('queues a call to the caller whose call died with its process, where the bot calls back', async () => {
  const wallMs = Date.parse('2026-01-05T12:00:00Z');
  const bots = [
    { name: 'calls-back', whenDown: [{ kind: 'callback' as const }] },
    { name: 'does-not', whenDown: undefined },
  ];
  const decide = (callerIds: string) => callsBackAfterDeath(() => bots, { callerIds }, { wallMs: () => wallMs });
  const callsBack = decide('+442079460000');
  const queued: unknown[][] = [];
  const nothing = async (): Promise<void> => undefined;
  const parts = {
    store: { calls: { upsert: nothing, upsertMany: nothing } },
    queue: { enqueue: async (...job: unknown[]) => void queued.push(job), enqueueMany: nothing },
    callsBack,
  };
  const deliver = deliverEndedCalls(parts as unknown as DeliverEndedParts);
  const died = (id: string, more: object = {}): object =>
    callRecordOf({ id, endReason: 'process-died', endedAtMs: wallMs - 20_000, botName: 'calls-back', ...more });
  await deliver.many?.(
    [
      died('call_1'),
      died('call_2', { botName: 'does-not' }),
      died('call_3', { endedAtMs: wallMs - 7_200_000 }),
      died('call_4', { endReason: 'caller-hangup' }),
      { ...placed('call_5'), ...died('call_5', { direction: 'outbound', outbound }) },
      died('call_6', { mode: 'listen' }),
    ].map(entryOf),
  );
  expect(queued.filter(([queue]) => queue === 'call-backs')).toEqual([
    ['call-backs', 'call_1', { tenantId: 'default', callId: 'call_1' }, expect.anything()],
  ]);
  // Without a number to call from there is nobody who calls.
  expect(decide('')({ botName: 'calls-back', endedAtMs: wallMs, mode: undefined })).toBe(false);
});
