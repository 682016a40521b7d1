import { createHash, randomInt } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { mkdir, open, readFile, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonValue } from '../queue/port.ts';
import { hasCode, errorText } from '../../kernel/errors.ts';
import { temporaryPath } from '../../kernel/temporary.ts';
import { flushFolder, SharedFlush } from '../../kernel/flush.ts';
import { OutboxFullError, OutboxWriteError } from '../errors.ts';

export interface OutboxLimits {
  readonly maxEntries: number;
  readonly maxBytes: number;
}

/** At a megabyte for the record of a long call, a day without a store on a busy machine. */
const LIMITS: OutboxLimits = { maxEntries: 100_000, maxBytes: 4 * 1024 * 1024 * 1024 };

/** Other processes append and drain too: what is in the folder is counted anew after so many appends. */
const COUNT_EVERY = 500;

/** Folder of undeliverable entries. */
const REJECTED = 'rejected';

/**
 * Entries on local disk that survive the process and power cuts: one file each, written aside, flushed, renamed, and the folder flushed. Entries are
 * returned in order. Any number of processes may append; one drains (`DrainLease`).
 */
export class Outbox {
  readonly #folder: string;
  readonly #limits: OutboxLimits;
  readonly #wallMs: () => number;
  readonly #write: WriteThrough;
  #entries = 0;
  #bytes = 0;
  /** Containers that share the folder may have the same pid. */
  readonly #firstOrder = randomInt(100_000_000_000);
  #order = 0;
  /** Sizes of entries appended by this process, which saves asking the disk. */
  readonly #sizes = new Map<string, number>();
  /** Names of entries that are being written. */
  readonly #writing = new Set<string>();
  /** Makes new names durable. */
  readonly #names: SharedFlush;

  private constructor(folder: string, limits: OutboxLimits, wallMs: () => number, write: WriteThrough) {
    this.#folder = folder;
    this.#limits = limits;
    this.#wallMs = wallMs;
    this.#write = write;
    this.#names = new SharedFlush(() => flushFolder(folder));
  }

  /**
   * @param wallMs the wall clock, which orders entries of different runs
   * @param write puts bytes durably into a new file; an argument so that a full disk can be tried out
   * @throws OutboxWriteError when the folder cannot be made or read
   */
  static async open(
    folder: string,
    wallMs: () => number,
    limits: OutboxLimits = LIMITS,
    write: WriteThrough = writeThrough,
  ): Promise<Outbox> {
    const outbox = new Outbox(folder, limits, wallMs, write);
    try {
      await mkdir(join(folder, REJECTED), { recursive: true, mode: 0o700 });
      await outbox.#count();
      return outbox;
    } catch (error) {
      throw writeError('the outbox cannot be opened', error);
    }
  }

