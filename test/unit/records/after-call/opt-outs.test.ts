import { expect, it, test } from 'vitest';
import { deliverEndedCalls } from '../../../../src/records/after-call/call-ended.ts';
import type { JobQueue } from '../../../../src/records/queue/port.ts';
import type { Store } from '../../../../src/records/port.ts';
import { callRecordOf } from '../../../support/call-records.ts';

const NUMBER = '+919876543210';
const body = { tenantId: 'acme', number: NUMBER, kind: 'opt-out', heardIn: 'call_1', atMs: 1_800_000_000_000 };

/** What was done with store, list and queue, in order. */
function delivery() {
  const done: unknown[] = [];
  const add = async (...asked: unknown[]): Promise<number> => done.push(['add', ...asked]);
  const upsert = async (): Promise<void> => void done.push(['upsert']);
  const deliver = deliverEndedCalls({
    store: { calls: { upsert, upsertMany: upsert }, suppressions: { add } } as unknown as Store,
    queue: { enqueue: async () => undefined, enqueueMany: async () => undefined } as unknown as JobQueue,
  });
  return { done, deliver };
}

it('puts an opt-out on the own list, with the call in which it was heard', async () => {
  const { done, deliver } = delivery();
  await deliver({ kind: 'opt-out', body });
  const entry = { list: 'own', number: NUMBER, addedAtMs: 1_800_000_000_000, source: 'caller', callId: 'call_1' };
  expect(done).toEqual([['add', 'acme', [entry]]]);
  await deliver({ kind: 'opt-out', body: { ...body, kind: 'wrong-number' } });
  expect(done.at(-1)).toEqual(['add', 'acme', [{ ...entry, note: 'wrong-number' }]]);
});

it('sets aside what is no opt-out', async () => {
  const { done, deliver } = delivery();
  await expect(deliver({ kind: 'opt-out', body: { ...body, number: 'anonymous' } })).rejects.toMatchObject({ retryable: false });
  expect(done).toEqual([]);
});

test.each([
  { direction: 'inbound', from: NUMBER, to: '+15550002' },
  { direction: 'outbound', from: '+15550002', to: NUMBER },
] as const)('the end of an $direction call says once more who opted out, before it is stored', async (parties) => {
  const optOut = { kind: 'opt-out', how: 'keyed', atMs: 1_800_000_000_000 } as const;
  const record = JSON.parse(JSON.stringify(callRecordOf({ id: 'call_9', ...parties, optOut })));
  for (const together of [false, true]) {
    const { done, deliver } = delivery();
    if (together) await deliver.many?.([{ kind: 'call-ended', body: record }]);
    else await deliver({ kind: 'call-ended', body: record });
    expect(done).toMatchObject([['add', 'default', [{ number: NUMBER, callId: 'call_9', source: 'caller' }]], ['upsert']]);
  }
});
