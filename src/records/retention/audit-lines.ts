import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { z } from 'zod';
import type { ChainLink } from '../../kernel/hash-chain.ts';
import { readFileParts } from '../../kernel/file-streams.ts';
import { parseJson } from '../../kernel/json.ts';

/** The content of a line of the audit log. */
export const auditLine = z.object({
  at: z.iso.datetime(),
  by: z.string(),
  tenantId: z.string(),
  action: z.string(),
  subject: z.string(),
  outcome: z.enum(['done', 'refused', 'failed']),
  reason: z.string().optional(),
});
export type AuditLine = z.output<typeof auditLine>;

const hash = z.string().regex(/^[0-9a-f]{64}$/u);

/** A line's chain fields, after its content. */
const chainFacts = z.object({
  /** Id of the log, which separates lines of different logs. */
  log: z.string().min(1).max(100),
  sequence: z.int().min(1),
  /** The first line of a new file, after the old one was moved away. */
  newFile: z.literal(true).optional(),
  /** Unchained bytes between the previous line and this one: a killed process's partial line, or lines of unchained earlier versions. */
  covers: z.object({ bytes: z.int().min(1), sha256: hash }).optional(),
  previousHash: hash,
});
export type ChainFacts = z.output<typeof chainFacts>;

/** A chained line in a file. */
export type ChainedLine = Readonly<ChainFacts> &
  ChainLink & {
    /** Whether its hash matches its text. */
    readonly isSound: boolean;
  };

/** `,"hash":"…"}`, which ends each line of the chain. */
const HASH_BYTES = 75;
const NEWLINE = 10;
/** Longest valid line. */
const MOST_LINE_BYTES = 4_194_304;
const CHUNK_BYTES = 65_536;

/** A chained line: its hash is the SHA-256 of the text before `,"hash":`, which includes the previous hash. */
export function chainedLine(says: AuditLine, facts: ChainFacts): { readonly text: string; readonly hash: string } {
  const text = JSON.stringify({ ...says, ...facts }).slice(0, -1);
  const digest = createHash('sha256').update(text).digest('hex');
  return { text: `${text},"hash":"${digest}"}\n`, hash: digest };
}

/** @param bytes one line, with or without its end. @returns undefined for an unchained line */
export function readChained(bytes: Buffer): ChainedLine | undefined {
  const line = bytes.at(-1) === NEWLINE ? bytes.subarray(0, -1) : bytes;
  const [, stored] = /^,"hash":"([0-9a-f]{64})"\}$/u.exec(line.subarray(-HASH_BYTES).toString('latin1')) ?? [];
  if (stored === undefined) return undefined;
  const facts = chainFacts.safeParse(parseJson(line.toString('utf8'))).data;
  if (facts === undefined) return undefined;
  const digest = createHash('sha256').update(line.subarray(0, -HASH_BYTES)).digest('hex');
  return { ...facts, hash: stored, isSound: digest === stored };
}

/** Lines of later versions and torn ones are skipped. */
export function readAuditLine(bytes: Buffer): AuditLine | undefined {
  return auditLine.safeParse(parseJson(bytes.toString('utf8'))).data;
}

/** A file's lines from `end` backwards, each with its end of line and its position. Memory for one line and a chunk. */
export async function* linesBackwards(file: FileHandle, end: number): AsyncGenerator<{ at: number; bytes: Buffer }> {
  /** The part of a line read before its beginning. */
  let rest = Buffer.alloc(0);
  for (let to = end; to > 0;) {
    const start = Math.max(0, to - CHUNK_BYTES);
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(to - start), position: start });
    let bytes = Buffer.concat([buffer.subarray(0, bytesRead), rest]);
    to = start;
    for (let at = lastLine(bytes, start); at !== undefined; at = lastLine(bytes, start)) {
      yield { at: start + at, bytes: bytes.subarray(at) };
      bytes = bytes.subarray(0, at);
    }
    rest = bytes;
  }
}

/** Start of the last complete line; undefined if not in these bytes. */
function lastLine(bytes: Buffer, start: number): number | undefined {
  if (bytes.length === 0) return undefined;
  const at = bytes.length < 2 ? -1 : bytes.lastIndexOf(NEWLINE, bytes.length - 2);
  if (at >= 0) return at + 1;
  return start === 0 ? 0 : undefined;
}

/** SHA-256 and length of unchained bytes. */
export class Uncovered {
  #hash = createHash('sha256');
  bytes = 0;

  add(part: Uint8Array): void {
    this.#hash.update(part);
    this.bytes += part.length;
  }

  /** Resets. @returns undefined for no bytes */
  take(): ChainFacts['covers'] {
    const { bytes } = this;
    if (bytes === 0) return undefined;
    const sha256 = this.#hash.digest('hex');
    this.#hash = createHash('sha256');
    this.bytes = 0;
    return { bytes, sha256 };
  }
}

/** The end of a log's file. */
export interface LogTail {
  /** The last line of the chain; undefined for an empty one. */
  readonly last: ChainedLine | undefined;
  /** Bytes after it, including an end of line if the file lacks one at its end. */
  readonly uncovered: ChainFacts['covers'];
  readonly endsInLine: boolean;
}

/** Finds the last line of the chain. */
export async function tailOf(file: FileHandle, size: number): Promise<LogTail> {
  let last: ChainedLine | undefined;
  let from = 0;
  let endsInLine = true;
  for await (const { at, bytes } of linesBackwards(file, size)) {
    if (at + bytes.length === size) endsInLine = bytes.at(-1) === NEWLINE;
    last = readChained(bytes);
    if (last === undefined) continue;
    from = at + bytes.length;
    break;
  }
  const uncovered = new Uncovered();
  while (from < size) {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(Math.min(CHUNK_BYTES, size - from)), position: from });
    if (bytesRead === 0) break;
    uncovered.add(buffer.subarray(0, bytesRead));
    from += bytesRead;
  }
  if (!endsInLine && uncovered.bytes > 0) uncovered.add(Buffer.from('\n'));
  return { last, uncovered: uncovered.take(), endsInLine };
}

/** A chained line, and any fault before it. */
export type FoundLine = ChainedLine & {
  /** Whether the unchained bytes before it are those that it covers; `added` where it covers none. */
  readonly before: 'sound' | 'changed' | 'added';
};

/**
 * Chained lines of several files, in order.
 * @param uncovered holds, at the end, the bytes after the last line of the chain
 */
export async function* chainedLines(paths: readonly string[], uncovered: Uncovered): AsyncGenerator<FoundLine> {
  for (const path of paths) {
    // A partial line at the end of a file that was then moved away is covered by no line.
    uncovered.take();
    for await (const bytes of linesOf(path)) {
      const line = readChained(bytes);
      if (line === undefined) {
        uncovered.add(bytes);
        continue;
      }
      const found = uncovered.take();
      const isAsCovered = found?.bytes === line.covers?.bytes && found?.sha256 === line.covers?.sha256;
      const before = isAsCovered ? 'sound' : line.covers === undefined ? 'added' : 'changed';
      yield { ...line, before };
    }
  }
}

/** Lines with their ends; an overlong one comes in pieces. */
async function* linesOf(path: string): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  for await (const part of readFileParts(path)) {
    let bytes = rest.length === 0 ? Buffer.from(part) : Buffer.concat([rest, part]);
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE)) {
      yield bytes.subarray(0, end + 1);
      bytes = bytes.subarray(end + 1);
    }
    rest = bytes;
    if (rest.length > MOST_LINE_BYTES) {
      yield rest;
      rest = Buffer.alloc(0);
    }
  }
  if (rest.length > 0) yield rest;
}
