import type { TranscriptionOptions } from '../../speech/asr/transcription-options.ts';
import type { TranscriptionResult } from '../../speech/asr/transcription-result.ts';
import type { MedicalResult } from '../../speech/asr/medical.ts';
import type { Segment } from './transcript.ts';

/** What the platform understood; what was not asked for is not there. */
export interface Transcription
  extends
    Pick<TranscriptionResult, 'text' | 'requestId'>,
    Partial<
      Pick<
        TranscriptionResult,
        | 'words'
        | 'detectedLanguage'
        | 'speakers'
        | 'speakerTurns'
        | 'speakersIdentified'
        | 'emotionSummary'
        | 'analysis'
        | 'durationS'
        | 'warnings'
        | 'unrecognised'
      >
    > {
  readonly segments: readonly Segment[];
}

export interface TranscriptionRequest {
  readonly language: string;
  readonly verbose: boolean;
  /** Whatever else is asked; `language` and `verbose` stand as above. */
  readonly recognition?: TranscriptionOptions;
  readonly signal: AbortSignal;
}

/** What a job needs of the platform's batch endpoint. */
export interface BatchTranscriber {
  /**
   * @param path a large file in an accepted format, kept until this settles
   * @throws OffhookError, whose `retryable` decides whether the job is retried
   */
  transcribe(path: string, request: TranscriptionRequest): Promise<Transcription>;
  /** With the medical model; undefined where no medical service is configured. Splits what is too large. */
  readonly transcribeMedical?:
    | ((path: string, options: { readonly diarize: boolean; readonly signal: AbortSignal }) => Promise<MedicalResult>)
    | undefined;
}
