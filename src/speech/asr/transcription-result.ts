import { z } from 'zod';
import { readAnswer, type SpeechAnswer } from '../client/requests.ts';

/** A segment of the recording (ASR doc, "Verbose transcription result"). Times are in seconds from the recording's beginning. */
export interface TranscriptionSegment {
  readonly startS: number;
  readonly endS: number;
  readonly text: string;
  readonly speaker: string | undefined;
  readonly confidence: number | undefined;
  readonly emotion: string | undefined;
  readonly emotionConfidence: number | undefined;
}

/** A word with its place, in seconds from the beginning of the recording. */
export interface TranscribedWord {
  readonly word: string;
  readonly startS: number;
  readonly endS: number;
  readonly confidence: number | undefined;
}

/** Speaker turns in seconds from the beginning of the recording. */
export interface SpeakerTurn {
  readonly startS: number;
  readonly endS: number;
  readonly speaker: string;
}

/** A speaker and the matching profile; `name` is undefined for an unknown voice. */
export interface IdentifiedSpeaker {
  readonly speaker: string;
  readonly name: string | undefined;
  readonly confidence: number | undefined;
}

/** The requested parts only. Labels are the platform's own. */
export interface TranscriptAnalysis {
  readonly intent: string | undefined;
  readonly sentiment: string | undefined;
  readonly summary: string | undefined;
  readonly keyterms: readonly string[] | undefined;
  readonly normalizedText: string | undefined;
}

/**
 * The short and the verbose answer in one shape (ASR doc, "Verbose transcription result", "Minimal transcription result").
 * Lists are empty and the rest undefined where the platform did not say. Times are in seconds.
 */
export interface TranscriptionResult {
  readonly text: string;
  readonly requestId: string | undefined;
  /** Requests that were sent: with more than one, the recording may have been transcribed and charged more than once. */
  readonly attempts: number;
  readonly segments: readonly TranscriptionSegment[];
  readonly words: readonly TranscribedWord[];
  /** ISO code; undefined also when no language was recognised. */
  readonly detectedLanguage: string | undefined;
  readonly detectedLanguageName: string | undefined;
  readonly durationS: number | undefined;
  readonly inferenceMs: number | undefined;
  readonly speakers: readonly string[];
  readonly speakerTurns: readonly SpeakerTurn[];
  readonly speakersIdentified: readonly IdentifiedSpeaker[];
  readonly emotion: { readonly label: string; readonly score: number | undefined } | undefined;
  readonly emotionSummary:
    | {
        readonly dominant: string | undefined;
        /** Share of each label in percent. */
        readonly distribution: Readonly<Record<string, number>>;
        readonly averageConfidence: number | undefined;
      }
    | undefined;
  readonly analysis: TranscriptAnalysis | undefined;
  /** Readings of the whole recording, best first. */
  readonly nbest: readonly { readonly text: string; readonly confidence: number | undefined }[];
  /** Options that the platform could not fulfil. */
  readonly warnings: readonly string[];
  /** Speech whose words the platform says it does not know. */
  readonly unrecognised: readonly { readonly startS: number; readonly endS: number }[];
  /** The whole answer, unparsed. */
  readonly raw: Readonly<Record<string, unknown>>;
}

const seconds = z.number().nonnegative();
/** Reads undocumented shapes as undefined: a feature's odd result must not lose the transcript. */
function lenient<Output>(shape: z.ZodType<Output>) {
  return shape
    .nullish()
    .transform((value) => value ?? undefined)
    .catch(undefined);
}
const number = lenient(z.number());
const string = lenient(z.string());

const segment = z
  .looseObject({
    start: seconds,
    end: seconds,
    text: z.string(),
    speaker: string,
    confidence: number,
    emotion: string,
    emotion_confidence: number,
  })
  .transform(({ start, end, text, speaker, confidence, emotion, emotion_confidence }) => ({
    startS: start,
    endS: end,
    text,
    speaker,
    confidence,
    emotion,
    emotionConfidence: emotion_confidence,
  }));
const word = z
  .looseObject({ word: z.string(), start: seconds, end: seconds, confidence: number, score: number })
  .transform(({ word: text, start, end, confidence, score }) => ({
    word: text,
    startS: start,
    endS: end,
    confidence: confidence ?? score,
  }));
