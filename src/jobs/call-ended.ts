import { z } from 'zod';
import type { Store } from '../store/port.ts';
import { callRecord, type NewCallRecord } from '../store/record.ts';
import { storable } from '../store/storable.ts';
import { JobSubjectError } from './errors.ts';
import type { Outbox } from './outbox.ts';
import type { Deliver, OutboxPump } from './outbox-pump.ts';
import type { JobQueue, JsonValue } from './port.ts';
import { POST_CALL, postCallJobId } from './post-call/job.ts';

const KIND = 'call-ended';

const jsonValue: z.ZodType<JsonValue> = z.json();

/**
 * Keeps the record of a call that has ended, before anything else is done with it.
 * @throws OutboxFullError, OutboxWriteError: the record is not kept, and whoever ended the call still holds it
 */
export async function keepEndedCall(outbox: Outbox, pump: OutboxPump | undefined, record: NewCallRecord): Promise<void> {
  await outbox.append(KIND, jsonValue.parse(JSON.parse(JSON.stringify(record))));
  pump?.wake();
}

/** Brings ended calls to the store, then asks for their analysis. Both steps may be repeated. */
export function deliverEndedCalls(parts: { readonly store: Store; readonly queue: JobQueue }): Deliver {
  return async (entry) => {
    if (entry.kind !== KIND) throw new JobSubjectError('nobody delivers this kind of entry', false, { kind: entry.kind });
    const record = callRecord.safeParse(storable(entry.body));
    if (!record.success) throw new JobSubjectError(`not a call record: ${z.prettifyError(record.error)}`, false, {});
    await parts.store.calls.upsert(record.data);
    const { tenantId, id: callId } = record.data;
    await parts.queue.enqueue(POST_CALL, postCallJobId({ tenantId, callId }), { tenantId, callId });
  };
}
