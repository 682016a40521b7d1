import type { Clock } from '../../../kernel/clock.ts';
import type { Analyser } from '../../engines/analyse/analyser.ts';
import type { RecognitionEngine } from '../../engines/port.ts';
import { hashKeywords } from './hash-keywords.ts';
import { maskPieces } from './masking.ts';
import { profanity } from './profanity.ts';
import { transcribe } from './transcribe.ts';
import type { TranscriptionRequest } from './transcription-fields.ts';
import { changeTexts, type VerboseTranscription, verboseTranscription, type WireAnalysis } from './transcription-result.ts';
import type { DecodedAudio } from './wav-stream.ts';

/** The engines behind a transcription. */
export interface TranscriptionEngines {
  readonly recognition: RecognitionEngine;
  readonly analyser: Analyser;
}

export interface AnswerOptions {
  readonly engines: TranscriptionEngines;
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
  const { engines, clock, requestId, signal } = options;
  const { language } = asked;
  const startedMs = clock.nowMs();
  const results = await transcribe(audio, {
    engine: engines.recognition,
    language,
    boostPhrases: asked.boostPhrases,
    signal,
  });
  const body = verboseTranscription(results, { requestId, language, durationSeconds: audio.durationSeconds, inferenceMs: 0 });
  // The short answer has no room for features (ASR doc, parameter response_format).
  if (!asked.verbose) return { text: mask(body, asked).text };
  const nlp = asked.analysis.size === 0 ? {} : { nlp_analysis: await analyse(body, asked, engines.analyser, signal) };
  const shown = mask({ ...body, ...nlp }, asked);
  return { ...shown, inference_time_ms: Math.round(clock.nowMs() - startedMs) };
}

/** The analyser never sees a redacted term, so that none can come back in other words. */
async function analyse(
  body: VerboseTranscription,
  asked: TranscriptionRequest,
  analyser: Analyser,
  signal: AbortSignal,
): Promise<WireAnalysis> {
  const { analysis: parts, intentChoices, summaryMaxWords, glossary } = asked;
  const said = body.segments.map(({ text }) => text);
  const utterances = maskPieces(said, hashKeywords(asked.hashKeywords));
  const language = body.detected_language;
  const request = { utterances, language, parts, intentChoices, summaryMaxWords, glossary };
  const { normalizedText, ...rest } = await analyser.analyse(request, signal);
  return { ...rest, ...(normalizedText === undefined ? {} : { normalized_text: normalizedText }) };
}

function mask(body: VerboseTranscription, asked: TranscriptionRequest): VerboseTranscription {
  const masks = [
    ...(asked.hashKeywords.length > 0 ? [hashKeywords(asked.hashKeywords)] : []),
    ...(asked.profanity ? [profanity] : []),
  ];
  return masks.reduce((shown, each) => changeTexts(shown, (pieces) => maskPieces(pieces, each)), body);
}
