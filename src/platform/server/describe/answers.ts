import { z } from 'zod';
import { emotions } from '../../engines/speakers/voice-features.ts';
import type { MinimalTranscription, VerboseTranscription, WireAnalysis, WireSegment } from '../asr/transcription-answer.ts';
import type { MedicalAnswer } from '../medical/medical-service.ts';
import type { FieldProblem } from '../listener/refusal.ts';

// Schemas of the services' answers. The compiler checks the code's types against them, and tests check real answers; objects are strict,
// so that an undescribed field fails.

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
}) satisfies z.ZodType<WireSegment>;

const analysis = z.strictObject({
  intent: z.string().exactOptional(),
  sentiment: z.string().exactOptional(),
  summary: z.string().exactOptional(),
  keyterms: z.array(z.string()).exactOptional(),
  normalized_text: z.string().exactOptional(),
}) satisfies z.ZodType<WireAnalysis>;

export const minimal = z.strictObject({
  text: z.string(),
  segments: z.array(segment).exactOptional(),
}) satisfies z.ZodType<MinimalTranscription>;

export const verbose = z.strictObject({
  success: z.literal(true),
  request_id: z.string(),
  text: z.string(),
  detected_language: z.string(),
  detected_language_name: z.string(),
  segments: z.array(segment),
  words: z.array(z.strictObject({ word: z.string(), start: seconds, end: seconds, confidence: share })),
  nbest: z.array(z.strictObject({ text: z.string(), confidence: share })),
  speakers: z.array(speaker).exactOptional(),
  speaker_turns: z.array(z.strictObject({ start: seconds, end: seconds, speaker })).exactOptional(),
  speakers_identified: z.array(z.strictObject({ speaker, name: z.string(), confidence: share })).exactOptional(),
  emotion: z.strictObject({ label: emotion, score: share }).exactOptional(),
  emotion_summary: z
    .strictObject({
      dominant_emotion: emotion,
      emotion_distribution: z.partialRecord(emotion, z.number().min(0).max(100)),
      avg_confidence: share,
    })
    .exactOptional(),
  nlp_analysis: analysis.exactOptional(),
  audio_duration: seconds,
  inference_time_ms: z.number().min(0),
  warnings: z.array(z.string()).exactOptional(),
}) satisfies z.ZodType<VerboseTranscription>;

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

export const medical = z.strictObject({
  success: z.literal(true),
  text: z.string(),
  segments: z.array(z.strictObject({ start: seconds, end: seconds, text: z.string(), speaker })).exactOptional(),
  total_segments: z.int().min(0),
  filename: z.string(),
  unique_speakers: z.array(z.string()),
}) satisfies z.ZodType<MedicalAnswer>;

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
