/** What a recognition socket sends, as it goes onto the wire (ASR doc, events; payloads from reference, 1.2). */
export type RealtimeEvent =
  | {
      readonly type: 'ready';
      readonly session_id: string;
      /** `auto` when it is to be detected. */
      readonly language: string;
      readonly sample_rate: number;
      readonly diarize: boolean;
      readonly num_speakers?: number;
      readonly codeswitch: boolean;
      /** As applied; only with `compat`, where the client asked for it. */
      readonly endpoint_silence_ms?: number;
      /** What the session was asked for and will not do; absent when there is nothing. */
      readonly warnings?: readonly string[];
    }
  | {
      readonly type: 'partial';
      readonly seg: number;
      /** The whole segment so far. */
      readonly text: string;
      /** What was added since the segment's last partial; the whole text when it was rewritten. */
      readonly delta: string;
      readonly elapsed_ms: number;
      readonly language?: string;
    }
  | FinalEvent<'final'>
  | FinalEvent<'final_refined'>
  /** After the last final of a turn; only with `compat`. */
  | { readonly type: 'utterance_end'; readonly seg: number }
  /** `message`, the same text, only with `compat`. */
  | { readonly type: 'error'; readonly error: string; readonly message?: string };

export interface FinalEvent<Type extends 'final' | 'final_refined'> {
  readonly type: Type;
  readonly seg: number;
  readonly text: string;
  /** Since `ready`. */
  readonly elapsed_ms: number;
  /** Absent where nothing was understood. */
  readonly language?: string;
  /** Seconds of the session's audio. */
  readonly start: number;
  readonly end: number;
  /** Only when the session diarizes; null is unknown. */
  readonly speaker?: string | null;
  /** True on the last final of a commit; absent where the profile does not say. */
  readonly end_of_utterance?: boolean;
}

/** What came after `before` in `text`; the whole text when it was rewritten. */
export function deltaOf(before: string, text: string): string {
  return text.startsWith(before) ? text.slice(before.length).trimStart() : text;
}
