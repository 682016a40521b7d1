import { z } from 'zod';
import { StoreRecordError } from '../errors.ts';
import type { CallRecord, NewCallRecord } from '../port.ts';
import type { CallKey } from './keys.ts';
import { callRecord, callTurn, outboundCall, storable } from '../record.ts';

/** The part of a call's row sealed under its key. */
const personalCall = z.object({
  from: z.string(),
  to: z.string(),
  digits: z.string(),
  variables: z.record(z.string(), z.string()).optional(),
  notes: z.array(z.string()).optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  outbound: outboundCall.optional(),
  mode: callRecord.shape.mode,
  optOut: callRecord.shape.optOut,
  callBackAtMs: callRecord.shape.callBackAtMs,
  transfers: callRecord.shape.transfers,
  voicemails: callRecord.shape.voicemails,
});

/** Recogniser and synthesizer have no column, and are stored beside the words. */
const personalTurn = z.object({
  callerText: z.string(),
  botText: z.string(),
  botHeardText: z.string(),
  recogniser: z.string().optional(),
  synthesizer: z.string().optional(),
  steps: callTurn.shape.steps,
});

const NOBODY: z.infer<typeof personalCall> = { from: '', to: '', digits: '' };
const NOTHING_SAID: z.infer<typeof personalTurn> = { callerText: '', botText: '', botHeardText: '' };

/** @throws StoreRecordError for an invalid record */
export function checkedRecord(record: NewCallRecord): CallRecord {
  const result = callRecord.safeParse(storable(record));
  if (!result.success) {
    throw new StoreRecordError(`not a call record: ${z.prettifyError(result.error)}`, { facts: { callId: record.id } });
  }
  return result.data;
}

/** A record as columns: personal data sealed, the rest plain. Fields missing in a newer revision become null. */
export function callColumns(record: CallRecord, key: CallKey) {
  const { legs, attachments, turns, timeline, id, ...facts } = record;
  const { from, to, digits, variables, notes, metadata, outbound, mode, optOut, callBackAtMs, transfers, voicemails, ...plain } =
    facts;
  return {
    call: {
      ...plain,
      id,
      answeredAtMs: plain.answeredAtMs ?? null,
      endedAtMs: plain.endedAtMs ?? null,
      endReason: plain.endReason ?? null,
      recordingPath: plain.recordingPath ?? null,
      recordingSidecarPath: plain.recordingSidecarPath ?? null,
      recordingStartedAtMs: plain.recordingStartedAtMs ?? null,
      recordingWanted: plain.recordingWanted ?? null,
      botVersion: plain.botVersion ?? null,
      path: pathOf(turns),
      turnCount: turns.length,
      durationMs: plain.endedAtMs === undefined ? null : Math.max(0, plain.endedAtMs - plain.startedAtMs),
      ...replyTimes(turns),
      campaignId: outbound?.campaignId ?? null,
      answeredBy: outbound?.answeredBy ?? null,
      personal: key.seal('call', {
        from,
        to,
        digits,
        variables,
        notes,
        metadata,
        outbound,
        mode,
        optOut,
        callBackAtMs,
        transfers,
        voicemails,
      }),
    },
    events: { count: timeline.length, timeline: key.seal('timeline', timeline) },
    turns: turns.map(({ callerText, botText, botHeardText, recogniser, synthesizer, steps, ...turn }) => ({
      ...turn,
      personal: key.seal(`turn/${turn.index}`, { callerText, botText, botHeardText, recogniser, synthesizer, steps }),
    })),
    legs,
    attachments,
  };
}

/** Longest stored path; a longer one is a loop. */
const MOST_STEPS = 500;

/** All dialog steps of the call, oldest first; null where there are none. */
function pathOf(turns: CallRecord['turns']): string[] | null {
  const path = turns.flatMap(({ steps = [] }) => steps).slice(0, MOST_STEPS);
  return path.length === 0 ? null : path;
}

/** Callers' waits for replies, in whole ms; without the greeting and questions after silence. */
function replyTimes(turns: CallRecord['turns']): { worstReplyMs: number | null; medianReplyMs: number | null } {
  const waits = turns
    .flatMap(({ inputKind, latencies: { total } }) =>
      total !== undefined && (inputKind === 'spoken' || inputKind === 'keyed') ? [total] : [],
    )
    .sort((a, b) => a - b);
  const half = waits.length / 2;
  const [lower, upper, worst] = [waits[Math.ceil(half) - 1], waits[Math.floor(half)], waits.at(-1)];
  if (lower === undefined || upper === undefined || worst === undefined) return { worstReplyMs: null, medianReplyMs: null };
  return { worstReplyMs: Math.round(worst), medianReplyMs: Math.round((lower + upper) / 2) };
}

/** @param key undefined when destroyed: numbers and words are then empty */
export function openCall(sealed: Uint8Array | null, key: CallKey | undefined): z.infer<typeof personalCall> {
  return sealed === null || key === undefined ? NOBODY : personalCall.parse(key.open('call', sealed));
}

export function openTurn(index: number, sealed: Uint8Array | null, key: CallKey | undefined): z.infer<typeof personalTurn> {
  return sealed === null || key === undefined ? NOTHING_SAID : personalTurn.parse(key.open(`turn/${index}`, sealed));
}

export function openTimeline(sealed: Uint8Array | undefined, key: CallKey | undefined): unknown {
  return sealed === undefined || key === undefined ? [] : key.open('timeline', sealed);
}

/** SQL has null where our records have nothing. */
export function withoutNulls(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}
