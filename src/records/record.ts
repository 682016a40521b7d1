import { z } from 'zod';
import { COMPRESSED_FORMATS } from '../audio/recording-format.ts';
import { ANSWERED_BY } from '../config/answered-by.ts';
import { callCost } from '../costs/cost.ts';
import { usedUnits } from '../costs/usage.ts';

/** Milliseconds since the Unix epoch; fractions are dropped, as columns hold whole ones. */
const wallMs = z.number().nonnegative().transform(Math.round);
const milliseconds = z.number().nonnegative();
const id = z.string().min(1).max(200);

export const callLeg = z.object({
  id,
  /** 0 for the first. */
  index: z.number().int().nonnegative(),
  startedAtMs: wallMs,
  endedAtMs: wallMs.optional(),
});

/** One carrier socket of a leg. */
export const callAttachment = z.object({
  id,
  legId: id,
  index: z.number().int().nonnegative(),
  /** The carrier's id of the stream. */
  streamId: z.string(),
  startedAtMs: wallMs,
  endedAtMs: wallMs.optional(),
  endReason: z.string().optional(),
});

/** Duration of an answer's stages, in ms; absent where a stage did not happen. */
export const turnLatencies = z.object({
  endpointing: milliseconds.optional(),
  asrFinal: milliseconds.optional(),
  dialog: milliseconds.optional(),
  ttsFirstByte: milliseconds.optional(),
  firstFrame: milliseconds.optional(),
  total: milliseconds.optional(),
});

export const callTurn = z.object({
  /** 0 for the greeting. */
  index: z.number().int().nonnegative(),
  inputKind: z.enum(['start', 'spoken', 'keyed', 'no-input', 'tool-result', 'transfer']),
  /** Recognised words, finals joined; empty for a greeting. */
  callerText: z.string(),
  /** The intended text. */
  botText: z.string(),
  /** The heard part. */
  botHeardText: z.string(),
  interrupted: z.boolean(),
  latencies: turnLatencies,
  /** Recogniser of the caller's words: `platform`, or a speech vendor. */
  recogniser: z.string().optional(),
  /** Synthesizer of the reply, or of its end. */
  synthesizer: z.string().optional(),
  /** The dialog's steps to the reply, oldest first. */
  steps: z.array(z.string()).optional(),
  startedAtMs: wallMs,
  /** When the bot's audio of this turn began and ended, if known. */
  botStartedAtMs: wallMs.optional(),
  botEndedAtMs: wallMs.optional(),
});

/** An event of the call's timeline: ms since the call's start, type, and further fields. */
export const timelineEvent = z.looseObject({ atMs: z.number(), type: z.string() });

/** A transfer to a person. Times are absent until reached. */
export const callTransfer = z.object({
  to: z.string(),
  kind: z.enum(['cold', 'warm']),
  startedAtMs: wallMs,
  /** The agent's leg of a warm transfer. */
  legId: z.string().optional(),
  carrierCallId: z.string().optional(),
  ringingAtMs: wallMs.optional(),
  answeredAtMs: wallMs.optional(),
  acceptedAtMs: wallMs.optional(),
  connectedAtMs: wallMs.optional(),
  connectedBy: z.enum(['carrier', 'gateway']).optional(),
  endedAtMs: wallMs.optional(),
  outcome: z.enum(['answered', 'busy', 'no-answer', 'declined', 'voicemail', 'dropped', 'failed', 'cancelled']).optional(),
  cause: z.string().optional(),
});

/** A message that the caller left after the tone; its words are those of its turn. */
export const callVoicemail = z.object({
  turn: z.number().int().nonnegative(),
  startedAtMs: wallMs,
  durationMs: milliseconds,
  /** Its place in the recording, in ms; absent where there is none. */
  recorded: z.object({ fromMs: milliseconds, toMs: milliseconds }).optional(),
});

