import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../../observability/logger.ts';
import { decodeModel } from './acoustic-model.ts';
import { FEATURES } from './features.ts';

/** Some 50 kB each. */
const MOST_FILES = 1_000;
/** Files that are removed at once when there are too many. */
const REMOVED_AT_ONCE = 100;
const ENDING = '.phrase';

/**
 * Models of learnt phrases on disk, so that a restart learns nothing again. The names are hashes of the phrase, its language and the code
 * that learns; the files hold the words. The least recently used ones are removed.
 */
export class LearntFiles {
  readonly #folder: string;
  readonly #code: Promise<string>;
  readonly #logger: Logger;
  #count: number | undefined;

  /** @param code a hash of all that a model depends on besides its phrase */
  constructor(folder: string, code: Promise<string>, logger: Logger) {
    this.#folder = folder;
    this.#code = code;
    this.#logger = logger;
    // Awaited where it is used; a failure there counts as no file.
    code.catch(() => undefined);
  }

  /** @param key language and phrase. @returns undefined where there is no whole file */
  async read(key: string): Promise<Uint8Array | undefined> {
    try {
      const path = await this.#path(key);
      const model = await readFile(path);
      decodeModel(model, FEATURES);
      const now = new Date();
      await utimes(path, now, now);
      return model;
    } catch {
      return undefined;
    }
  }

  /** Writes a whole file, or logs why not: a full disk costs only time later. */
  async write(key: string, model: Uint8Array): Promise<void> {
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      const path = await this.#path(key);
      const unfinished = `${path}.${randomBytes(6).toString('hex')}`;
      await writeFile(unfinished, model, { mode: 0o600 });
      await rename(unfinished, path);
      this.#count = (this.#count ?? (await this.#names()).length - 1) + 1;
      if (this.#count > MOST_FILES) await this.#removeOldest();
    } catch (error) {
      this.#logger.warn({ error }, 'a learnt phrase could not be stored; it is learnt again after a restart');
    }
  }

  async #path(key: string): Promise<string> {
    const hash = createHash('sha256')
      .update(await this.#code)
      .update(key);
    return join(this.#folder, `${hash.digest('hex').slice(0, 32)}${ENDING}`);
  }

  async #names(): Promise<string[]> {
    return (await readdir(this.#folder)).filter((name) => name.includes(ENDING));
  }

  async #removeOldest(): Promise<void> {
    const paths = (await this.#names()).map((name) => join(this.#folder, name));
    const used = await Promise.all(
      paths.map(async (path) => ({
        path,
        atMs: await stat(path).then(
          ({ mtimeMs }) => mtimeMs,
          () => Infinity,
        ),
      })),
    );
    const least = used.sort((a, b) => a.atMs - b.atMs).slice(0, REMOVED_AT_ONCE);
    await Promise.all(least.map(({ path }) => rm(path, { force: true })));
    this.#count = undefined;
  }
}
