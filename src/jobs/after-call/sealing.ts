import { z } from 'zod';
import type { CallRecord } from '../../store/record.ts';
import type { Recordings } from '../../store/objects/recordings.ts';
import { askForAnalysis } from './call-ended.ts';
import { JobSubjectError } from '../errors.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Deliver, OutboxPump } from '../outbox/outbox-pump.ts';
import type { JobQueue } from '../queue/port.ts';

const KIND = 'recording';
const subject = z.object({ tenantId: z.string(), callId: z.string(), path: z.string(), startedAtMs: z.number() });

/**
 * Notes that a recording is to be sealed. An outbox of its own: a bucket that is away holds up no call's record.
 * @throws OutboxFullError, OutboxWriteError
 */
export async function keepRecording(outbox: Outbox, pump: OutboxPump, record: CallRecord): Promise<void> {
  const { tenantId, id: callId, recordingPath: path, startedAtMs } = record;
  await outbox.append(KIND, { tenantId, callId, path, startedAtMs });
  pump.wake();
}

/** Seals recordings into the object store, then asks for their analysis. */
export function deliverRecordings({ recordings, queue }: { readonly recordings: Recordings; readonly queue: JobQueue }): Deliver {
  return async (entry) => {
    const parsed = subject.safeParse(entry.body);
    if (entry.kind !== KIND || !parsed.success) throw new JobSubjectError('not a recording', false, { kind: entry.kind });
    const { path, startedAtMs, ...ref } = parsed.data;
    await recordings.keep(ref, path, startedAtMs);
    await askForAnalysis(queue, ref.tenantId, ref.callId);
  };
}
