import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { hasCode } from '../../kernel/errors.ts';

/** The file's name in the data folder. */
export const AUDIT_FILE = 'audit.jsonl';

/** One action of a person or a program, without words or numbers of callers. */
export interface AuditEvent {
  /** The id of an API key, `console` and the name of one of its people, or the name of a command. */
  readonly by: string;
  readonly tenantId: string;
  /** For example `live-call.mute`, `hold.set`, or `look`. */
  readonly action: string;
  /** What it was done to: the id of a call, or of a look the path in the API. */
  readonly subject: string;
  readonly outcome: 'done' | 'refused' | 'failed';
  /** When, in ms since the epoch; now when absent. */
  readonly atMs?: number;
}

const auditLine = z.object({
  at: z.iso.datetime(),
  by: z.string(),
  tenantId: z.string(),
  action: z.string(),
  subject: z.string(),
  outcome: z.enum(['done', 'refused', 'failed']),
});
export type AuditLine = z.output<typeof auditLine>;

export interface AuditPage {
  /** Newest first. */
  readonly lines: readonly AuditLine[];
  /** Where the next page begins; undefined at the beginning of the log. */
  readonly before: number | undefined;
}

/** Read at once, and read for one page of a rare kind: more gives a shorter page. */
const CHUNK_BYTES = 65_536;
const MOST_BYTES_A_PAGE = 4_194_304;
const NEWLINE = 10;

/** Who did what, one line of JSON each, in a file that only grows; any number of processes may write to it. */
export class AuditLog {
  readonly #path: string;
  readonly #wallMs: () => number;

  constructor(path: string, wallMs: () => number) {
    this.#path = path;
    this.#wallMs = wallMs;
  }

  /** On the disk when it returns. @throws Error when the disk refuses */
  add(event: AuditEvent): Promise<void> {
    return this.addAll([event]);
  }

  /** The same for several, written at once. */
  async addAll(events: readonly AuditEvent[]): Promise<void> {
    const lines = events.map(({ atMs = this.#wallMs(), ...event }) => {
      return `${JSON.stringify({ at: new Date(atMs).toISOString(), ...event })}\n`;
    });
    await mkdir(dirname(this.#path), { recursive: true });
    const file = await open(this.#path, 'a', 0o600);
    try {
      await file.appendFile(lines.join(''));
      await file.datasync();
    } finally {
      await file.close();
    }
  }

  /**
   * The log from its end, or from `before`, backwards.
   * @param wants which lines
   * @returns `limit` lines, or fewer where many others lie between
   */
  async page(
    wants: (line: AuditLine) => boolean,
    { limit, before }: { readonly limit: number; readonly before?: number | undefined },
  ): Promise<AuditPage> {
    const lines: AuditLine[] = [];
    let file: Awaited<ReturnType<typeof open>>;
    try {
      file = await open(this.#path, 'r');
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return { lines, before: undefined };
      throw error;
    }
    try {
      let end = Math.min(before ?? Number.POSITIVE_INFINITY, (await file.stat()).size);
      const first = end;
      /** What of a line was read before its beginning was. */
      let rest = Buffer.alloc(0);
      while (end > 0) {
        const start = Math.max(0, end - CHUNK_BYTES);
        const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(end - start), position: start });
        let bytes = Buffer.concat([buffer.subarray(0, bytesRead), rest]);
        end = start;
        for (let at = lastLine(bytes, start); at !== undefined; at = lastLine(bytes, start)) {
          const line = readLine(bytes.subarray(at));
          bytes = bytes.subarray(0, at);
          if (line === undefined || !wants(line)) continue;
          lines.push(line);
          if (lines.length === limit) return { lines, before: start + at === 0 ? undefined : start + at };
        }
        rest = bytes;
        if (first - end > MOST_BYTES_A_PAGE) return { lines, before: end + rest.length };
      }
      return { lines, before: undefined };
    } finally {
      await file.close();
    }
  }
}

/** Where the last whole line begins; undefined where its beginning is not there. */
function lastLine(bytes: Buffer, start: number): number | undefined {
  if (bytes.length === 0) return undefined;
  const at = bytes.length < 2 ? -1 : bytes.lastIndexOf(NEWLINE, bytes.length - 2);
  if (at >= 0) return at + 1;
  return start === 0 ? 0 : undefined;
}

/** Lines of versions to come, and those that a crash cut short, are left out. */
function readLine(bytes: Buffer): AuditLine | undefined {
  try {
    return auditLine.safeParse(JSON.parse(bytes.toString('utf8'))).data;
  } catch {
    return undefined;
  }
}
