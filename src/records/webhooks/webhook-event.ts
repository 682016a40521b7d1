import { z } from 'zod';
import { createHash } from 'node:crypto';
import type { Attempt } from '../dialling.ts';
import type { NewCallRecord } from '../record.ts';
import { WEBHOOK_EVENTS, type WebhookEndpoint } from '../../config/webhook-endpoints.ts';
import { maskNumber, maskNumbersIn } from '../privacy/mask-number.ts';
import type { JsonValue } from '../queue/port.ts';

type JsonRecord = Readonly<Record<string, JsonValue>>;

/** An event of a call, as endpoints get it. */
export const webhookEvent = z.object({
  type: z.enum(WEBHOOK_EVENTS),
  tenantId: z.string().min(1),
  /** The call's id, or that of a submission of recordings, of a campaign or of an audit log. */
  callId: z.string().min(1),
  /** What the id is of; a call when absent. */
  of: z.enum(['recordings', 'campaign', 'log']).optional(),
  /** What tells it from other events of the same type and call, for example the turn's index; empty where there is one alone. */
  part: z.string(),
  /** Wall time. */
  atMs: z.number(),
  data: z.record(z.string(), z.json()),
  /** Masked for endpoints that do not get them in full. */
  numbers: z.record(z.string(), z.string()),
  /** Left out for endpoints that do not get what was said or collected; numbers in them are masked with the others. */
  words: z.record(z.string(), z.json()),
});

export type WebhookEvent = z.infer<typeof webhookEvent>;

/** What the id is called in a delivery. */
const ID_NAMES = { recordings: 'analysisId', campaign: 'campaignId', log: 'logId' } as const;

/** The `webhook-id`: the same event at the same endpoint always has the same. */
export function deliveryId({ type, tenantId, callId, part }: WebhookEvent, endpoint: string): string {
  const name = JSON.stringify([tenantId, type, callId, part, endpoint]);
  return `msg_${createHash('sha256').update(name).digest('base64url').slice(0, 32)}`;
}

/** What this endpoint is sent: type, time and data, as the Standard Webhooks specification suggests. */
export function bodyFor(event: WebhookEvent, endpoint: Pick<WebhookEndpoint, 'numbers' | 'words'>): JsonValue {
  const numbers = Object.entries(event.numbers).map(([name, number]) => [
    name,
    endpoint.numbers === 'full' ? number : maskNumber(number),
  ]);
  return {
    type: event.type,
    timestamp: new Date(event.atMs).toISOString(),
    data: {
      [event.of === undefined ? 'callId' : ID_NAMES[event.of]]: event.callId,
      tenantId: event.tenantId,
      ...event.data,
      ...Object.fromEntries(numbers),
      ...(endpoint.words ? wordsFor(event, endpoint) : {}),
    },
  };
}

function wordsFor({ words, numbers }: WebhookEvent, endpoint: Pick<WebhookEndpoint, 'numbers'>): JsonRecord {
  const own = Object.values(numbers);
  const masked = (value: z.core.util.JSONType): JsonValue => {
    if (typeof value === 'string') return maskNumbersIn(value, own);
    if (Array.isArray(value)) return value.map(masked);
    return typeof value === 'object' && value !== null ? maskedRecord(value) : value;
  };
  const maskedRecord = (record: Readonly<Record<string, z.core.util.JSONType>>): JsonRecord =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [maskNumbersIn(name, own), masked(value)]));
  return endpoint.numbers === 'full' ? words : maskedRecord(words);
}

const latencies = z.record(z.string(), z.number());
const NO_MORE = { part: '', numbers: {}, words: {} };

function factsOf(record: NewCallRecord) {
  const { botName, carrier, carrierCallId, direction, language } = record;
  return { botName, carrier, carrierCallId, direction, language, startedAt: new Date(record.startedAtMs).toISOString() };
}

export function callStarted(record: NewCallRecord): WebhookEvent {
  const { tenantId, id: callId, from, to, startedAtMs: atMs } = record;
  return { ...NO_MORE, type: 'call.started', tenantId, callId, atMs, data: factsOf(record), numbers: { from, to } };
}

export function callEnded(record: NewCallRecord): WebhookEvent {
  const { tenantId, id: callId, from, to, startedAtMs, summary, turns, variables = {}, notes = [] } = record;
  const atMs = record.endedAtMs ?? startedAtMs;
  const data = {
    ...factsOf(record),
    endedAt: new Date(atMs).toISOString(),
    endReason: record.endReason ?? '',
    durationMs: summary['durationMs'] ?? atMs - startedAtMs,
    turns: turns.length,
    recorded: record.recordingPath !== undefined,
    ...(record.outbound?.answeredBy === undefined ? {} : { answeredBy: record.outbound.answeredBy }),
    ...(record.outbound?.message === undefined ? {} : { message: record.outbound.message }),
    ...(record.cost === undefined ? {} : { cost: JSON_COST.parse(JSON.parse(JSON.stringify(record.cost))) }),
    ...(record.optOut === undefined ? {} : { optOut: record.optOut.kind }),
    ...(record.callBackAtMs === undefined ? {} : { callBackAt: new Date(record.callBackAtMs).toISOString() }),
  };
  const words = { variables, notes };
  return { ...NO_MORE, type: 'call.ended', tenantId, callId, atMs, data, numbers: { from, to }, words };
}

