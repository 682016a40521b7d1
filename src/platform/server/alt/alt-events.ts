/** What a Variant B socket sends (reference, 1.2, generation 1). Seconds and milliseconds are of the session's audio. */
export type AltEvent =
  | { readonly type: 'ready'; readonly session_id: string; readonly warnings?: readonly string[] }
  | { readonly type: 'speech_start' | 'speech_end'; readonly segment_id: number; readonly offset_ms: number }
  | (AltText & {
      readonly type: 'partial';
      readonly is_final: false;
      readonly latency_ms: number;
      readonly offset_ms: number;
      readonly duration_ms: number;
    })
  | (AltText & {
      readonly type: 'final_segment';
      readonly is_final: true;
      readonly latency_ms: number;
      readonly offset_ms: number;
      readonly duration_ms: number;
      readonly silence_duration_ms: number;
    })
  /** The whole connection's text, once. */
  | {
      readonly type: 'final';
      readonly text: string;
      readonly language: string;
      readonly is_final: true;
      readonly audio_duration_sec: number;
      readonly inference_time_ms: number;
      readonly connection_duration_sec: number;
    }
  | { readonly type: 'end_of_transcript' }
  | {
      readonly type: 'done';
      readonly total_segments: number;
      readonly total_audio_duration_sec: number;
      readonly connection_duration_sec: number;
    }
  | { readonly type: 'error'; readonly code: AltErrorCode; readonly message: string };

interface AltText {
  readonly text: string;
  readonly language: string;
  readonly segment_id: number;
  readonly audio_duration_sec: number;
}

export type AltErrorCode = 'CAPACITY_FULL' | 'PROTOCOL_ERROR' | 'AUTH_FAILED' | 'TIMEOUT' | 'INTERNAL_ERROR';