/** Facts of an outbound call, beside those every call has. */
export const outboundCall = z.object({
  campaignId: id.optional(),
  answeredBy: z.enum(ANSWERED_BY).optional(),
  /** Oldest first; `atMs` since the answer. */
  opinions: z.array(z.object({ by: z.enum(ANSWERED_BY), atMs: milliseconds, confidence: z.number() })),
  /** Whether a mailbox message was heard in full. */
  message: z.enum(['all', 'part']).optional(),
  /** Whether the identifying sentence was heard to its end. */
  identified: z.boolean(),
});

/** Carrier of a recording from elsewhere, which its importer can have analysed. */
export const IMPORTED = 'import';

/** The stored record of one call. */
export const callRecord = z.object({
  id,
  tenantId: id,
  /** Version of this record; older ones never replace newer ones. */
  revision: z.number().int().nonnegative().default(0),
  botName: z.string(),
  /** Version of the bot's files when the call began; absent in older records. */
  botVersion: z.string().max(64).optional(),
  carrier: z.string(),
  carrierCallId: z.string(),
  from: z.string(),
  to: z.string(),
  direction: z.enum(['inbound', 'outbound']),
  /** A call between people: the bot's side is the other party. */
  mode: z.literal('listen').optional(),
  /** A person tried out a version of the bot: the call is not counted. */
  rehearsal: z.literal(true).optional(),
  language: z.string(),
  startedAtMs: wallMs,
  answeredAtMs: wallMs.optional(),
  endedAtMs: wallMs.optional(),
  endReason: z.string().optional(),
  /** Every key pressed, in order. */
  digits: z.string(),
  /** The dialog's variables and notes, and metadata of a recording from elsewhere. */
  variables: z.record(z.string(), z.string()).optional(),
  notes: z.array(z.string()).optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  /** Set for outbound calls. */
  outbound: outboundCall.optional(),
  optOut: z.object({ kind: z.enum(['opt-out', 'wrong-number']), how: z.enum(['spoken', 'keyed']), atMs: wallMs }).optional(),
  /** When the person asked to be called. */
  callBackAtMs: wallMs.optional(),
  /** Oldest first. */
  transfers: z.array(callTransfer).optional(),
  voicemails: z.array(callVoicemail).optional(),
  /** What the call used of speech vendors and models. Not stored: the parts of the cost have the same amounts. */
  usage: z.array(usedUnits).max(500).optional(),
  /** Set once the call has ended; absent in older records. */
  cost: callCost.optional(),
  /** Absolute path of the stereo WAV: caller left, bot right; for a stored call, of the converted file. */
  recordingPath: z.string().optional(),
  /** Format to convert it to after the call; unchanged when absent. */
  recordingWanted: z.enum(COMPRESSED_FORMATS).optional(),
  recordingSidecarPath: z.string().optional(),
  /** Wall time of the recording's first sample; the call's answer when absent. */
  recordingStartedAtMs: wallMs.optional(),
  /** Measures of the whole call by name, for example `interruptions` or `durationMs`. */
  summary: z.record(z.string(), z.number()),
  legs: z.array(callLeg),
  attachments: z.array(callAttachment),
  turns: z.array(callTurn),
  timeline: z.array(timelineEvent),
});

export type CallRecord = z.output<typeof callRecord>;
/** A record as its writer makes it. */
export type NewCallRecord = z.input<typeof callRecord>;

const UNSTORABLE = /\0|\p{Surrogate}/u;

/** Whether PostgreSQL can store a text unchanged: see `storable`. */
export function isStorable(text: string): boolean {
  return !UNSTORABLE.test(text);
}

/**
 * A copy of a JSON value that PostgreSQL can store: zero characters, refused by `text` and `jsonb`, and lone surrogates, refused by `jsonb`, become
 * U+FFFD. Input from a caller's software must never make a record unwritable.
 */
export function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(/\0|\p{Surrogate}/gu, '\uFFFD');
  if (Array.isArray(value)) return value.map(storable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [storable(key), storable(item)]));
}
