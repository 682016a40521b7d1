import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RecordingFormat } from '../../audio/recording-format.ts';
import type { CallJournal } from '../../call/log/call-journal.ts';
import type { CallRecord } from '../../call/log/call-record.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import { keepEndedCall } from './call-ended.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { OutboxPump } from '../outbox/outbox-pump.ts';
import { LiveTeller } from './live-teller.ts';
import { storedCall } from './stored-call.ts';
import { PendingCallEnds } from './pending-call-ends.ts';
import type { WebhookDispatcher } from '../webhooks/webhook-dispatcher.ts';
import { writeFileAtomic } from '../../kernel/temporary.ts';

export interface Keeping {
  readonly outbox: Pick<Outbox, 'append'>;
  /** Who brings the outbox to the store, perhaps in another process. */
  readonly pump: Pick<OutboxPump, 'wake'> | undefined;
  /** Who hears of live calls; nobody when absent. */
  readonly desk?: Pick<WebhookDispatcher, 'isWanted'> | undefined;
  /** Whether nothing of what was said stays in plain files after the call. */
  readonly seals?: boolean;
  /** What the recordings of a bot are turned into after the call; they stay as they are when absent. */
  readonly formatOf?: ((botName: string) => RecordingFormat) | undefined;
}

/** How a live call is journalled and told of, and how its end is kept: the outbox first, before anything else. A disk that refuses it is asked again. */
export function keepCall(journal: CallJournal, keeping: Keeping, recordingsFolder: string, logger: Logger, clock: Clock) {
  const { outbox, pump, seals = false, formatOf } = keeping;
  const teller = new LiveTeller(keeping, logger);
  const unkept = new PendingCallEnds(clock, logger);
  const revisions = new Map<string, number>();
  const next = (record: CallRecord): number => {
    const revision = (revisions.get(record.id) ?? 0) + 1;
    revisions.set(record.id, revision);
    return revision;
  };
  return {
    journal: (record: CallRecord): void => {
      const stored = storedCall(record, next(record), formatOf?.(record.botName));
      journal.keep(record.id, stored);
      teller.seen(stored);
    },
    ended: async (record: CallRecord): Promise<void> => {
      const stored = storedCall(withFileThatIs(record), next(record), formatOf?.(record.botName));
      const end = {
        callId: record.id,
        keep: () => keepEndedCall(outbox, pump, stored),
        kept: async () => {
          try {
            if (!seals) await writeRecordFile(record, recordingsFolder);
          } catch (error) {
            logger.error({ callId: record.id, error }, 'the record file of a call could not be written');
          }
          await journal.forget(record.id);
        },
      };
      revisions.delete(record.id);
      teller.forget(record.id);
      try {
        await end.keep();
      } catch (error) {
        unkept.add(end, error);
        throw error;
      }
      await end.kept();
    },
    /** Tries once more to keep the ends of calls that the disk has refused so far. */
    close: () => unkept.close(),
  };
}

/** A disk that refused from the first block on has left no file to name. */
function withFileThatIs(record: CallRecord): CallRecord {
  const { recordingPath, recordingFailure } = record;
  if (recordingPath === undefined || recordingFailure === undefined || existsSync(recordingPath)) return record;
  return { ...record, recordingPath: undefined };
}

async function writeRecordFile(record: CallRecord, recordingsFolder: string): Promise<void> {
  const day = new Date(record.startedAtWallMs).toISOString().slice(0, 10);
  const path = join(recordingsFolder, day, `${record.id}.call.json`);
  await mkdir(dirname(path), { recursive: true });
  await writeFileAtomic(path, `${JSON.stringify(record, null, 2)}\n`);
}
