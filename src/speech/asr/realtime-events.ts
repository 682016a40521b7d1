import { z } from 'zod';

const wireEvent = z.looseObject({
  type: z.string(),
  seg: z.number().int().nonnegative().optional(),
  segment_id: z.number().int().nonnegative().optional(),
  text: z.string().optional(),
  language: z.string().nullish(),
  end_of_utterance: z.boolean().optional(),
  error: z.union([z.string(), z.looseObject({ message: z.string().optional() })]).optional(),
  message: z.string().optional(),
  detail: z.string().optional(),
  reason: z.string().optional(),
});

/** A message of the recogniser in our words; `unknown` ones are counted and dropped. */
export type RealtimeEvent =
  | { readonly type: 'ready' }
  | { readonly type: 'partial' | 'refined'; readonly seg: number | undefined; readonly text: string }
  | {
      readonly type: 'final';
      readonly seg: number | undefined;
      readonly text: string;
      readonly endOfUtterance: boolean | undefined;
      readonly language: string | undefined;
    }
  | { readonly type: 'done' }
  | { readonly type: 'error'; readonly error: string }
  | { readonly type: 'unknown'; readonly name: string };

/**
 * Reads one text frame (ASR doc, "Events"; payloads as publicly known, older names included).
 * @returns undefined for a frame that is not a JSON object with a type: a protocol error
 */
export function readRealtimeEvent(frame: string): RealtimeEvent | undefined {
  let value: unknown;
  try {
    value = JSON.parse(frame);
  } catch {
    return undefined;
  }
  const parsed = wireEvent.safeParse(value);
  if (!parsed.success) return undefined;
  const event = parsed.data;
  const seg = event.seg ?? event.segment_id;
  const text = event.text ?? '';
  switch (event.type) {
    case 'ready':
    case 'done':
      return { type: event.type };
    case 'partial':
      return { type: 'partial', seg, text };
    case 'final':
    case 'final_segment':
      return { type: 'final', seg, text, endOfUtterance: event.end_of_utterance, language: event.language ?? undefined };
    case 'final_refined':
      return { type: 'refined', seg, text };
    case 'error': {
      const { error } = event;
      const said = typeof error === 'string' ? error : error?.message;
      return {
        type: 'error',
        error: said ?? event.message ?? event.detail ?? event.reason ?? 'the recogniser failed without a reason',
      };
    }
    default:
      return { type: 'unknown', name: event.type };
  }
}
