import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { JsonValue } from '../queue/port.ts';

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
