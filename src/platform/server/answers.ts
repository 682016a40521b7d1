import { z } from 'zod';
import { emotions } from '../engines/speakers/voice-features.ts';
import type { FieldProblem } from './listener/refusal.ts';

// Answers of the services, as sent and as described. Objects are strict: a test of real answers fails on an undescribed field.

const seconds = z.number().min(0);
const share = z.number().min(0).max(1);
const emotion = z.enum(emotions);
const speaker = z.string().meta({ examples: ['SPEAKER_00'] });

export const token = z.strictObject({
  token: z.string(),
  expires_in: z.int().min(1).max(86_400),
  expires_at: z.iso.datetime(),
});

export const keySet = z.strictObject({
  keys: z.array(z.looseObject({ kty: z.string(), kid: z.string(), alg: z.literal('RS256') })),
});

export const health = z.strictObject({ ok: z.boolean() });

export const languageList = z.strictObject({
  languages: z.array(
    z.strictObject({
      code: z.string(),
      name: z.string(),
      recognition: z.enum(['closed-vocabulary', 'own-model', 'none']),
    }),
  ),
  total: z.int().min(0).max(1000),
  recognised: z.int().min(0).max(1000),
  models: z.array(z.string()),
  features: z.array(z.string()),
});

const segment = z.strictObject({
  start: seconds,
  end: seconds,
  text: z.string(),
  confidence: share,
  speaker: speaker.exactOptional(),
  emotion: emotion.exactOptional(),
  emotion_confidence: share.exactOptional(),
});

/** The parts of the analysis that were asked for. */
const analysis = z.strictObject({
  intent: z.string().exactOptional(),
  sentiment: z.string().exactOptional(),
  summary: z.string().exactOptional(),
  keyterms: z.array(z.string()).exactOptional(),
  normalized_text: z.string().exactOptional(),
});
export type WireAnalysis = z.infer<typeof analysis>;

/** The minimal transcription result (ASR doc, resources); segments with emotion=true alone. */
const minimal = z.strictObject({
  text: z.string(),
  segments: z.array(segment).exactOptional(),
});
export type MinimalTranscription = z.infer<typeof minimal>;

/** The verbose transcription result (ASR doc, resources). */
const verbose = z.strictObject({
  success: z.literal(true),
  request_id: z.string(),
  text: z.string(),
  detected_language: z.string(),
  detected_language_name: z.string(),
  segments: z.array(segment),
  words: z.array(z.strictObject({ word: z.string(), start: seconds, end: seconds, confidence: share })),
  /** Best first; the first one's text is `text`. */
  nbest: z.array(z.strictObject({ text: z.string(), confidence: share })),
  speakers: z.array(speaker).exactOptional(),
  speaker_turns: z.array(z.strictObject({ start: seconds, end: seconds, speaker })).exactOptional(),
  /** The name is `unknown` when no profile is similar (reference, fact 7b). */
  speakers_identified: z.array(z.strictObject({ speaker, name: z.string(), confidence: share })).exactOptional(),
  emotion: z.strictObject({ label: emotion, score: share }).exactOptional(),
  emotion_summary: z
    .strictObject({
      dominant_emotion: emotion,
      /** Percentages of the speaking time; they add up to 100. */
      emotion_distribution: z.partialRecord(emotion, z.number().min(0).max(100)),
      avg_confidence: share,
    })
    .exactOptional(),
  nlp_analysis: analysis.exactOptional(),
  audio_duration: seconds,
  inference_time_ms: z.number().min(0),
  /** What was asked for and could not be done; absent when empty. */
  warnings: z.array(z.string()).exactOptional(),
  /** Speech outside the closed vocabulary: its words are unknown. Absent without such speech. */
  unrecognised: z.array(z.strictObject({ start: seconds, end: seconds })).exactOptional(),
});
export type VerboseTranscription = z.infer<typeof verbose>;

export const transcription = z.union([minimal, verbose]);

/** Variant B: every successful answer has `success` (ASR doc). */
export const altTranscription = z.union([minimal.extend({ success: z.literal(true) }), verbose]);

export const registered = z.strictObject({ success: z.literal(true), speaker: z.string(), message: z.string() });
export const deleted = z.strictObject({ success: z.literal(true) });
export const speakerList = z.strictObject({
  success: z.literal(true),
  speakers: z.array(z.strictObject({ name: z.string(), project: z.string(), registered_at: z.string() })),
});
export const identified = z.strictObject({ success: z.literal(true), speaker: z.string(), confidence: z.number() });

/** The medical batch result (ASR doc, resources); segments only with diarization. */
export const medical = z.strictObject({
  success: z.literal(true),
  text: z.string(),
  segments: z.array(z.strictObject({ start: seconds, end: seconds, text: z.string(), speaker })).exactOptional(),
  total_segments: z.int().min(0),
  filename: z.string(),
  unique_speakers: z.array(z.string()),
});
export type MedicalAnswer = z.infer<typeof medical>;

export const speechHealth = z.strictObject({ status: z.literal('ok'), voices: z.array(z.string()), default_voice: z.string() });

const fieldProblem = z.strictObject({
  loc: z.array(z.union([z.string(), z.number()])),
  msg: z.string(),
  type: z.string(),
}) satisfies z.ZodType<FieldProblem>;

export const error = z.strictObject({ detail: z.union([z.string(), z.array(fieldProblem)]) });

export const altError = z.strictObject({
  success: z.literal(false),
  error: z.strictObject({ code: z.string(), message: z.string() }),
});
