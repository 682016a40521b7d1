import { z } from 'zod';
import type { NewCallRecord } from '../../store/record.ts';
import type { WebhookEvent } from './webhook-event.ts';

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
  };
  const words = { variables, notes };
  return { ...NO_MORE, type: 'call.ended', tenantId, callId, atMs, data, numbers: { from, to }, words };
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
