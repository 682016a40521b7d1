import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wavFile } from '../../../src/audio/wav.ts';
import { RecordingFetcher } from '../../../src/records/submissions/recording-fetcher.ts';
import { soundReader } from '../../../src/records/analysis/sound-reader.ts';
import { AnalysisProfiles } from '../../../src/records/analysis/analysis-profiles.ts';
import type { JobHandler } from '../../../src/records/queue/port.ts';
import { retentionJob } from '../../../src/records/retention/retention.ts';
import { analyseSubmittedJob } from '../../../src/records/submissions/analyse-submitted.ts';
import { removeSubmission } from '../../../src/records/submissions/lifecycle.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { ObjectStoreError } from '../../../src/records/errors.ts';
import { diskObjects } from '../../../src/records/objects/disk.ts';
import type { Store } from '../../../src/records/port.ts';
import { storeOn } from '../../../src/records/database.ts';
import { Uploads } from '../../../src/records/objects/recordings.ts';
import { type TestDatabases, embeddedDatabases, temporaryFolder } from '../../support/databases.ts';
import { hangs } from '../../support/patience.ts';

const DAY_MS = 86_400_000;

describe('what is left behind', () => {
  let databases: TestDatabases;
  let store: Store;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let uploads: Uploads;
  let [workFolder, objectFolder] = ['', ''];
  /** Removals that the object store refuses from now on. */
  let refusing = 0;

  beforeAll(async () => {
    databases = await embeddedDatabases();
    store = storeOn(await databases.open());
    folder = await temporaryFolder();
    [workFolder, objectFolder] = [join(folder.path, 'work'), join(folder.path, 'objects')];
    const objects = diskObjects(objectFolder);
    uploads = new Uploads(store, {
      ...objects,
      remove: async (key) => {
        if (refusing-- > 0) throw new ObjectStoreError('the bucket is away', { facts: { key } });
        await objects.remove(key);
      },
    });
  });
  afterAll(async () => {
    await store.close();
    await databases[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  const run = (handler: JobHandler, payload: object = {}): Promise<void> =>
    handler({ name: 'job', id: 'j', payload, attempt: 1, isLast: false, signal: hangs() });
  const retention = (): Promise<void> =>
    run(
      retentionJob({
        store,
        uploads,
        eraser: {} as never,
        dataDir: folder.path,
        fixturesFolder: join(folder.path, 'fixtures'),
        bots: () => new Map(),
        byDefault: { audioDays: 0, textDays: 0 },
        clock: systemClock,
        logger: silentLogger,
      }),
    );
  const sealedFiles = async (): Promise<string[]> =>
    (await readdir(objectFolder, { recursive: true })).filter((name) => name.endsWith('.sealed'));

  /** A submission of one uploaded recording, as the API makes it. */
  const submit = async (submissionId: string): Promise<void> => {
    const path = join(folder.path, 'upload.wav');
    const samples = Int16Array.from({ length: 16_000 }, (_, at) => (at % 40 < 20 ? 8000 : -8000));
    await writeFile(path, wavFile(samples, 8000));
    const uploadObject = await uploads.keep({ tenantId: 'default', submissionId }, path);
    const items = [{ name: 'a', url: undefined, recordedAtMs: undefined, metadata: {}, uploadObject }];
    await store.submissions.create({ tenantId: 'default', id: submissionId, profile: 'default', createdAtMs: 1, items });
  };
  const analyse = (submissionId: string): Promise<void> => {
    const transcribe = async () => ({ text: 'hello', segments: [], words: [], requestId: 'r' }) as never;
    const handler = analyseSubmittedJob({
      store,
      uploads,
      fetcher: new RecordingFetcher({ clock: systemClock, audioHosts: [] }),
      queue: { enqueue: async () => undefined },
      dispatcher: { announce: async () => undefined },
      profiles: AnalysisProfiles.plain(),
      transcriber: { transcribe, transcribeMedical: transcribe },
      sound: soundReader(),
      clock: systemClock,
      workFolder,
    });
    return run(handler, { tenantId: 'default', submissionId, round: 0, index: 0 });
  };

  it('is no upload whose removal failed: it is removed as soon as that can be done, and its analysis stands', async () => {
    await submit('left');
    refusing = 2;
    await analyse('left');
    expect(await store.submissions.get('default', 'left')).toMatchObject({ counts: { done: 1, failed: 0 } });
    expect(await sealedFiles()).toHaveLength(1);
    await expect(retention()).rejects.toThrow('the bucket is away');
    expect(await sealedFiles()).toHaveLength(1);
    await retention();
    expect([await sealedFiles(), await store.submissions.uploadsLeft(10)]).toEqual([[], []]);
  });

  it('is no upload of a submission that is deleted while the object store is away: it can be deleted again', async () => {
    await submit('deleted');
    refusing = 1;
    const remove = (): Promise<boolean> => removeSubmission({ store, uploads }, { tenantId: 'default', submissionId: 'deleted' });
    await expect(remove()).rejects.toThrow('the bucket is away');
    expect(await store.submissions.get('default', 'deleted')).toBeDefined();
    expect([await remove(), await remove()]).toEqual([true, false]);
    expect(await sealedFiles()).toEqual([]);
  });

  it('is no plain copy of a process that died a day ago, and whatever is worked on stays', async () => {
    for (const name of ['compress-a', 'post-call-b', 'uploads']) await mkdir(join(workFolder, name), { recursive: true });
    for (const name of ['compress-a/recording.wav', 'uploads/upload-1', 'uploads/upload-2'])
      await writeFile(join(workFolder, name), 'x');
    const old = (Date.now() - DAY_MS - 60_000) / 1000;
    for (const name of ['compress-a', 'uploads/upload-1', 'uploads']) await utimes(join(workFolder, name), old, old);
    await retention();
    const left = (await readdir(workFolder, { recursive: true })).toSorted();
    expect(left).toEqual(['post-call-b', 'uploads', 'uploads/upload-2']);
  });
});
