import type { Readable } from 'node:stream';
import { z } from 'zod';
import { OffhookError } from '../kernel/errors.ts';
import { listenerNames, type ListenerPorts } from './server/listener/listen.ts';

/** What a parent process hands to the platform over its standard input: never arguments, which every user can list. */
export interface Handover {
  /** Used in place of a new development key, so that a restarted platform knows its clients. */
  readonly apiKey?: string | undefined;
  readonly ports?: ListenerPorts | undefined;
}

/** The parent did not hand over what it promised. */
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

/** One line of JSON. */
export function handoverLine(handover: Handover): string {
  return `${JSON.stringify(handover)}\n`;
}

/** Reads the first line; what follows it is left in the stream. @throws HandoverError */
export async function readHandover(input: Readable): Promise<Handover> {
  let line = '';
  // Leaving a plain iteration would destroy the stream, whose end is still to be watched.
  for await (const chunk of input.iterator({ destroyOnReturn: false })) {
    line += String(chunk);
    if (line.includes('\n') || line.length > maxLineBytes) break;
  }
  const end = line.indexOf('\n');
  if (end === -1) throw new HandoverError('the parent closed its pipe, or wrote too much, before the end of its first line');
  try {
    return handoverSchema.parse(JSON.parse(line.slice(0, end)));
  } catch (error) {
    // The line may hold a key: it is not repeated.
    throw new HandoverError(`the first line from the parent is not JSON with apiKey and ports (${listenerNames.join(', ')})`, {
      cause: error instanceof z.ZodError ? error : undefined,
    });
  }
}
