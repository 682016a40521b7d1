import type { AnalysisSegment } from './analysis.ts';

export interface Transcription {
  readonly text: string;
  readonly segments: readonly AnalysisSegment[];
  /** The platform's id of the request, for its support. */
  readonly requestId: string | undefined;
}

/** What a job needs of the platform's batch endpoint. */
export interface BatchTranscriber {
  /**
   * @param wavPath a WAV file, mono, which may be large and is there until this settles
   * @throws OffhookError, whose `retryable` decides whether the job is tried again
   */
  transcribe(
    wavPath: string,
    options: { readonly language: string; readonly verbose: boolean; readonly signal: AbortSignal },
  ): Promise<Transcription>;
}