  /** Number of entries set aside as undeliverable. */
  async rejected(): Promise<number> {
    return (await readdir(join(this.#folder, REJECTED))).filter(isEntryName).length;
  }

  get size(): number {
    return this.#entries;
  }

  /**
   * Durable when it returns, also against `kill -9` and power cuts.
   * @param kind letters, digits and dashes
   * @throws OutboxFullError at its limit (the newest entry is refused)
   * @throws OutboxWriteError when the disk refuses, for example because it is full; nothing is left behind
   */
  async append(kind: string, body: JsonValue): Promise<void> {
    const packed = packEntry({ kind, body });
    if (this.#isFull(packed.length) || this.#order % COUNT_EVERY === COUNT_EVERY - 1) await this.#count().catch(() => {});
    if (this.#isFull(packed.length)) {
      throw new OutboxFullError('the outbox is full', { facts: { entries: this.#entries, bytes: this.#bytes } });
    }
    // Counted before the write, so that appends at the same time stay below the limit together.
    this.#entries += 1;
    this.#bytes += packed.length;
    const name = entryName(this.#wallMs(), process.pid, this.#firstOrder + this.#order++);
    const temporary = temporaryPath(join(this.#folder, name));
    this.#sizes.set(name, packed.length);
    this.#writing.add(name);
    try {
      await this.#write(temporary, packed);
      await rename(temporary, join(this.#folder, name));
      await this.#names.ask();
    } catch (error) {
      this.#sizes.delete(name);
      this.#entries -= 1;
      this.#bytes -= packed.length;
      await rm(temporary, { force: true }).catch(() => {});
      throw writeError('the outbox cannot be written', error);
    } finally {
      this.#writing.delete(name);
    }
  }

  /**
   * Appends an entry synchronously: it is in the folder when this returns, surviving `kill -9`, and survives a power cut once the promise resolves.
   * For small, rare entries: it blocks the event loop for one write, and no limit applies.
   * @throws OutboxWriteError when the disk refuses; nothing is left behind
   */
  async appendAtOnce(kind: string, body: JsonValue): Promise<void> {
    const packed = packEntry({ kind, body });
    const name = entryName(this.#wallMs(), process.pid, this.#firstOrder + this.#order++);
    const path = join(this.#folder, name);
    const temporary = temporaryPath(path);
    try {
      writeFileSync(temporary, packed, { flag: 'wx', mode: 0o600 });
      renameSync(temporary, path);
      this.#entries += 1;
      this.#bytes += packed.length;
      this.#sizes.set(name, packed.length);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {});
      throw writeError('the outbox cannot be written', error);
    }
    try {
      await using file = await open(path, 'r');
      await file.sync();
      await this.#names.ask();
    } catch (error) {
      // Delivered meanwhile.
      if (!hasCode(error, 'ENOENT')) throw writeError('the outbox cannot be flushed', error);
    }
  }

  /** Names of all entries, oldest first, those of earlier runs and other processes too. */
  async names(): Promise<string[]> {
    return (await readdir(this.#folder)).filter(isEntryName).sort();
  }

  /** Includes entries set aside; `read` and `forget` take all of these. */
  async allNames(): Promise<string[]> {
    const rejected = (await readdir(join(this.#folder, REJECTED))).filter(isEntryName).sort();
    return [...(await this.names()), ...rejected.map((name) => join(REJECTED, name))];
  }

  /** Drops an entry, pending or rejected; the pump may just have delivered it. */
  async forget(name: string): Promise<void> {
    if (isEntryName(name)) return this.remove(name);
    const path = join(this.#folder, name);
    await rm(path, { force: true });
    await rm(`${path}.reason`, { force: true });
  }

  /** Size of these entries together. */
  async bytesOf(names: readonly string[]): Promise<number> {
    const sizes = await Promise.all(names.map((name) => this.#sizeOf(name)));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  /** @returns undefined for an incomplete entry */
  async read(name: string): Promise<OutboxEntry | undefined> {
    return unpackEntry(await readFile(join(this.#folder, name)));
  }

  /** Forgets an entry that has arrived. */
  async remove(name: string): Promise<void> {
    const size = await this.#sizeOf(name).catch(() => undefined);
    this.#sizes.delete(name);
    try {
      await unlink(join(this.#folder, name));
    } catch (error) {
      // Erased meanwhile: the eraser has counted it.
      if (!hasCode(error, 'ENOENT')) throw error;
      return;
    }
    if (size !== undefined) this.#forget(size);
  }

  /** Sets an undeliverable entry aside with the reason: a person may still need it. */
  async reject(name: string, reason: unknown): Promise<void> {
    const path = join(this.#folder, name);
    const size = await this.#sizeOf(name);
    await this.#write(join(this.#folder, REJECTED, `${name}.reason`), Buffer.from(`${errorText(reason)}\n`));
    await rename(path, join(this.#folder, REJECTED, name));
    this.#sizes.delete(name);
    this.#forget(size);
  }

  #isFull(furtherBytes: number): boolean {
    return this.#entries >= this.#limits.maxEntries || this.#bytes + furtherBytes > this.#limits.maxBytes;
  }

  /** Counts the folder's entries and those being written. */
  async #count(): Promise<void> {
    const found = (await readdir(this.#folder)).filter(isEntryName);
    const names = new Set([...found, ...this.#writing]);
    for (const name of this.#sizes.keys()) if (!names.has(name)) this.#sizes.delete(name);
    let bytes = 0;
    for (const name of names) bytes += await this.#sizeOf(name).catch(() => 0);
    for (const name of this.#writing) {
      // Begun meanwhile.
      if (!names.has(name)) bytes += this.#sizes.get(name) ?? 0;
      names.add(name);
    }
    this.#entries = names.size;
    this.#bytes = bytes;
  }

  async #sizeOf(name: string): Promise<number> {
    return this.#sizes.get(name) ?? (await stat(join(this.#folder, name))).size;
  }

  #forget(size: number): void {
    this.#entries = Math.max(0, this.#entries - 1);
    this.#bytes = Math.max(0, this.#bytes - size);
  }
}

type WriteThrough = (path: string, bytes: Uint8Array) => Promise<void>;

async function writeThrough(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

function writeError(message: string, cause: unknown): OutboxWriteError {
  const errno = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
  return new OutboxWriteError(message, { cause, facts: { errno } });
}

/** What the outbox holds for the store and the queue. */
export interface OutboxEntry {
  readonly kind: string;
  readonly body: unknown;
}

const packed = z.object({ kind: z.string(), body: z.unknown() });

/** One line: the SHA-256 of the rest in hex, a space, JSON, a line feed. What was torn in writing does not match. */
export function packEntry(entry: { readonly kind: string; readonly body: JsonValue }): Uint8Array {
  const json = JSON.stringify(entry);
  return Buffer.from(`${digest(json)} ${json}\n`);
}

/** @returns undefined when the bytes are not exactly what `packEntry` made */
export function unpackEntry(bytes: Uint8Array): OutboxEntry | undefined {
  const text = Buffer.from(bytes).toString('utf8');
  const json = text.slice(65, -1);
  if (!text.endsWith('\n') || text[64] !== ' ' || text.slice(0, 64) !== digest(json)) return undefined;
  const { kind, body } = packed.parse(JSON.parse(json));
  return { kind, body };
}

function digest(json: string): string {
  return createHash('sha256').update(json).digest('hex');
}

/** A file name that sorts by time, then by the order within one process. */
export function entryName(wallMs: number, pid: number, order: number): string {
  const part = (value: number, width: number): string => String(Math.max(0, Math.trunc(value))).padStart(width, '0');
  return `${part(wallMs, 15)}-${part(pid, 10)}-${part(order, 12)}.entry`;
}

export function isEntryName(name: string): boolean {
  return /^\d{15}-\d{10}-\d{12}\.entry$/.test(name);
}
