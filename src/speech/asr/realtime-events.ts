import { z } from 'zod';
import type { FailureKind } from '../client/errors.ts';
import type { RecognitionEvent, RecognitionOptions } from '../port.ts';

const count = z.number().int().nonnegative().optional().catch(undefined);
const words = z.string().nullish().catch(undefined);
// Each field is read by itself: a malformed one counts as missing, and the others stay.
const wireEvent = z.looseObject({
  type: z.string(),
  seg: count,
  segment_id: count,
  text: words,
  language: words,
  end: z.number().nonnegative().optional().catch(undefined),
  end_of_utterance: z.boolean().optional().catch(undefined),
  error: z
    .union([z.string(), z.looseObject({ message: z.string().optional() })])
    .optional()
    .catch(undefined),
  message: words,
  detail: words,
  reason: words,
  code: words,
  warnings: z.array(z.string()).catch([]),
});

/** A message of the recogniser; `unknown` ones are logged and dropped. */
export type RealtimeEvent =
  /** `warnings`: options that the embedded platform ignores. */
  | { readonly type: 'ready'; readonly warnings: readonly string[] }
  | { readonly type: 'partial' | 'refined'; readonly seg: number | undefined; readonly text: string }
  | {
      readonly type: 'final';
      readonly seg: number | undefined;
      readonly text: string;
      readonly endOfUtterance: boolean | undefined;
      readonly language: string | undefined;
      /** End of the segment in the session's audio, in seconds, if the platform states it. */
      readonly endS: number | undefined;
      /**
       * Whether it answers a commit, where the recogniser marks that. With the mark an empty final that answers none is dropped,
       * and a final ends the utterance of an open commit only when it covers the audio before it.
       */
      readonly isAnswer?: boolean;
    }
  | { readonly type: 'done' }
  /** `code` where the platform gives one: Variant B alone. `kind` where the recogniser says more than a text. */
  | { readonly type: 'error'; readonly error: string; readonly code: string | undefined; readonly kind?: FailureKind }
  | { readonly type: 'warning'; readonly text: string }
  | { readonly type: 'unknown'; readonly name: string };

/**
 * Reads one text frame (ASR doc, "Events"; payloads as publicly known, older names included).
 * @param finalIsWhole Variant B: a `final` is not a segment, but everything once more at the end of a connection
 * @returns undefined for a frame that is not JSON: a protocol error
 */
export function readRealtimeEvent(frame: string, finalIsWhole = false): RealtimeEvent | undefined {
  let value: unknown;
  try {
    value = JSON.parse(frame);
  } catch {
    return undefined;
  }
  const parsed = wireEvent.safeParse(value);
  if (!parsed.success) return { type: 'unknown', name: 'no type' };
  const event = parsed.data;
  const seg = event.seg ?? event.segment_id;
  const text = event.text ?? '';
  switch (event.type) {
    case 'ready':
      return { type: 'ready', warnings: event.warnings };
    case 'done':
      return { type: 'done' };
    case 'partial':
      return { type: 'partial', seg, text };
    case 'final':
    case 'final_segment': {
      if (event.type === 'final' && finalIsWhole) return { type: 'done' };
      const { end_of_utterance: endOfUtterance, language, end: endS } = event;
      return { type: 'final', seg, text, endOfUtterance, language: language?.slice(0, 35), endS };
    }
    case 'final_refined':
      return { type: 'refined', seg, text };
    case 'error':
      return { type: 'error', error: errorOf(event), code: event.code?.slice(0, 80) ?? undefined };
    default:
      return { type: 'unknown', name: event.type.slice(0, 40) };
  }
}

/** The documents say `error`; older services `message`. */
function errorOf({ error, message, detail, reason }: z.output<typeof wireEvent>): string {
  const said = typeof error === 'string' ? error : error?.message;
  return (said ?? message ?? detail ?? reason ?? 'the recogniser failed without a reason').slice(0, 500);
}

/** Time and socket state at a step, read only by the steps that need them. */
export interface At {
  readonly nowMs: number;
  /** Sent bytes that the kernel has not taken yet. */
  readonly bufferedBytes: number;
  /** When anything last came over the socket, the answer to a ping included; now when absent. */
  readonly heardMs?: number;
}

/** Effects that the session has to carry out, in order. */
export type Effect =
  /**
   * Get a token, a fresh one when the last may have been refused, and open a socket with these options, also where later ones came
   * while the token was fetched.
   */
  | { readonly type: 'connect'; readonly freshToken: boolean; readonly options: RecognitionOptions }
  | { readonly type: 'send'; readonly data: string | Uint8Array }
  | { readonly type: 'disconnect' }
  /** Find out whether the socket lives. */
  | { readonly type: 'ping' }
  | { readonly type: 'emit'; readonly event: RecognitionEvent }
  | { readonly type: 'warning'; readonly text: string }
  | { readonly type: 'unknown-event'; readonly name: string };

/** The result of most steps, such as a frame that only fills a batch. */
export const NO_EFFECTS: readonly Effect[] = [];
