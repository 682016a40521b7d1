import { z } from 'zod';
import { COMPRESSED_FORMATS } from '../audio/recording-format.ts';
import { ANSWERED_BY } from '../config/answered-by.ts';

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

/** How long each stage of an answer took, in ms; a stage that did not happen is absent. */
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
  inputKind: z.enum(['start', 'spoken', 'keyed', 'no-input', 'transfer']),
  /** What was recognised, finals joined; empty for a greeting. */
  callerText: z.string(),
  /** What was sent to be spoken. */
  botText: z.string(),
  /** What was heard of it. */
  botHeardText: z.string(),
  interrupted: z.boolean(),
  latencies: turnLatencies,
  /** Recogniser of the caller's words: `platform`, or a speech vendor. */
  recogniser: z.string().optional(),
  /** Synthesizer of the reply, or of its end. */
  synthesizer: z.string().optional(),
  /** Steps of the dialog that led to the reply, oldest first. */
  steps: z.array(z.string()).optional(),
  startedAtMs: wallMs,
  /** When the bot's audio of this turn began and ended to play, where known. */
  botStartedAtMs: wallMs.optional(),
  botEndedAtMs: wallMs.optional(),
});

/** One event of the call's timeline: when, in ms since the call started, what, and whatever else it carries. */
export const timelineEvent = z.looseObject({ atMs: z.number(), type: z.string() });

/** One transfer of the call, to a person. Times that were not reached are absent. */
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
  /** Where it lies in the recording, in ms; absent where nothing was recorded. */
  recorded: z.object({ fromMs: milliseconds, toMs: milliseconds }).optional(),
});

/** What is known of an outbound call beside what every call has. */
export const outboundCall = z.object({
  campaignId: id.optional(),
  answeredBy: z.enum(ANSWERED_BY).optional(),
  /** First one first; `atMs` since the answer. */
  opinions: z.array(z.object({ by: z.enum(ANSWERED_BY), atMs: milliseconds, confidence: z.number() })),
  /** Whether a mailbox message was heard in full. */
  message: z.enum(['all', 'part']).optional(),
  /** Whether the identifying sentence was heard to its end. */
  identified: z.boolean(),
});

/** Carrier of a recording that came from elsewhere: no call of ours, analysed when its importer says so. */
export const IMPORTED = 'import';

/** The stored record of one call. */
export const callRecord = z.object({
  id,
  tenantId: id,
  /** Rises with each version of this record: an older one never replaces a newer one. */
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
  language: z.string(),
  startedAtMs: wallMs,
  answeredAtMs: wallMs.optional(),
  endedAtMs: wallMs.optional(),
  endReason: z.string().optional(),
  /** Every key pressed, in order. */
  digits: z.string(),
  /** What the dialog set, its notes, and what came with a recording from elsewhere. */
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
  /** Absolute path of the stereo WAV: caller left, bot right. Of a stored call, of what it was turned into. */
  recordingPath: z.string().optional(),
  /** What it is to be turned into after the call; stays as it is when absent. */
  recordingWanted: z.enum(COMPRESSED_FORMATS).optional(),
  recordingSidecarPath: z.string().optional(),
  /** Wall time of the recording's first sample; the call's answer when absent. */
  recordingStartedAtMs: wallMs.optional(),
  /** Numbers of the whole call by name, for example `interruptions` or `durationMs`. */
  summary: z.record(z.string(), z.number()),
  legs: z.array(callLeg),
  attachments: z.array(callAttachment),
  turns: z.array(callTurn),
  timeline: z.array(timelineEvent),
});

export type CallRecord = z.output<typeof callRecord>;
/** A record as its writer makes it. */
export type NewCallRecord = z.input<typeof callRecord>;
