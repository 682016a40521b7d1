import { existsSync } from 'node:fs';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wavHeader } from '../../../src/audio/wav.ts';
import { Secret } from '../../../src/config/secrets.ts';
import {
  deliverEndedCalls,
  keepEndedCall,
  deliverRecordings,
  keepRecording,
} from '../../../src/records/after-call/call-ended.ts';
import { Outbox } from '../../../src/records/outbox/outbox.ts';
import { OutboxPump } from '../../../src/records/outbox/outbox-pump.ts';
import type { JobQueue } from '../../../src/records/queue/port.ts';
import { postCallJob } from '../../../src/records/after-call/post-call-job.ts';
import { POST_CALL } from '../../../src/records/queue/catalog.ts';
import { openQueue } from '../../../src/records/queue/bull-queue.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { s3Objects } from '../../../src/records/objects/s3.ts';
import type { Store } from '../../../src/records/port.ts';
import { storeOn } from '../../../src/records/database.ts';
import { Recordings } from '../../../src/records/objects/recordings.ts';
import { callRecordOf } from '../../support/call-records.ts';
import { type TestDatabases, embeddedDatabases, onProblem, temporaryFolder } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { type S3StandIn, S3_CREDENTIALS, startS3 } from '../../support/s3-server.ts';

/** Two seconds of a square wave on both sides, between silence. */
function recordingBytes(): Buffer {
  const samples = Int16Array.from({ length: 8000 * 4 * 2 }, (_, at) =>
    at > 16_000 && at < 48_000 ? (at % 40 < 20 ? 8000 : -8000) : 0,
  );
  const data = Buffer.from(samples.buffer);
  return Buffer.concat([wavHeader({ rateHz: 8000, channels: 2, dataBytes: data.length, encoding: 'pcm16' }), data]);
}

describe('sealed recordings', () => {
  let databases: TestDatabases;
  let store: Store;
  let queue: JobQueue;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let s3: S3StandIn;
  let recordings: Recordings;

  beforeAll(async () => {
    databases = await embeddedDatabases();
    const database = await databases.open();
    store = storeOn(database);
    queue = openQueue({ redisUrl: undefined, database, clock: systemClock, onProblem });
    folder = await temporaryFolder();
    s3 = await startS3();
    const { accessKeyId, secretAccessKey, region } = S3_CREDENTIALS;
    const keys = { accessKeyId: new Secret(accessKeyId), secretAccessKey: new Secret(secretAccessKey) };
    recordings = new Recordings(store, s3Objects({ endpoint: s3.url, bucket: 'b', region, prefix: '', ...keys }, systemClock));
  });

  afterAll(async () => {
    await queue.close();
    await store.close();
    await s3[Symbol.asyncDispose]();
    await databases[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  const plainFile = async (id: string): Promise<string> => {
    const path = join(folder.path, `${id}.wav`);
    await writeFile(path, recordingBytes());
    return path;
  };

  it('wait as plain files while the bucket is away, hold up no record, and are analysed once they are sealed', async () => {
    const recordingPath = await plainFile('away');
    const outbox = await Outbox.open(join(folder.path, 'outbox'), () => Date.now());
    const recordingOutbox = await Outbox.open(join(folder.path, 'outbox', 'recordings'), () => Date.now());
    const common = { clock: systemClock, logger: silentLogger };
    await using sealing = new OutboxPump({
      outbox: recordingOutbox,
      deliver: deliverRecordings({ recordings, queue }),
      ...common,
    });
    const sealLater = (record: Parameters<typeof keepRecording>[2]) => keepRecording(recordingOutbox, sealing, record);
    await using pump = new OutboxPump({ outbox, deliver: deliverEndedCalls({ store, queue, sealLater }), ...common });
    s3.failing = 503;
    await keepEndedCall(outbox, pump, callRecordOf({ id: 'away', recordingPath }));
    await pump.drained();
    const waiting = await store.calls.get('default', 'away');
    expect(waiting?.keeping).toMatchObject({ recordingObject: undefined, analysisState: 'pending' });
    expect((await recordings.open(waiting!))?.bytes).toBe(recordingBytes().length);
    expect((await queue.counts(POST_CALL)).waiting).toBe(0);
    s3.failing = undefined;
    await sealing.drained();
    expect(existsSync(recordingPath)).toBe(false);
    expect((await queue.counts(POST_CALL)).waiting).toBe(1);

    const heard: number[] = [];
    const transcribe = async (path: string) => {
      heard.push((await readFile(path)).length);
      return { text: 'hello', segments: [], words: [], requestId: 'r' } as never;
    };
    const workFolder = join(folder.path, 'work');
    const transcriber = { transcribe, transcribeMedical: transcribe };
    queue.work(POST_CALL, postCallJob({ store, recordings, workFolder, transcriber, clock: systemClock }));
    await eventually('the analysis', async () => (await store.analyses.list('default', 'away')).length === 1);
    expect(heard).toHaveLength(1);
    await eventually('the copy to go', async () => (await readdir(workFolder)).length === 0);
    expect((await readdir(folder.path)).filter((name) => name.startsWith('away'))).toEqual([]);
  });

  it('survive a death between any two steps, and a second request', async () => {
    const path = await plainFile('twice');
    await store.calls.upsert(callRecordOf({ id: 'twice', recordingPath: path }));
    const ref = { tenantId: 'default', callId: 'twice' };
    await recordings.keep(ref, path, 0);
    // As if the process had died after the object was put and before the plain file was removed.
    await writeFile(path, recordingBytes());
    await recordings.keep(ref, path, 0);
    await recordings.keep(ref, path, 0);
    const call = await store.calls.get('default', 'twice');
    expect([...s3.objects.keys()]).toContain('b/default/1970-01-01/twice.wav.sealed');
    const copy = join(folder.path, 'copy.wav');
    await recordings.copyTo(call!, copy);
    expect(await readFile(copy)).toEqual(recordingBytes());
    const opened = await recordings.open(call!);
    const parts: Uint8Array[] = [];
    for await (const part of opened!.read(70_000, 70_010)) parts.push(part);
    expect(Buffer.concat(parts)).toEqual(recordingBytes().subarray(70_000, 70_010));
  });

  it('are not kept of a call that is not in the store, whose file stays, nor of one that was erased, whose file goes', async () => {
    const unknown = await plainFile('unknown');
    await expect(recordings.keep({ tenantId: 'default', callId: 'unknown' }, unknown, 0)).rejects.toMatchObject({
      code: 'OFFHOOK_STORE_RECORD',
    });
    expect(existsSync(unknown)).toBe(true);
    const erased = await plainFile('erased');
    await store.calls.upsert(callRecordOf({ id: 'erased', recordingPath: erased }));
    await store.privacy.erase('default', 'erased', 1);
    await recordings.keep({ tenantId: 'default', callId: 'erased' }, erased, 0);
    expect(existsSync(erased)).toBe(false);
    expect([...s3.objects.keys()].filter((key) => key.includes('erased') || key.includes('unknown'))).toEqual([]);
  });
});
