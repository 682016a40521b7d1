import { z } from 'zod';
import type { Encoding } from '../../audio/format.ts';

const words = z.string().nullish().catch(undefined);
const wireEvent = z.looseObject({
  type: z.string(),
  request_id: words,
  // Not lenient: with a wrong index or count, order cannot be told.
  chunk_index: z.number().int().optional(),
  format: z.string().optional(),
  sample_rate: z.number().int().positive().optional(),
  total_chunks: z.number().int().nonnegative().optional(),
  error: z
    .union([z.string(), z.looseObject({ message: z.string().optional() })])
    .nullish()
    .catch(undefined),
  message: words,
  error_message: words,
  status: words,
});

/** A JSON message of the synthesizer in our words (TTS doc, "Events"). */
export type SynthesisEvent =
  | {
      readonly type: 'chunk';
      readonly index: number | undefined;
      readonly format: string | undefined;
      readonly rateHz: number | undefined;
      readonly requestId: string | undefined;
    }
  | { readonly type: 'completion'; readonly totalChunks: number | undefined }
  | { readonly type: 'error'; readonly error: string; readonly requestId: string | undefined }
  | { readonly type: 'ignored' };

/** @returns undefined for a frame that is not a JSON object with a type, or whose order or format cannot be read */
export function readSynthesisEvent(frame: string): SynthesisEvent | undefined {
  let value: unknown;
  try {
    value = JSON.parse(frame);
  } catch {
    return undefined;
  }
  const parsed = wireEvent.safeParse(value);
  if (!parsed.success) return undefined;
  const event = parsed.data;
  const requestId = event.request_id ?? undefined;
  if (event.type === 'error' || (event.type === 'completion' && event.status === 'error')) {
    const said = typeof event.error === 'string' ? event.error : event.error?.message;
    return {
      type: 'error',
      error: (said ?? event.error_message ?? event.message ?? 'the synthesizer failed without a reason').slice(0, 500),
      requestId,
    };
  }
  if (event.type === 'chunk')
    return { type: 'chunk', index: event.chunk_index, format: event.format, rateHz: event.sample_rate, requestId };
  // `done` is what a later generation of the interface says instead.
  if (event.type === 'completion' || event.type === 'done') return { type: 'completion', totalChunks: event.total_chunks };
  return { type: 'ignored' };
}

/** The encoding a chunk's format names; undefined for one that a phone line cannot take as it is. */
export function encodingOf(name: string): Encoding | undefined {
  switch (name) {
    case 'mulaw':
    case 'ulaw':
      return 'mulaw';
    case 'alaw':
      return 'alaw';
    case 'pcm':
      return 'pcm16';
    default:
      return undefined;
  }
}