/** The messages that were left after the tone, each with where its sound is. */
export function voicemailsLeft(record: NewCallRecord): WebhookEvent[] {
  const { tenantId, id: callId, botName, from, to, turns, voicemails = [] } = record;
  return voicemails.map(({ turn, startedAtMs, durationMs, recorded }) => {
    const isKept = recorded !== undefined && record.recordingPath !== undefined;
    const audio = isKept ? { audio: `/api/calls/${callId}/voicemails/${turn}/audio` } : {};
    const startedAt = new Date(startedAtMs).toISOString();
    const callerText = turns.find(({ index }) => index === turn)?.callerText ?? '';
    return {
      type: 'call.voicemail',
      tenantId,
      callId,
      part: String(turn),
      atMs: startedAtMs + durationMs,
      data: { botName, turn, startedAt, durationMs: Math.round(durationMs), ...audio },
      numbers: { from, to },
      words: { callerText },
    };
  });
}

/** @param index which turn of the record; it is over */
export function turnCompleted(record: NewCallRecord, index: number): WebhookEvent | undefined {
  const turn = record.turns.find((candidate) => candidate.index === index);
  if (turn === undefined) return undefined;
  const { tenantId, id: callId, botName } = record;
  const { inputKind, interrupted, callerText, botText, botHeardText } = turn;
  const latenciesMs = latencies.parse(JSON.parse(JSON.stringify(turn.latencies)));
  return {
    ...NO_MORE,
    type: 'turn.completed',
    tenantId,
    callId,
    part: String(index),
    atMs: turn.botEndedAtMs ?? turn.startedAtMs,
    data: { botName, turn: index, inputKind, interrupted, latenciesMs, startedAt: new Date(turn.startedAtMs).toISOString() },
    words: { callerText, botText, botHeardText },
  };
}

/** Something happened to an outbound call. @param atMs wall time */
export function attemptEvent(
  what: 'refused' | 'placed' | 'ringing' | 'answered' | 'ended',
  attempt: Attempt,
  atMs: number,
): WebhookEvent {
  const {
    tenantId,
    id: callId,
    botName,
    carrier,
    carrierCallId,
    campaignId,
    contactId,
    index,
    profile,
    purpose,
    from,
    to,
  } = attempt;
  const { placedAtMs, ringingAtMs, answeredAtMs, endedAtMs, answeredBy, disposition, cause, callBackAtMs } = attempt;
  const known = {
    carrierCallId,
    campaignId,
    contactId,
    purpose,
    answeredBy,
    disposition,
    cause,
    placedAt: isoTime(placedAtMs),
    ringingAt: isoTime(ringingAtMs),
    answeredAt: isoTime(answeredAtMs),
    endedAt: isoTime(endedAtMs),
    callBackAt: isoTime(callBackAtMs),
  };
  const data = { botName, carrier, attempt: index, profile, ...JSON_RECORD.parse(JSON.parse(JSON.stringify(known))) };
  const words = { variables: { ...attempt.variables }, metadata: { ...attempt.metadata } };
  return { type: `attempt.${what}`, tenantId, callId, part: '', atMs, data, numbers: { from, to }, words };
}

const JSON_COST = z.json();
const JSON_RECORD = z.record(z.string(), z.string());

function isoTime(atMs: number | undefined): string | undefined {
  return atMs === undefined ? undefined : new Date(atMs).toISOString();
}

/** An analysis was stored, or given up. */
export function analysisEnded(about: {
  readonly tenantId: string;
  readonly callId: string;
  readonly profile: string;
  readonly version: number;
  readonly atMs: number;
  readonly disposition?: string | undefined;
  readonly score?: number | undefined;
  /** Why it was given up: an error code. */
  readonly failure?: string | undefined;
}): WebhookEvent {
  const { tenantId, callId, atMs, profile, version, disposition, score, failure } = about;
  const data = {
    profile,
    version,
    ...(disposition === undefined ? {} : { disposition }),
    ...(score === undefined ? {} : { score }),
    ...(failure === undefined ? {} : { failure }),
  };
  const type = failure === undefined ? 'analysis.completed' : 'analysis.failed';
  return { ...NO_MORE, type, tenantId, callId, part: `${profile}/${version}`, atMs, data };
}

/** What became of a campaign. */
export interface CampaignNews {
  readonly tenantId: string;
  readonly campaignId: string;
  readonly name: string;
  readonly botName: string;
  readonly change: 'started' | 'paused' | 'resumed' | 'finished' | 'stopped';
  /** When its state changed: two changes of a campaign have different times. */
  readonly atMs: number;
  /** Why it paused or stopped. */
  readonly reason?: string | undefined;
  /** Contacts by where they stand, such as `waiting` and `done`. */
  readonly contacts: Readonly<Record<string, number>>;
}

export function campaignChanged({
  tenantId,
  campaignId,
  name,
  botName,
  change,
  atMs,
  reason,
  contacts,
}: CampaignNews): WebhookEvent {
  const data = { name, botName, ...(reason === undefined ? {} : { reason }), contacts };
  return { ...NO_MORE, type: `campaign.${change}`, tenantId, callId: campaignId, of: 'campaign', part: String(atMs), atMs, data };
}

/** A log of audits has grown to this entry. */
export function auditHeadReached(head: {
  readonly log: 'actions' | 'decisions';
  readonly of: string;
  readonly sequence: number;
  readonly hash: string;
  readonly at: string;
}): WebhookEvent {
  const { log, of, sequence, hash, at } = head;
  const tenantId = log === 'decisions' ? of : 'default';
  const facts = { tenantId, callId: `${log}:${of}`, of: 'log', part: `${sequence}:${hash}`, atMs: Date.parse(at) } as const;
  return { ...NO_MORE, type: 'audit.head', ...facts, data: { log, of, sequence, hash, at } };
}
