import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { CompressedFormat } from '../../../src/audio/recording-format.ts';
import { wavHeader } from '../../../src/audio/wav.ts';
import { findKeptCall, writeRecording } from '../../../src/cli/kept-call.ts';
import { Eraser } from '../../../src/records/retention/eraser.ts';
import type { JobRun } from '../../../src/records/queue/port.ts';
import { postCallJob } from '../../../src/records/after-call/post-call-job.ts';
import { RecordingCoder } from '../../../src/audio/recording/recording-coder.ts';
import { sweep } from '../../../src/records/sweep.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { diskObjects } from '../../../src/records/objects/disk.ts';
import type { Store } from '../../../src/records/port.ts';
import { storeOn } from '../../../src/records/database.ts';
import { type RecordingCompression, Recordings } from '../../../src/records/objects/recordings.ts';
import { callRecordOf } from '../../support/call-records.ts';
import { type TestDatabases, embeddedDatabases, temporaryFolder } from '../../support/databases.ts';
import { hangs } from '../../support/patience.ts';

const STARTED_MS = Date.UTC(2026, 0, 1, 9);
const OBJECTS = 'default/2026-01-01';

/** Two seconds with a square wave on both sides, between silence. */
const wav = (() => {
  const samples = Int16Array.from({ length: 8000 * 2 * 2 }, (_, at) =>
    at > 8000 && at < 24_000 ? (at % 40 < 20 ? 8000 : -8000) : 0,
  );
  const data = Buffer.from(samples.buffer);
  return Buffer.concat([wavHeader({ rateHz: 8000, channels: 2, dataBytes: data.length, encoding: 'pcm16' }), data]);
})();

