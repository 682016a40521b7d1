import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deliverEndedCalls, keepEndedCall } from '../../src/records/after-call/call-ended.ts';
import { Outbox } from '../../src/records/outbox/outbox.ts';
import { OutboxPump } from '../../src/records/outbox/outbox-pump.ts';
import { POST_CALL } from '../../src/records/queue/catalog.ts';
import { openQueue } from '../../src/records/queue/bull-queue.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { type Database, storeOn } from '../../src/records/database.ts';
import { IMPORTED, type NewCallRecord } from '../../src/records/record.ts';
import { callRecordOf } from '../../test/support/call-records.ts';

/** Appends that wait for the disk together. */
const AT_ONCE = 16;

export interface QueueResult {
  readonly files: number;
  readonly outboxS: number;
  readonly seconds: number;
  /** Processor time of this process, all threads; a server's own is not in it. */
  readonly cpuS: number;
  readonly queued: number;
}

/** Files on their way into the queue: an fsynced entry of the outbox each, a row each, a job each. */
export async function queueFiles(database: Database, files: number): Promise<QueueResult> {
  const folder = await mkdtemp(join(tmpdir(), 'offhook-bench-'));
  const onProblem = (error: Error): void => void process.stderr.write(`${error.message}\n`);
  const retry = { attempts: 3, backoff: { firstMs: 1000, factor: 2, maxMs: 10_000, jitter: 0 } };
  const store = storeOn(database);
  const queue = openQueue({ redisUrl: undefined, database, clock: systemClock, onProblem, retry });
  try {
    const outbox = await Outbox.open(folder, () => systemClock.wallMs());
    const beganMs = performance.now();
    const before = process.cpuUsage();
    await using pump = new OutboxPump({
      outbox,
      deliver: deliverEndedCalls({ store, queue }),
      clock: systemClock,
      logger: silentLogger,
    });
    let next = 0;
    const append = async (): Promise<void> => {
      for (let index = next++; index < files; index = next++) {
        await keepEndedCall(outbox, pump, fileRecord(`file_${String(index).padStart(6, '0')}`));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, append));
    const outboxS = (performance.now() - beganMs) / 1000;
    await pump.drained();
    const seconds = (performance.now() - beganMs) / 1000;
    const { user, system } = process.cpuUsage(before);
    const { waiting } = await queue.counts(POST_CALL);
    return { files, outboxS: tenth(outboxS), seconds: tenth(seconds), cpuS: tenth((user + system) / 1e6), queued: waiting };
  } finally {
    await queue.close();
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A recording from elsewhere has no legs, no sockets and no turns. */
function fileRecord(id: string): NewCallRecord {
  const recordingPath = `/recordings/${id}.wav`;
  const nothing = { legs: [], attachments: [], turns: [], timeline: [] };
  return callRecordOf({ id, carrier: IMPORTED, carrierCallId: id, recordingPath, ...nothing });
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}
