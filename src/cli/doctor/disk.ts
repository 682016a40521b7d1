import { randomUUID } from 'node:crypto';
import { mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Check } from './check.ts';

/** A busy day of recordings at 16 kB a second and call. */
const LEAST_FREE_BYTES = 2 * 1024 ** 3;

/** Whether the data folder can be written, and has room. */
export function diskCheck(dataDir: string): Check {
  const folder = resolve(dataDir);
  return {
    name: 'data folder',
    advice: `make ${folder} writable for this user, or name another folder with OFFHOOK_DATA_DIR`,
    async run() {
      await mkdir(folder, { recursive: true });
      const probe = join(folder, `.doctor-${randomUUID()}`);
      await writeFile(probe, 'written by offhook doctor', { flush: true });
      await rm(probe);
      const { bavail, bsize } = await statfs(folder);
      const free = bavail * bsize;
      const detail = `${folder} is writable, ${(free / 1024 ** 3).toFixed(1)} GB are free`;
      const advice = 'make room: recordings take about 1 MB a minute of call';
      return free >= LEAST_FREE_BYTES ? { ok: true, detail } : { ok: false, detail, advice };
    },
  };
}
