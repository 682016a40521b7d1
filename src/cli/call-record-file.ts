import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { sleep } from '../kernel/abort.ts';
import type { Clock } from '../kernel/clock.ts';

const kept = z.looseObject({
  id: z.string(),
  carrierCallId: z.string(),
  endReason: z.string(),
  digits: z.string(),
  recordingPath: z.string().optional(),
  turns: z.array(z.looseObject({ index: z.number(), callerText: z.string(), botText: z.string(), botHeardText: z.string() })),
});

/** What is read back of a call's record, with the path of its file where it has one. */
export type KeptCall = z.output<typeof kept> & { readonly path: string | undefined };

const LOOK_FOR_MS = 10_000;

/** Waits for the record of a carrier's call to appear in the data folder; undefined when it does not in time. */
export async function findCallRecord(dataDir: string, carrierCallId: string, clock: Clock): Promise<KeptCall | undefined> {
  for (let waitedMs = 0; waitedMs < LOOK_FOR_MS; waitedMs += 200) {
    const found = await lookFor(join(dataDir, 'recordings'), carrierCallId);
    if (found !== undefined) return found;
    await sleep(clock, 200);
  }
  return undefined;
}

/** Looks through the newest day's record files. */
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
