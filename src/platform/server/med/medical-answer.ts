import type { MinimalTranscription } from '../asr/transcription-answer.ts';
import type { VerboseTranscription } from '../asr/transcription-result.ts';

/** The medical batch result, as it goes onto the wire (ASR doc, resources). */
export interface MedicalAnswer {
  readonly success: true;
  readonly text: string;
  /** Only with diarization. */
  readonly segments?: readonly MedicalSegment[];
  readonly total_segments: number;
  readonly filename: string;
  readonly unique_speakers: readonly string[];
}

interface MedicalSegment {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly speaker: string;
}

/** Without diarization there are no segments to count, and no speakers (D). */
export function medicalAnswer(
  body: VerboseTranscription | MinimalTranscription,
  fileName: string,
  diarized: boolean,
): MedicalAnswer {
  const segments = (diarized ? (body.segments ?? []) : []).map(({ start, end, text, speaker }) => ({
    start,
    end,
    text,
    speaker: speaker ?? 'SPEAKER_00',
  }));
  return {
    success: true,
    text: body.text,
    ...(diarized ? { segments } : {}),
    total_segments: segments.length,
    filename: fileName,
    unique_speakers: [...new Set(segments.map(({ speaker }) => speaker))].sort(),
  };
}
