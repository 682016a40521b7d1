import type { Clock } from '../../../kernel/clock.ts';
import type { RecognitionEngine } from '../../engines/port.ts';
import { hashKeywords } from './hash-keywords.ts';
import { maskPieces } from './masking.ts';
import { profanity } from './profanity.ts';
import { transcribe } from './transcribe.ts';
import type { TranscriptionRequest } from './transcription-fields.ts';
import { changeTexts, type VerboseTranscription, verboseTranscription } from './transcription-result.ts';
import type { DecodedAudio } from './wav-stream.ts';

export interface AnswerOptions {
  readonly engine: RecognitionEngine;
  readonly clock: Clock;
  readonly requestId: string;
  readonly signal: AbortSignal;
}

/** The minimal transcription result (ASR doc, resources). */
export interface MinimalTranscription {
  readonly text: string;
}

/**
 * Transcribes a recording and does everything else that was asked for, in the order in which one step needs the other.
 * @returns the body of the answer
 */
export async function answerTranscription(
  audio: DecodedAudio,
  asked: TranscriptionRequest,
  options: AnswerOptions,
): Promise<VerboseTranscription | MinimalTranscription> {
  const { engine, clock, requestId, signal } = options;
  const startedMs = clock.nowMs();
  const results = await transcribe(audio, { engine, language: asked.language, boostPhrases: asked.boostPhrases, signal });
  const { language } = asked;
  const body = verboseTranscription(results, { requestId, language, durationSeconds: audio.durationSeconds, inferenceMs: 0 });
  const shown = mask(body, asked);
  if (!asked.verbose) return { text: shown.text };
  return { ...shown, inference_time_ms: Math.round(clock.nowMs() - startedMs) };
}

function mask(body: VerboseTranscription, asked: TranscriptionRequest): VerboseTranscription {
  const masks = [
    ...(asked.hashKeywords.length > 0 ? [hashKeywords(asked.hashKeywords)] : []),
    ...(asked.profanity ? [profanity] : []),
  ];
  return masks.reduce((shown, each) => changeTexts(shown, (pieces) => maskPieces(pieces, each)), body);
}
