import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import { seal, sealingKey, unseal } from '../sealed.ts';

export interface PhraseFilesOptions {
  /** A folder of its own; made when it is not there. */
  readonly folder: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** All files together; 256 MiB, eight hours of mu-law, when absent. */
  readonly mostBytes?: number;
}

/** Whether a sentence says something about a person. */
export interface PhraseKind {
  readonly isPersonal: boolean;
}

const DEFAULT_MOST_BYTES = 256 * 1024 * 1024;
/** A platform may give a voice another sound: what is older is spoken anew. */
const PLAIN_LIFE_MS = 30 * 24 * 3_600_000;
/** Long enough for a call that asks the same thing again. */
export const PERSONAL_LIFE_MS = 10 * 60_000;
const KEY_FILE = 'key';
const KEY_BYTES = 32;
/** When it was made, in ms since 1970, before the audio. */
const STAMP_BYTES = 8;

/**
 * Spoken sentences on disk, so that a restart need not pay for them again. Names are keyed hashes and tell nothing; personal
 * ones are encrypted (AES-256-GCM, the key beside them, readable by the owner alone) and gone after ten minutes. The least
 * recently used go first. A disk that refuses costs only the cache: nothing here rejects.
 */
export class PhraseFiles {
  readonly #options: PhraseFilesOptions;
  #secret: Promise<Uint8Array> | undefined;

  constructor(options: PhraseFilesOptions) {
    this.#options = options;
  }

  read(key: string, kind: PhraseKind): Promise<Uint8Array | undefined> {
    return this.#guarded('read', async () => {
      const { clock, folder } = this.#options;
      const secret = await this.#key();
      const path = join(folder, nameOf(secret, key, kind));
      const raw = await readFile(path).catch(() => undefined);
      if (raw === undefined) return undefined;
      const plain = kind.isPersonal ? unseal(sealingKey(secret, 'phrase'), raw) : raw;
      if (plain === undefined || plain.length <= STAMP_BYTES || isOver(plain, clock.wallMs(), kind)) {
        await rm(path, { force: true });
        return undefined;
      }
      const now = new Date(clock.wallMs());
      if (!kind.isPersonal) await utimes(path, now, now);
      return Uint8Array.from(plain.subarray(STAMP_BYTES));
    });
  }

  async write(key: string, audio: Uint8Array, kind: PhraseKind): Promise<void> {
    await this.#guarded('written', async () => {
      const { clock, folder } = this.#options;
      const secret = await this.#key();
      const stamped = new Uint8Array(STAMP_BYTES + audio.length);
      new DataView(stamped.buffer).setFloat64(0, clock.wallMs());
      stamped.set(audio, STAMP_BYTES);
      const bytes = kind.isPersonal ? seal(sealingKey(secret, 'phrase'), stamped) : stamped;
      const path = join(folder, nameOf(secret, key, kind));
      const temporary = `${path}.${randomUUID()}.tmp`;
      await writeFile(temporary, bytes, { mode: 0o600 });
      await rename(temporary, path);
      const now = new Date(clock.wallMs());
      await utimes(path, now, now);
      await this.#prune();
    });
  }

  /** Removes personal sentences whose time is over, and the least recently used beyond the limit. */
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
      const isOld = !name.endsWith('.mulaw') && clock.wallMs() - facts.mtimeMs > PERSONAL_LIFE_MS;
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
    // Another process may be first: then its key is the one.
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

/** Keyed, so that nobody can find out a sentence by hashing guesses. */
function nameOf(secret: Uint8Array, key: string, { isPersonal }: PhraseKind): string {
  const digest = createHmac('sha256', sealingKey(secret, 'phrase name')).update(key).digest('hex').slice(0, 40);
  return `${digest}.${isPersonal ? 'sealed' : 'mulaw'}`;
}

function isOver(stamped: Uint8Array, wallMs: number, { isPersonal }: PhraseKind): boolean {
  const madeMs = new DataView(stamped.buffer, stamped.byteOffset).getFloat64(0);
  return !(wallMs - madeMs < (isPersonal ? PERSONAL_LIFE_MS : PLAIN_LIFE_MS));
}

async function statOf(folder: string, name: string): Promise<{ readonly size: number; readonly mtimeMs: number } | undefined> {
  // Another process may have removed it.
  return stat(join(folder, name)).catch(() => undefined);
}