const turn = z
  .looseObject({ start: seconds, end: seconds, speaker: z.string() })
  .transform(({ start, end, speaker }) => ({ startS: start, endS: end, speaker }));
const emotionSummary = z
  .looseObject({
    dominant_emotion: string,
    emotion_distribution: lenient(z.record(z.string(), z.number())),
    avg_confidence: number,
  })
  .transform(({ dominant_emotion, emotion_distribution = {}, avg_confidence }) => ({
    dominant: dominant_emotion,
    distribution: emotion_distribution,
    averageConfidence: avg_confidence,
  }));

/** A word in the documents; older services send an object around it. */
const label = lenient(z.union([z.string(), z.looseObject({ label: z.string() }).transform((value) => value.label)]));
const analysis = z
  .looseObject({
    intent: label,
    sentiment: label,
    summary: string,
    keyterms: lenient(z.array(z.string())),
    normalized_text: string,
  })
  .transform(({ intent, sentiment, summary, keyterms, normalized_text }) => ({
    intent,
    sentiment,
    summary,
    keyterms,
    normalizedText: normalized_text,
  }));

/** Undocumented: a reading is a text or an object around it. */
const reading = z.union([
  z.string().transform((text) => ({ text, confidence: undefined })),
  z
    .looseObject({ text: string, transcript: string, confidence: number, score: number })
    .transform(({ text, transcript, confidence, score }) => ({
      text: text ?? transcript ?? '',
      confidence: confidence ?? score,
    })),
]);

/** Undocumented: a list, or a map from a label to a name, with or without a confidence. */
const match = z.union([
  z.string().transform((name) => ({ name, confidence: undefined })),
  z.looseObject({ name: string, confidence: number }),
]);
const identified = z.union([
  z.array(z.looseObject({ speaker: z.string(), name: string, confidence: number })),
  z.record(z.string(), match).transform((matches) => Object.entries(matches).map(([speaker, found]) => ({ speaker, ...found }))),
]);

const result = z.looseObject({
  text: z.string(),
  request_id: string,
  detected_language: string,
  detected_language_name: string,
  audio_duration: lenient(seconds),
  inference_time_ms: number,
  segments: z.array(segment).nullish(),
  words: z.array(word).nullish(),
  speakers: lenient(z.array(z.string())),
  speaker_turns: lenient(z.array(turn)),
  speakers_identified: lenient(identified),
  emotion: lenient(z.looseObject({ label: z.string(), score: number })),
  emotion_summary: lenient(emotionSummary),
  nlp_analysis: lenient(analysis),
  nbest: lenient(z.array(reading)),
  warnings: lenient(z.array(z.string())),
  unrecognised: lenient(z.array(z.looseObject({ start: seconds, end: seconds }))),
});

/**
 * Reads the short or the verbose answer (ASR doc, resources).
 * @throws SpeechProtocolError when the text, or the time of a segment or word, cannot be read
 */
export function readTranscription(answer: SpeechAnswer): TranscriptionResult {
  const { requestId, attempts } = answer;
  const { data, value } = readAnswer(result, answer, 'the transcription');
  // ISO 639-2.
  const undetermined = data.detected_language === 'und';
  return {
    text: data.text,
    requestId: requestId ?? data.request_id,
    attempts,
    segments: data.segments ?? [],
    words: data.words ?? [],
    detectedLanguage: undetermined ? undefined : data.detected_language,
    detectedLanguageName: undetermined ? undefined : data.detected_language_name,
    durationS: data.audio_duration,
    inferenceMs: data.inference_time_ms,
    speakers: data.speakers ?? [],
    speakerTurns: data.speaker_turns ?? [],
    speakersIdentified: (data.speakers_identified ?? []).map(({ speaker, name, confidence }) => ({
      speaker,
      // `unknown` is how the platform names a stranger.
      name: name === 'unknown' ? undefined : name,
      confidence,
    })),
    emotion: data.emotion === undefined ? undefined : { label: data.emotion.label, score: data.emotion.score },
    emotionSummary: data.emotion_summary,
    analysis: data.nlp_analysis,
    nbest: data.nbest ?? [],
    warnings: data.warnings ?? answer.warnings ?? [],
    unrecognised: (data.unrecognised ?? []).map(({ start, end }) => ({ startS: start, endS: end })),
    raw: z.record(z.string(), z.unknown()).parse(value),
  };
}