describe('compressed recordings', () => {
  let databases: TestDatabases;
  let store: Store;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let recordings: Recordings;
  let eraser: Eraser;
  let [plainFolder, objectFolder, workFolder] = ['', '', ''];
  const transcribed: number[] = [];

  beforeAll(async () => {
    databases = await embeddedDatabases();
    store = storeOn(await databases.open());
    folder = await temporaryFolder();
    const inFolder = (name: string): string => join(folder.path, name);
    [plainFolder, objectFolder, workFolder] = [inFolder('plain'), inFolder('objects'), inFolder('work')];
    await mkdir(plainFolder);
    recordings = new Recordings(store, diskObjects(objectFolder));
    eraser = new Eraser({ store, recordings, outboxes: [], dataDir: folder.path, clock: systemClock });
  });

  afterAll(async () => {
    await store.close();
    await databases[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  const refOf = (callId: string) => ({ tenantId: 'default', callId });
  const namesIn = async (path: string): Promise<string[]> => (existsSync(path) ? (await readdir(path)).toSorted() : []);
  const filesOf = async (id: string): Promise<string[]> =>
    [...(await namesIn(plainFolder)), ...(await namesIn(join(objectFolder, OBJECTS)))].filter((name) =>
      name.startsWith(`${id}.`),
    );

  /** A call that is over and was analysed, whose recording is to be compressed. */
  const callWith = async (id: string, format: CompressedFormat, kept: 'plain' | 'sealed'): Promise<string> => {
    const recordingPath = join(plainFolder, `${id}.wav`);
    await writeFile(recordingPath, wav);
    await store.calls.upsert(
      callRecordOf({ id, carrierCallId: id, recordingPath, recordingWanted: format, startedAtMs: STARTED_MS }),
    );
    if (kept === 'sealed') await recordings.keep(refOf(id), recordingPath, STARTED_MS);
    await store.calls.analysisFailed('default', id);
    return recordingPath;
  };
  const kept = async (id: string): Promise<Buffer> => {
    const opened = await recordings.open((await store.calls.get('default', id))!);
    const parts: Uint8Array[] = [];
    for await (const part of opened!.read()) parts.push(part);
    return Buffer.concat(parts);
  };
  const work = (payload: object, coder: Pick<RecordingCoder, 'code'>, isLast = false): Promise<void> => {
    const transcribe = async (path: string) => {
      transcribed.push((await readFile(path)).length);
      return { text: 'hello', segments: [], words: [], requestId: 'r' } as never;
    };
    const transcriber = { transcribe, transcribeMedical: transcribe };
    const run: JobRun = { name: 'post-call', id: 'j', payload, attempt: 1, isLast, signal: hangs() };
    return postCallJob({ store, recordings, coder, workFolder, transcriber, clock: systemClock })(run);
  };
  /** As quick as can be: it says only what was made of what. */
  const quick = (meanwhile = async (): Promise<unknown> => undefined): Pick<RecordingCoder, 'code'> => ({
    async code({ inputPath, outputPath }) {
      const input = await readFile(inputPath);
      await meanwhile();
      await writeFile(outputPath, `made of ${input.length}`);
    },
  });
  const quickly = (format: CompressedFormat): RecordingCompression => ({
    format,
    workFolder,
    signal: hangs(),
    code: (inputPath, outputPath) => quick().code({ type: 'compress', format, inputPath, outputPath }, hangs()),
  });
  const MADE = `made of ${wav.length}`;

  test.each([
    { id: 'p-flac', format: 'flac', where: 'plain', begins: 'fLaC' },
    { id: 's-opus', format: 'opus', where: 'sealed', begins: 'OggS' },
  ] as const)(
    'take the place of a $where WAV as $format, and are analysed again as it was',
    async ({ id, format, where, begins }) => {
      const coder = new RecordingCoder();
      await callWith(id, format, where);
      await work({ ...refOf(id), recordingAs: format }, coder);
      const name = where === 'plain' ? `${id}.${format}` : `${id}.${format}.sealed`;
      expect(await filesOf(id)).toEqual([name]);
      expect((await kept(id)).toString('latin1', 0, 4)).toBe(begins);
      const call = await store.calls.get('default', id);
      expect([call?.recordingWanted, call?.keeping.recordingFormat]).toEqual([undefined, format]);

      // Who asks for a file gets a plain one.
      const asked = join(folder.path, `${id}-asked.wav`);
      expect((await findKeptCall({ store, clock: systemClock }, id))?.id).toBe(id);
      await writeRecording({ store, recordings, clock: systemClock, dataDir: folder.path }, id, asked);
      expect((await readFile(asked)).subarray(0, 44)).toEqual(wav.subarray(0, 44));

      transcribed.length = 0;
      await work(refOf(id), coder);
      // The caller's side of it, as long as it was.
      expect(transcribed).toEqual([44 + 2 * 16_000]);
      expect(await filesOf(id)).toEqual(where === 'plain' ? [`${id}.analysis.json`, name] : [name]);
      expect(await namesIn(workFolder)).toEqual([]);
    },
  );

  test.each(['plain', 'sealed'] as const)(
    'survive a death between any two steps, and two who make them at once, where they are %s',
    async (where) => {
      const id = `d-${where}`;
      const path = await callWith(id, 'flac', where);
      const [object, made] = [
        join(objectFolder, OBJECTS, `${id}.wav.sealed`),
        where === 'plain' ? `${id}.flac` : `${id}.flac.sealed`,
      ];
      const before = await readFile(where === 'plain' ? path : object);
      // As if it had died after the new file was put, and before the call knew.
      await writeFile(where === 'plain' ? join(plainFolder, made) : join(objectFolder, OBJECTS, made), 'half a file');
      expect(await kept(id)).toEqual(wav);
      await Promise.all([recordings.compress(refOf(id), quickly('flac')), recordings.compress(refOf(id), quickly('flac'))]);
      expect([(await kept(id)).toString(), await filesOf(id)]).toEqual([MADE, [made]]);
      // As if it had died before the WAV was removed.
      await writeFile(where === 'plain' ? path : object, before);
      await recordings.compress(refOf(id), quickly('flac'));
      expect([(await kept(id)).toString(), await filesOf(id)]).toEqual([MADE, [made]]);
    },
  );

  it('stay what they are when the record of their call comes once more', async () => {
    const path = await callWith('again', 'flac', 'plain');
    await recordings.compress(refOf('again'), quickly('flac'));
    await store.calls.upsert(
      callRecordOf({ id: 'again', recordingPath: path, recordingWanted: 'flac', startedAtMs: STARTED_MS }),
    );
    const call = await store.calls.get('default', 'again');
    expect([call?.recordingPath, call?.recordingWanted]).toEqual([join(plainFolder, 'again.flac'), undefined]);
    expect((await kept('again')).toString()).toBe(MADE);
  });

  it('are sealed where that comes later, and asked for again where it comes meanwhile', async () => {
    const late = await callWith('late', 'flac', 'plain');
    await recordings.compress(refOf('late'), quickly('flac'));
    await recordings.keep(refOf('late'), late, STARTED_MS);
    expect([await filesOf('late'), (await kept('late')).toString()]).toEqual([['late.flac.sealed'], MADE]);

    const path = await callWith('meanwhile', 'flac', 'plain');
    const seal = (): Promise<void> => recordings.keep(refOf('meanwhile'), path, STARTED_MS);
    const subject = { ...refOf('meanwhile'), recordingAs: 'flac' };
    await expect(work(subject, quick(seal))).rejects.toThrow('sealed while');
    expect([await filesOf('meanwhile'), await kept('meanwhile')]).toEqual([['meanwhile.wav.sealed'], wav]);
    await work(subject, quick());
    expect(await filesOf('meanwhile')).toEqual(['meanwhile.flac.sealed']);
  });

  it('are not made of what is held for the law, before that is lifted', async () => {
    await callWith('held', 'opus', 'sealed');
    await callWith('held-meanwhile', 'opus', 'plain');
    const asked = async (): Promise<string[]> => {
      const payloads: { callId?: string }[] = [];
      const queue = { enqueue: async (_name: string, _id: string, payload: object) => void payloads.push(payload) };
      await sweep({ store, queue: queue as never, dispatcher: {} as never, clock: systemClock });
      return payloads.flatMap(({ callId }) => (callId?.startsWith('held') === true ? [callId] : [])).toSorted();
    };
    expect(await asked()).toEqual(['held', 'held-meanwhile']);
    await store.calls.setLegalHold('default', 'held', true);
    expect(await asked()).toEqual(['held-meanwhile']);
    await work({ ...refOf('held'), recordingAs: 'opus' }, quick());
    const hold = (): Promise<unknown> => store.calls.setLegalHold('default', 'held-meanwhile', true);
    await work({ ...refOf('held-meanwhile'), recordingAs: 'opus' }, quick(hold));
    expect([await filesOf('held'), await filesOf('held-meanwhile')]).toEqual([['held.wav.sealed'], ['held-meanwhile.wav']]);
    expect([await kept('held'), await kept('held-meanwhile')]).toEqual([wav, wav]);
    await store.calls.setLegalHold('default', 'held', false);
    expect(await asked()).toEqual(['held']);
    await work({ ...refOf('held'), recordingAs: 'opus' }, quick());
    expect([await filesOf('held'), await asked()]).toEqual([['held.opus.sealed'], []]);
  });

  test.each(['plain', 'sealed'] as const)(
    'leave nothing behind when their call is erased before, meanwhile or after: %s',
    async (where) => {
      for (const [id, meanwhile] of [
        [`e-${where}`, () => eraser.eraseCall('default', `e-${where}`)],
        [`r-${where}`, () => eraser.eraseKind([refOf(`r-${where}`)], 'audio')],
      ] as const) {
        await callWith(id, 'flac', where);
        await work({ ...refOf(id), recordingAs: 'flac' }, quick(meanwhile)).catch(() => {});
        expect(await filesOf(id)).toEqual([]);
        // What was put by one that died at once.
        if (where === 'sealed') await writeFile(join(objectFolder, OBJECTS, `${id}.flac.sealed`), 'x');
        await work({ ...refOf(id), recordingAs: 'flac' }, quick());
        expect(await filesOf(id)).toEqual([]);
      }
      const after = `after-${where}`;
      await callWith(after, 'flac', where);
      await work({ ...refOf(after), recordingAs: 'flac' }, quick());
      await eraser.eraseKind([refOf(after)], 'text');
      expect(await filesOf(after)).toHaveLength(1);
      await eraser.eraseKind([refOf(after)], 'audio');
      expect(await filesOf(after)).toEqual([]);
    },
  );

  it('are given up in the end where they cannot be made: the WAV stays, and is not asked for again', async () => {
    const path = await callWith('broken', 'flac', 'plain');
    await writeFile(path, 'not a recording');
    const coder = new RecordingCoder();
    await expect(work({ ...refOf('broken'), recordingAs: 'flac' }, coder)).rejects.toMatchObject({
      code: 'OFFHOOK_COMPRESSED_AUDIO',
    });
    expect(await filesOf('broken')).toEqual(['broken.wav']);
    expect((await store.recordings.find('default', 'broken'))?.wanted).toBe(undefined);
    const away = { code: () => Promise.reject(new Error('the disk is full')) };
    await callWith('away', 'flac', 'plain');
    await expect(work({ ...refOf('away'), recordingAs: 'flac' }, away)).rejects.toThrow('full');
    expect((await store.recordings.find('default', 'away'))?.wanted).toBe('flac');
    expect(await kept('away')).toEqual(wav);
  });
});
