import { mkdir, readdir, readFile, rm, writeFile, type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isRunning } from '../../kernel/process-identity.ts';
import { UsageError } from '../shell/output.ts';
import { hasCode } from '../../kernel/errors.ts';

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

const entrySchema = z.object({
  sha256: z.string(),
  /** Name and hash of the profile, as `profileKey` has them. */
  profile: z.string(),
  /** Where it was, see `placeName`. */
  place: z.string(),
  version: z.string().optional(),
  /** File name of the document, in the same folder. */
  result: z.string(),
});
export type ManifestEntry = z.infer<typeof entrySchema>;

/** The file's name, in the folder of results. */
export const MANIFEST = 'manifest.jsonl';

/**
 * What was done in a folder of results, one line each, on disk before the next is begun. A run that is killed leaves at most
 * one line that is cut short, which is passed over; its recording is done again.
 */
export class Manifest implements AsyncDisposable {
  readonly #file: FileHandle;
  readonly #byContent = new Map<string, ManifestEntry>();
  readonly #byPlace = new Map<string, ManifestEntry>();

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(folder: string): Promise<Manifest> {
    const path = join(folder, MANIFEST);
    // Unread, what was done would be done, and paid for, once more.
    const text = await readFile(path, 'utf8').catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) return '';
      throw error;
    });
    const file = await open(path, 'a', 0o600);
    const manifest = new Manifest(file);
    for (const line of text.split('\n')) {
      const entry = readEntry(line);
      if (entry !== undefined) manifest.#remember(entry);
    }
    // What a killed run began must not swallow the next line.
    if (text !== '' && !text.endsWith('\n')) await file.appendFile('\n');
    return manifest;
  }

  /** By content and profile: the recording was done, whatever it is called. */
  byContent(sha256: string, profile: string): ManifestEntry | undefined {
    return this.#byContent.get(contentKey(sha256, profile));
  }

  /** By place, version and profile: it need not even be read again. */
  byPlace(place: string, version: string | undefined, profile: string): ManifestEntry | undefined {
    const entry = this.#byPlace.get(JSON.stringify([place, profile]));
    return entry !== undefined && entry.version === version ? entry : undefined;
  }

  /** Durable when it returns. */
  async add(entry: ManifestEntry): Promise<void> {
    await this.#file.appendFile(`${JSON.stringify(entry)}\n`);
    await this.#file.datasync();
    this.#remember(entry);
  }

  /** Of one profile, in the order in which they were done. */
  entries(profile: string): ManifestEntry[] {
    return [...this.#byContent.values()].filter((entry) => entry.profile === profile);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }

  #remember(entry: ManifestEntry): void {
    const key = contentKey(entry.sha256, entry.profile);
    if (!this.#byContent.has(key)) this.#byContent.set(key, entry);
    this.#byPlace.set(JSON.stringify([entry.place, entry.profile]), entry);
  }
}

function contentKey(sha256: string, profile: string): string {
  return `${sha256} ${profile}`;
}

function readEntry(line: string): ManifestEntry | undefined {
  try {
    return entrySchema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
