import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunning } from '../../kernel/process-start.ts';
import { UsageError } from '../speech/usage.ts';

const LOCK = '.lock';
const WORK = '.work';

/** The folder of results, held by one run at a time, with a place for what is needed meanwhile. */
export class OutputFolder implements AsyncDisposable {
  readonly path: string;
  readonly workFolder: string;

  private constructor(path: string) {
    this.path = path;
    this.workFolder = join(path, WORK);
  }

  /** Makes it if need be, and clears away what a killed run left. @throws UsageError while another run holds it */
  static async open(path: string): Promise<OutputFolder> {
    await mkdir(path, { recursive: true });
    const folder = new OutputFolder(path);
    await folder.#lock();
    await rm(folder.workFolder, { recursive: true, force: true });
    await mkdir(folder.workFolder, { mode: 0o700 });
    for (const name of await readdir(path)) if (name.endsWith('.tmp')) await rm(join(path, name), { force: true });
    return folder;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.workFolder, { recursive: true, force: true });
    await rm(join(this.path, LOCK), { force: true });
  }

  async #lock(): Promise<void> {
    const path = join(this.path, LOCK);
    const take = (): Promise<void> => writeFile(path, String(process.pid), { flag: 'wx' });
    try {
      await take();
    } catch {
      const holder = Number(await readFile(path, 'utf8').catch(() => ''));
      if (holder !== process.pid && isRunning(holder))
        throw new UsageError(`process ${holder} is writing to ${this.path}; wait for it, or choose another --out`);
      await rm(path, { force: true });
      await take();
    }
  }
}
