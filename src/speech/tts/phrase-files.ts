import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import { seal, sealingKey, unseal } from '../client/sealed.ts';

export interface PhraseFilesOptions {
  /** A folder for these files only; made when missing. */
  readonly folder: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** All files together; 256 MiB, eight hours of mu-law, when absent. */
  readonly mostBytes?: number;
}

const DEFAULT_MOST_BYTES = 256 * 1024 * 1024;
/** Older files are synthesised again, since a platform may change a voice. */
const LIFE_MS = 30 * 24 * 3_600_000;
/** Age after which a file with another ending counts as a leftover. */
const LEFTOVER_MS = 10 * 60_000;
const ENDING = '.phrase';
const KEY_FILE = 'key';
const KEY_BYTES = 32;
/** Length of the time stamp (ms since 1970) before the audio. */
const STAMP_BYTES = 8;

/**
 * Prepared sentences on disk, so that a restart does not pay for them again; personal sentences are never among them. Names are
 * keyed hashes; files are sealed (AES-256-GCM, with the key beside them, readable by the owner only), so that a changed or truncated
 * file is never played. The least recently used are removed first. Disk errors disable only the cache: nothing here rejects.
 */
export class PhraseFiles {
  readonly #options: PhraseFilesOptions;
  #secret: Promise<Uint8Array> | undefined;

  constructor(options: PhraseFilesOptions) {
    this.#options = options;
  }

  read(key: string): Promise<Uint8Array | undefined> {
    return this.#guarded('read', async () => {
      const { clock, folder } = this.#options;
      const secret = await this.#key();
      const path = join(folder, nameOf(secret, key));
      const raw = await readFile(path).catch(() => undefined);
      if (raw === undefined) return undefined;
      const stamped = unseal(sealingKey(secret, 'phrase'), raw);
      if (stamped === undefined || stamped.length <= STAMP_BYTES || isOver(stamped, clock.wallMs())) {
        await rm(path, { force: true });
        return undefined;
      }
      const now = new Date(clock.wallMs());
      await utimes(path, now, now);
      return Uint8Array.from(stamped.subarray(STAMP_BYTES));
    });
  }

  async write(key: string, audio: Uint8Array): Promise<void> {
    await this.#guarded('written', async () => {
      const { clock, folder } = this.#options;
      const secret = await this.#key();
      const stamped = new Uint8Array(STAMP_BYTES + audio.length);
      new DataView(stamped.buffer).setFloat64(0, clock.wallMs());
      stamped.set(audio, STAMP_BYTES);
      const path = join(folder, nameOf(secret, key));
      const temporary = `${path}.${randomUUID()}.tmp`;
      await writeFile(temporary, seal(sealingKey(secret, 'phrase'), stamped), { mode: 0o600 });
      await rename(temporary, path);
      const now = new Date(clock.wallMs());
      await utimes(path, now, now);
      await this.#prune();
    });
  }

  /** Removes leftovers, and the least recently used files above the limit. */
  async #prune(): Promise<void> {
    const { clock, folder, mostBytes = DEFAULT_MOST_BYTES } = this.#options;
    const files = await Promise.all(
      (await readdir(folder))
        .filter((name) => name !== KEY_FILE)
        .map(async (name) => ({ name, facts: await statOf(folder, name) })),
    );
    let bytes = 0;
    const newestFirst = files.toSorted((a, b) => (b.facts?.mtimeMs ?? 0) - (a.facts?.mtimeMs ?? 0));
    for (const { name, facts } of newestFirst) {
      if (facts === undefined) continue;
      bytes += facts.size;
      const isOld = !name.endsWith(ENDING) && clock.wallMs() - facts.mtimeMs > LEFTOVER_MS;
      if (isOld || bytes > mostBytes) await rm(join(folder, name), { force: true });
    }
  }

  #key(): Promise<Uint8Array> {
    this.#secret ??= this.#readKey().catch((error: unknown) => {
      this.#secret = undefined;
      throw error;
    });
    return this.#secret;
  }

  async #readKey(): Promise<Uint8Array> {
    const { folder } = this.#options;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, KEY_FILE);
    // Another process may be first: its key is used then.
    await writeFile(path, randomBytes(KEY_BYTES), { mode: 0o600, flag: 'wx' }).catch(() => undefined);
    const key = await readFile(path);
    if (key.length !== KEY_BYTES) throw new Error('the key of the phrase cache is not whole; remove the folder of the cache');
    return key;
  }

  async #guarded<Value>(what: string, task: () => Promise<Value>): Promise<Value | undefined> {
    try {
      return await task();
    } catch (error) {
      this.#options.logger.warn({ error }, `a spoken sentence could not be ${what}`);
      return undefined;
    }
  }
}

/** A keyed hash, so that sentences cannot be found by hashing guesses. */
function nameOf(secret: Uint8Array, key: string): string {
  const digest = createHmac('sha256', sealingKey(secret, 'phrase name')).update(key).digest('hex').slice(0, 40);
  return `${digest}${ENDING}`;
}

function isOver(stamped: Uint8Array, wallMs: number): boolean {
  const madeMs = new DataView(stamped.buffer, stamped.byteOffset).getFloat64(0);
  return !(wallMs - madeMs < LIFE_MS);
}

async function statOf(folder: string, name: string): Promise<{ readonly size: number; readonly mtimeMs: number } | undefined> {
  // Another process may have removed it.
  return stat(join(folder, name)).catch(() => undefined);
}
