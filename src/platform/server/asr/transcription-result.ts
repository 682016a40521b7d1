import type { RecognitionResult } from '../../engines/recognise/port.ts';
import type { Emotion } from '../../engines/speakers/emotion.ts';
import { findLanguage, type LanguageChoice } from '../../languages.ts';
import {
  type SpokenSegment,
  milli,
  share,
  speakerLabel,
  type WireEmotion,
  type WireIdentified,
  type WireSpeakers,
} from './wire-voices.ts';

const maxAlternatives = 5;

/** The verbose transcription result, as sent (ASR doc, resources). */
export interface VerboseTranscription extends Partial<WireSpeakers>, Partial<WireEmotion> {
  readonly success: true;
  readonly request_id: string;
  readonly text: string;
  readonly detected_language: string;
  readonly detected_language_name: string;
  readonly segments: readonly WireSegment[];
  readonly words: readonly { word: string; start: number; end: number; confidence: number }[];
  /** Best first; the first one's text is `text`. */
  readonly nbest: readonly { text: string; confidence: number }[];
  readonly nlp_analysis?: WireAnalysis;
  readonly speakers_identified?: readonly WireIdentified[];
  readonly audio_duration: number;
  readonly inference_time_ms: number;
  /** What was asked for and could not be done; absent when empty. */
  readonly warnings?: readonly string[];
  /** Speech outside the closed vocabulary: its words are unknown. Absent without such speech. */
  readonly unrecognised?: readonly { readonly start: number; readonly end: number }[];
}

export interface WireSegment {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly confidence: number;
  readonly speaker?: string;
  readonly emotion?: Emotion;
  readonly emotion_confidence?: number;
}

/** The parts of the analysis asked for. */
export interface WireAnalysis {
  readonly intent?: string;
  readonly sentiment?: string;
  readonly summary?: string;
  readonly keyterms?: readonly string[];
  readonly normalized_text?: string;
}

export interface TranscriptionFacts {
  readonly requestId: string;
  readonly language: LanguageChoice;
  readonly durationSeconds: number;
  readonly inferenceMs: number;
}

export function fullText(results: readonly RecognitionResult[]): string {
  return results.map((result) => result.text).join(' ');
}

/**
 * Builds the verbose result. Times are clamped to the recording, sorted, and rounded to milliseconds; confidences are 0 to 1.
 * @param spoken the results cut at changes of speaker, with diarization
 */
export function verboseTranscription(
  results: readonly RecognitionResult[],
  facts: TranscriptionFacts,
  spoken: readonly SpokenSegment[] = results,
): VerboseTranscription {
  const language = languageOf(results, facts.language);
  const duration = milli(facts.durationSeconds);
  const span = (startS: number, endS: number): { start: number; end: number } => {
    const start = Math.min(duration, Math.max(0, milli(startS)));
    return { start, end: Math.min(duration, Math.max(start, milli(endS))) };
  };
  const segments = spoken
    .map(({ startS, endS, text, confidence, speaker }) => ({
      ...span(startS, endS),
      text,
      confidence: share(confidence),
      ...(speaker === undefined ? {} : { speaker: speakerLabel(speaker) }),
    }))
    .sort((a, b) => a.start - b.start);
  const words = results
    .flatMap((result) => result.words)
    .map(({ word, startS, endS, confidence }) => ({ word, ...span(startS, endS), confidence: share(confidence) }))
    .sort((a, b) => a.start - b.start);
  return {
    success: true,
    request_id: facts.requestId,
    text: fullText(results),
    detected_language: language.code,
    detected_language_name: language.name,
    segments,
    words,
    nbest: nbestOf(results),
    audio_duration: duration,
    inference_time_ms: Math.round(facts.inferenceMs),
  };
}

/** ISO 639-2 `und`, for the mandatory language field when nothing was recognised. */
const undetermined = { code: 'und', name: 'Undetermined' };

/** The language asked for, or the one of most of the text. */
function languageOf(results: readonly RecognitionResult[], asked: LanguageChoice): { code: string; name: string } {
  if (results.length === 0) return undetermined;
  if (asked.type === 'language') return asked.language;
  const weights = new Map<string, number>();
  for (const { language, text } of results) weights.set(language, (weights.get(language) ?? 0) + text.length);
  const [code] = [...weights].sort((a, b) => b[1] - a[1])[0] ?? [];
  return (code === undefined ? undefined : findLanguage(code)) ?? undetermined;
}

/** The k-th reading joins each segment's k-th alternative, or its best one if it has fewer. */
function nbestOf(results: readonly RecognitionResult[]): { text: string; confidence: number }[] {
  const readings = new Map<string, number>();
  for (let rank = 0; rank < maxAlternatives; rank += 1) {
    const picked = results.map((result) => (rank === 0 ? result : (result.alternatives[rank] ?? result)));
    const text = picked.map((alternative) => alternative.text).join(' ');
    const mean = picked.reduce((sum, alternative) => sum + alternative.confidence, 0) / Math.max(1, picked.length);
    if (!readings.has(text)) readings.set(text, share(mean));
  }
  return [...readings].map(([text, confidence]) => ({ text, confidence }));
}

/** Changes every text of an answer. The pieces of one text are changed together, since a match may cross pieces. */
export function changeTexts(
  body: VerboseTranscription,
  change: (pieces: readonly string[]) => readonly string[],
): VerboseTranscription {
  const one = (text: string): string => change([text]).join('');
  const segments = change(body.segments.map((segment) => segment.text));
  const words = change(body.words.map(({ word }) => word));
  return {
    ...body,
    text: one(body.text),
    segments: body.segments.map((segment, index) => ({ ...segment, text: segments[index] ?? '' })),
    words: body.words.map((word, index) => ({ ...word, word: words[index] ?? '' })),
    nbest: body.nbest.map((reading) => ({ ...reading, text: one(reading.text) })),
    ...(body.nlp_analysis === undefined ? {} : { nlp_analysis: changeAnalysis(body.nlp_analysis, one) }),
  };
}

/** Changes the texts of an analysis; labels are kept. */
function changeAnalysis(analysis: WireAnalysis, change: (text: string) => string): WireAnalysis {
  const { summary, keyterms, normalized_text: normalized } = analysis;
  return {
    ...analysis,
    ...(summary === undefined ? {} : { summary: change(summary) }),
    ...(keyterms === undefined ? {} : { keyterms: [...new Set(keyterms.map(change))] }),
    ...(normalized === undefined ? {} : { normalized_text: change(normalized) }),
  };
}
