import { type FileHandle, mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { z } from 'zod';
import { hasCode } from '../../kernel/errors.ts';
import { FileLock } from '../../kernel/file-lock.ts';
import { type ChainHead, type ChainReport, FIRST_HASH, type KeptHead, verifyLinks } from '../../kernel/hash-chain.ts';
import { parseJson } from '../../kernel/json.ts';
import { unlessMissing } from '../../kernel/temporary.ts';
import {
  type AuditLine,
  chainedLine,
  chainedLines,
  type LogTail,
  linesBackwards,
  readAuditLine,
  tailOf,
  Uncovered,
} from './audit-lines.ts';

export type { AuditLine } from './audit-lines.ts';

/** The file's name in the data folder. */
export const AUDIT_FILE = 'audit.jsonl';

/** An action of a person or program, without callers' words or numbers. */
export interface AuditEvent extends Omit<AuditLine, 'at' | 'by' | 'action' | 'subject' | 'reason'> {
  /** The id of an API key, `console` and the name of one of its people, or the name of a command. */
  readonly by: string;
  /** For example `live-call.mute`, `hold.set`, or `look`. */
  readonly action: string;
  /** Its subject: the id of a call; for a look, the API path. */
  readonly subject: string;
  /** The person's reason. */
  readonly reason?: string | undefined;
  /** When, in ms since the epoch; now when absent. */
  readonly atMs?: number;
}

export interface AuditPage {
  /** Newest first. */
  readonly lines: readonly AuditLine[];
  /** Start of the next page; undefined at the beginning of the log. */
  readonly before: number | undefined;
}

/** The end of the log of a data folder. */
export interface LogHead extends ChainHead {
  /** Random id of the log. */
  readonly log: string;
}

export interface AuditReport extends ChainReport {
  readonly log: string | undefined;
  /** The first entry in these files; earlier ones were moved away. */
  readonly firstSequence: number | undefined;
  /** Bytes after the last entry: a killed process's partial line, or lines of an earlier version. */
  readonly uncoveredBytes: number;
}

/** Most bytes read for a page; for rare entries a page may be shorter. */
const MOST_BYTES_A_PAGE = 4_194_304;

const headFile = z.object({ log: z.string().min(1), sequence: z.int().min(1), hash: z.string() });

/** A head with its file. */
interface WrittenHead extends LogHead {
  readonly inode: number;
  readonly size: number;
}

/**
 * A log of actions, one line of JSON each, append-only. Each line holds the hash of the one before, across all writing processes. `audit.head` beside
 * it has the end of the chain, from which a new file continues after the old one was moved away.
 */
export class AuditLog {
  readonly #path: string;
  readonly #wallMs: () => number;
  #waiting: { readonly says: readonly AuditLine[]; readonly done: (error?: unknown) => void }[] = [];
  #isWriting = false;
  #written: WrittenHead | undefined;

  constructor(path: string, wallMs: () => number) {
    this.#path = path;
    this.#wallMs = wallMs;
  }

  /** On disk when it returns. @throws Error when the disk refuses */
  add(event: AuditEvent): Promise<void> {
    return this.addAll([event]);
  }

  /** The same for several, one after the other. */
  addAll(events: readonly AuditEvent[]): Promise<void> {
    const says = events.map(({ atMs = this.#wallMs(), by, tenantId, action, subject, outcome, reason }) => {
      return { at: new Date(atMs).toISOString(), by, tenantId, action, subject, outcome, reason };
    });
    return new Promise((resolve, reject) => {
      this.#waiting.push({ says, done: (error) => (error === undefined ? resolve() : reject(error)) });
      if (!this.#isWriting) void this.#write();
    });
  }

  /** Writes all waiting entries at once: the disk is slower than the callers. */
  async #write(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      const error = await this.#append(batch.flatMap(({ says }) => says)).then(
        () => undefined,
        (refused: unknown) => refused ?? new Error('the audit log was not written'),
      );
      for (const { done } of batch) done(error);
    }
    this.#isWriting = false;
  }

  async #append(says: readonly AuditLine[]): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true });
    for (let isDone = false; !isDone;) {
      const lock = await FileLock.takeSoon(`${this.#path}.lock`);
      if (lock === undefined) throw new Error('other processes have been writing to the audit log for too long');
      try {
        const file = await open(this.#path, 'a+', 0o600);
        try {
          isDone = await this.#appendTo(file, says, lock);
        } finally {
          await file.close();
        }
      } finally {
        lock.release();
      }
    }
  }

  /** @returns false when the lock was lost meanwhile: nothing was written */
  async #appendTo(file: FileHandle, says: readonly AuditLine[], lock: FileLock): Promise<boolean> {
    const { ino: inode, size } = await file.stat();
    const known = this.#written;
    const isKnown = known !== undefined && known.inode === inode && known.size === size;
    const tail: LogTail = isKnown ? { last: undefined, uncovered: undefined, endsInLine: true } : await tailOf(file, size);
    // The longest is right: the file may have been cut or moved, and the head is written after the lines.
    const heads = [known, isKnown ? undefined : await this.head(), tail.last].filter((head) => head !== undefined);
    const log = heads[0]?.log ?? randomBytes(8).toString('hex');
    let head = heads
      .filter((each) => each.log === log)
      .reduce<ChainHead>((one, other) => (other.sequence > one.sequence ? other : one), { sequence: 0, hash: FIRST_HASH });
    let text = tail.endsInLine ? '' : '\n';
    for (const [index, each] of says.entries()) {
      const isFirst = index === 0;
      const line = chainedLine(each, {
        log,
        sequence: head.sequence + 1,
        ...(isFirst && size === 0 && head.sequence > 0 && { newFile: true }),
        ...(isFirst && tail.uncovered && { covers: tail.uncovered }),
        previousHash: head.hash,
      });
      text += line.text;
      head = { sequence: head.sequence + 1, hash: line.hash };
    }
    if (!lock.isHeld) return false;
    // If the disk refuses, the chain's end stays known, but not the file's.
    this.#written = known && { ...known, size: -1 };
    await file.appendFile(text);
    await file.datasync();
    this.#written = { log, ...head, inode, size: size + Buffer.byteLength(text) };
    await this.#keepHead({ log, ...head });
    return true;
  }

  get #headPath(): string {
    return this.#path.replace(/(?:\.jsonl)?$/u, '.head');
  }

  /** The lines are on disk: without this, the chain's end is found in the file. */
  async #keepHead(head: LogHead): Promise<void> {
    const path = `${this.#headPath}.new`;
    await writeFile(path, `${JSON.stringify(head)}\n`, { mode: 0o600 });
    await rename(path, this.#headPath);
  }

  /** The end of the log as stored beside it; undefined before the first entry. */
  async head(): Promise<LogHead | undefined> {
    const text = await readFile(this.#headPath, 'utf8').catch(unlessMissing(''));
    return headFile.safeParse(parseJson(text)).data;
  }

  /**
   * Reads the log from its first entry, and reports changed, removed, added or moved entries. A concurrently added entry may be missed.
   * @param kept earlier heads stored elsewhere; one naming another log is ignored
   * @param older files that were moved away, oldest first
   * @throws the file system's error
   */
  async verify(kept: Iterable<KeptHead & { readonly of?: string }> = [], older: readonly string[] = []): Promise<AuditReport> {
    const uncovered = new Uncovered();
    // Before the lines: a concurrently added one is not a fault.
    const head = await this.head();
    let log = head?.log;
    let firstSequence: number | undefined;
    const isOther = ({ of }: { readonly of?: string }): boolean => of !== undefined && log !== undefined && of !== log;
    const isThere = await open(this.#path, 'r').then((file) => file.close().then(() => true), unlessMissing(false));
    const report = await verifyLinks(
      chainedLines([...older, ...(isThere ? [this.#path] : [])], uncovered),
      {
        isOwn: (line) => {
          log ??= line.log;
          firstSequence ??= line.sequence;
          return line.log === log;
        },
        faultOf: ({ isSound, before }) =>
          !isSound || before === 'changed' ? 'changed' : before === 'added' ? 'added' : undefined,
        mayBegin: ({ newFile }) => newFile === true,
      },
      [...Array.from(kept, (each) => (isOther(each) ? { hash: each.hash } : each)), ...(head === undefined ? [] : [head])],
    );
    return { ...report, log, firstSequence, uncoveredBytes: uncovered.bytes };
  }

  /** Matching entries, newest first. */
  async *entries(wants: (line: AuditLine) => boolean): AsyncGenerator<AuditLine> {
    for (let before: number | undefined; ;) {
      const page = await this.page(wants, { limit: 1000, before });
      yield* page.lines;
      if (page.before === undefined) return;
      before = page.before;
    }
  }

  /**
   * The log backwards from its end, or from `before`.
   * @param wants filter
   * @returns `limit` lines, or fewer where matches are rare
   */
  async page(
    wants: (line: AuditLine) => boolean,
    { limit, before }: { readonly limit: number; readonly before?: number | undefined },
  ): Promise<AuditPage> {
    const lines: AuditLine[] = [];
    let file: FileHandle;
    try {
      file = await open(this.#path, 'r');
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return { lines, before: undefined };
      throw error;
    }
    try {
      const first = Math.min(before ?? Number.POSITIVE_INFINITY, (await file.stat()).size);
      for await (const { at, bytes } of linesBackwards(file, first)) {
        const line = readAuditLine(bytes);
        if (line !== undefined && wants(line)) lines.push(line);
        if (at > 0 && (lines.length === limit || first - at > MOST_BYTES_A_PAGE)) return { lines, before: at };
      }
      return { lines, before: undefined };
    } finally {
      await file.close();
    }
  }
}
