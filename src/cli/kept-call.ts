import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { sleep } from '../kernel/waiting.ts';
import type { Clock } from '../kernel/clock.ts';
import { RecordingCoder } from '../audio/recording/recording-coder.ts';
import { temporaryFolder } from '../kernel/temporary.ts';
import type { Store, StoredCall } from '../records/port.ts';
import type { Recordings } from '../records/objects/recordings.ts';

const LOOK_FOR_MS = 10_000;
const EVERY_MS = 200;
/** How many of the latest calls are searched. */
const AMONG_THE_LATEST = 20;

interface KeptParts {
  readonly dataDir: string;
  readonly store: Pick<Store, 'calls'>;
  readonly recordings: Pick<Recordings, 'copyTo'>;
  readonly clock: Clock;
}

/** Waits for a carrier's call to appear in the store; undefined when it does not in time. */
export async function findKeptCall(
  { store, clock }: Pick<KeptParts, 'store' | 'clock'>,
  carrierCallId: string,
): Promise<StoredCall | undefined> {
  for (let waitedMs = 0; waitedMs < LOOK_FOR_MS; waitedMs += EVERY_MS) {
    const { calls } = await store.calls.search('default', { limit: AMONG_THE_LATEST });
    for (const { id } of calls) {
      const call = await store.calls.get('default', id);
      if (call?.carrierCallId === carrierCallId && call.endedAtMs !== undefined) return call;
    }
    await sleep(clock, EVERY_MS);
  }
  return undefined;
}

/**
 * Writes a call's recording as a plain WAV file, whatever its stored form; readable by its owner only.
 * @throws the last error after some seconds of tries: the recording may be being sealed or compressed
 */
export async function writeRecording(
  { store, recordings, clock, dataDir }: KeptParts,
  callId: string,
  wavPath: string,
): Promise<void> {
  // In the work folder, where an erasure finds it, and where there is room and permission.
  await using folder = await temporaryFolder(join(dataDir, 'work'), callId);
  for (let waitedMs = 0; ; waitedMs += EVERY_MS) {
    try {
      const call = await store.calls.get('default', callId);
      if (call === undefined) throw new Error('the call is not in the store any more');
      const format = call.keeping.recordingFormat;
      if (format === 'wav') return await recordings.copyTo(call, wavPath);
      const inputPath = join(folder.path, `recording.${format}`);
      await recordings.copyTo(call, inputPath);
      const coding = { type: 'restore', format, inputPath, outputPath: wavPath } as const;
      return await new RecordingCoder().code(coding, AbortSignal.timeout(60_000));
    } catch (error) {
      if (waitedMs >= LOOK_FOR_MS) throw error;
      await sleep(clock, EVERY_MS);
    }
  }
}

const kept = z.looseObject({
  id: z.string(),
  carrierCallId: z.string(),
  endReason: z.string(),
  digits: z.string(),
  recordingPath: z.string().optional(),
  turns: z.array(z.looseObject({ index: z.number(), callerText: z.string(), botText: z.string(), botHeardText: z.string() })),
});

/** The read part of a call's record, with the path of its file if it has one. */
export type KeptCall = z.output<typeof kept> & { readonly path: string | undefined };

const RECORD_WITHIN_MS = 10_000;

/** Waits for the record of a carrier's call to appear in the data folder; undefined when it does not in time. */
export async function findCallRecord(dataDir: string, carrierCallId: string, clock: Clock): Promise<KeptCall | undefined> {
  for (let waitedMs = 0; waitedMs < RECORD_WITHIN_MS; waitedMs += 200) {
    const found = await lookFor(join(dataDir, 'recordings'), carrierCallId);
    if (found !== undefined) return found;
    await sleep(clock, 200);
  }
  return undefined;
}

/** Searches the record files of the last two days. */
async function lookFor(folder: string, carrierCallId: string): Promise<KeptCall | undefined> {
  const days = (await readdir(folder).catch((): string[] => [])).toSorted((a, b) => a.localeCompare(b)).slice(-2);
  for (const day of days) {
    for (const name of (await readdir(join(folder, day))).filter((file) => file.endsWith('.call.json'))) {
      const path = join(folder, day, name);
      const parsed = kept.safeParse(JSON.parse(await readFile(path, 'utf8')));
      if (parsed.success && parsed.data.carrierCallId === carrierCallId) return { ...parsed.data, path };
    }
  }
  return undefined;
}
