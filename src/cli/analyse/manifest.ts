import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { hasCode } from '../../kernel/error-code.ts';

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
