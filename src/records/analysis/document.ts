import { z } from 'zod';

/** The form of the document that an analysis is. */
export const ANALYSIS_DOCUMENT_VERSION = 1;

const seconds = z.number().nonnegative();
const stretch = z.object({ startS: seconds, endS: seconds });

export const analysisSegment = z.object({
  /** Seconds since the recording's first sample. */
  startS: seconds,
  endS: seconds,
  text: z.string(),
  /** The platform's label, where people share a channel; see `speakers`. */
  speaker: z.string().optional(),
  confidence: z.number().optional(),
  emotion: z.string().optional(),
});

export const analysisWord = z.object({ word: z.string(), startS: seconds, endS: seconds, confidence: z.number().optional() });

/** Words a finding rests on: characters `from` up to `to` of a segment's text. */
const evidence = z.object({
  channel: z.int().nonnegative(),
  segment: z.int().nonnegative(),
  from: z.int().nonnegative(),
  to: z.int().nonnegative(),
  text: z.string(),
  role: z.string(),
  startS: seconds,
  endS: seconds,
});

const fieldValue = z.union([z.string(), z.number(), z.boolean()]);
const ground = z.discriminatedUnion('kind', [
  evidence.extend({ kind: z.literal('words') }),
  z.object({ kind: z.literal('measure'), name: z.string(), of: z.string().optional(), value: z.number().nullable() }),
  z.object({ kind: z.literal('field'), name: z.string(), value: fieldValue.nullable() }),
  z.object({ kind: z.literal('variable'), name: z.string(), value: z.string().nullable() }),
  z.object({ kind: z.literal('insight'), name: z.enum(['intent', 'sentiment']), value: z.string().nullable() }),
]);

const measures = z.object({
  totalS: seconds,
  speechS: seconds,
  roles: z.array(
    z.object({
      role: z.string(),
      speechS: seconds,
      talkRatio: z.number(),
      turns: z.int(),
      longestMonologueS: seconds,
      interruptions: z.int(),
      replyGapP50S: seconds.optional(),
      replyGapP95S: seconds.optional(),
    }),
  ),
  overlaps: z.array(stretch),
  overlapS: seconds,
  silences: z.array(stretch),
  silenceS: seconds,
  longestSilenceS: seconds,
  interruptions: z.array(z.object({ atS: seconds, by: z.string(), of: z.string() })),
});

const insights = z.object({
  summary: z.string().optional(),
  sentiment: z.string().optional(),
  intent: z.string().optional(),
  keyTerms: z.array(z.string()).optional(),
  normalizedText: z.string().optional(),
  emotion: z.object({ dominant: z.string().optional(), distribution: z.record(z.string(), z.number()) }).optional(),
});

/** What a profile adds to a transcript; the same for live calls and for recordings from elsewhere. */
export const analysisFindings = z.object({
  /** Which settings made it. */
  profile: z.object({ name: z.string(), hash: z.string() }),
  measures,
  /**
   * `sound`: from the recording's level on each channel. `recogniser`: from the speakers' turns of a shared channel. `nothing`:
   * there is no recording.
   */
  measuredFrom: z.enum(['sound', 'recogniser', 'nothing']),
  insights,
  fields: z.array(
    z.object({ name: z.string(), value: fieldValue, from: z.enum(['rules', 'model']), evidence: z.array(evidence) }),
  ),
  /** Required fields without a value. */
  missing: z.array(z.string()),
  /** Calls only: the dialog's variables and notes, redacted like the transcript. */
  variables: z.record(z.string(), z.string()).optional(),
  notes: z.array(z.string()).optional(),
  quality: z
    .object({
      score: z.number().nullable(),
      items: z.array(
        z.object({
          id: z.string(),
          question: z.string(),
          weight: z.number(),
          /** `unknown`: undecidable for this `reason`; does not count. */
          result: z.enum(['pass', 'fail', 'not-applicable', 'unknown']),
          reason: z.string().optional(),
          grounds: z.array(ground),
        }),
      ),
    })
    .optional(),
  /** `value` is null where undecidable, for this `reason`. */
  disposition: z
    .object({
      value: z.string().nullable(),
      label: z.string().optional(),
      reason: z.string().optional(),
      grounds: z.array(ground),
    })
    .optional(),
  /** Requested but unknown items, such as `intent`, `score` or `field:day`, and why. */
  unknown: z.array(z.object({ what: z.string(), reason: z.string() })).default([]),
  /** Counts of hidden values, never the values. */
  redaction: z.object({
    hidden: z.array(z.object({ kind: z.string(), channel: z.int(), startS: seconds, endS: seconds })),
  }),
  speakers: z.array(
    z.object({ label: z.string(), role: z.string(), name: z.string().optional(), confidence: z.number().optional() }),
  ),
  languages: z.array(z.string()),
  /** What could not be done, for people. */
  problems: z.array(z.string()),
});

/** The analysis of a recording from elsewhere: version 1 of the document. */
export const recordingAnalysis = analysisFindings.extend({
  version: z.literal(ANALYSIS_DOCUMENT_VERSION),
  recording: z.object({
    /** Name given by the client. */
    name: z.string(),
    sha256: z.string(),
    bytes: z.int(),
    container: z.string(),
    channels: z.int().optional(),
    /** ISO 8601; from the list's `recorded_at`, else the file's own time. */
    recordedAt: z.string(),
    /** Metadata from the submitted list. */
    metadata: z.record(z.string(), z.string()),
  }),
  channels: z.array(
    z.object({
      role: z.string(),
      source: z.enum(['asr', 'medical']),
      text: z.string(),
      segments: z.array(analysisSegment),
      words: z.array(analysisWord),
    }),
  ),
  durations: z.object({ totalS: seconds }),
  /** The first role's share of all speech, 0 to 1; null where unknown, see `unknown`. */
  talkRatio: z.number().nullable(),
});

export type AnalysisFindings = z.output<typeof analysisFindings>;
export type RecordingAnalysis = z.output<typeof recordingAnalysis>;

const channel = z.object({ text: z.string(), segments: z.array(analysisSegment), words: z.array(analysisWord).optional() });

/** The analysis of a call: version 1 of the document. Older ones lack the profile's part. */
export const callAnalysis = z.object({
  version: z.literal(1),
  callId: z.string(),
  channels: z.tuple([
    /** Recognised from the recording's caller channel; `live`: words from the live call, where there is no recording. */
    channel.extend({ role: z.literal('caller'), source: z.enum(['asr', 'medical', 'live']) }),
    /** The heard words of the bot, from the call's ledger; needs no recognition. */
    channel.extend({ role: z.literal('bot'), source: z.literal('ledger') }),
  ]),
  /** Seconds; speech is measured from the audio's level. */
  durations: z.object({ totalS: z.number(), callerSpeechS: z.number(), botSpeechS: z.number() }),
  /** The caller's share of all speech, 0 to 1; null without speech. */
  talkRatio: z.number().nullable(),
  ...analysisFindings.partial().shape,
});

export type AnalysisSegment = z.infer<typeof analysisSegment>;
export type CallAnalysis = z.infer<typeof callAnalysis>;
