import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { z } from 'zod';
import { OffhookError } from '../kernel/errors.ts';
import { parseJson } from '../kernel/json.ts';
import { listenerNames, type ListenerPorts } from './server/listener/http-app.ts';

/** What a parent process sends to the platform over stdin; arguments would be visible to every user. */
export interface Handover {
  /** Used instead of a new development key, so that clients survive a restart of the platform. */
  readonly apiKey?: string | undefined;
  readonly ports?: ListenerPorts | undefined;
}

/** The parent sent no valid first line. */
export class HandoverError extends OffhookError {
  readonly code = 'OFFHOOK_PLATFORM_HANDOVER';
  readonly retryable = false;
}

const port = z.int().min(0).max(65_535);
const handoverSchema = z.object({
  apiKey: z.string().min(1).max(512).optional(),
  ports: z.object({ auth: port, asr: port, asrAlt: port, med: port, tts: port }).optional(),
});

const maxLineBytes = 4096;
/** Longest later line, which has the vocabulary of many bots. */
const maxMessageBytes = 4 * 1024 * 1024;

/** What the parent may send in a line after the first one. */
const messageSchema = z.object({
  /** Phrases that callers may answer, by language, in place of those sent before. */
  vocabulary: z.record(z.string(), z.array(z.string())),
});
export interface ParentMessage {
  readonly vocabulary: Readonly<Record<string, readonly string[]>>;
}

/** What the platform tells its parent in a line of standard output, after the line with its addresses. */
export const progressSchema = z.object({
  learning: z.object({
    of: z.number(),
    learnt: z.number(),
    failed: z.number(),
    leftMs: z.number().optional(),
  }),
});

/** One line of JSON. */
export function messageLine(message: ParentMessage): string {
  return `${JSON.stringify(message)}\n`;
}

/** Calls back for each whole line after the first one; others are dropped. Lets the stream flow. */
export function onMessages(input: Readable, take: (message: ParentMessage) => void): void {
  let pending = '';
  const decoder = new StringDecoder('utf8');
  input.on('data', (chunk: Buffer | string) => {
    pending += typeof chunk === 'string' ? chunk : decoder.write(chunk);
    const lines = pending.split('\n');
    pending = lines.pop() ?? '';
    if (pending.length > maxMessageBytes) pending = '';
    for (const line of lines) {
      const message = messageSchema.safeParse(parseJson(line));
      if (message.success) take(message.data);
    }
  });
}

/** One line of JSON. */
export function handoverLine(handover: Handover): string {
  return `${JSON.stringify(handover)}\n`;
}

/** Reads the first line and leaves the rest in the stream. @throws HandoverError */
export async function readHandover(input: Readable): Promise<Handover> {
  let line = '';
  // A plain iteration would destroy the stream, whose end is watched later.
  for await (const chunk of input.iterator({ destroyOnReturn: false })) {
    line += String(chunk);
    if (line.includes('\n') || line.length > maxLineBytes) break;
  }
  const end = line.indexOf('\n');
  if (end === -1) throw new HandoverError('the parent closed its pipe, or wrote too much, before the end of its first line');
  try {
    return handoverSchema.parse(JSON.parse(line.slice(0, end)));
  } catch (error) {
    // The line is not quoted: it may contain a key.
    throw new HandoverError(`the first line from the parent is not JSON with apiKey and ports (${listenerNames.join(', ')})`, {
      cause: error instanceof z.ZodError ? error : undefined,
    });
  }
}
