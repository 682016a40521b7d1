import { z } from 'zod';
import { type CallCost, type CostPart, knownMicros, totalMicros, withParts } from '../../costs/cost.ts';
import { StoreRecordError } from '../errors.ts';
import { figuresOf } from '../figures.ts';
import type { CallRecord, NewCallRecord } from '../port.ts';
import type { CallKey } from './keys.ts';
import { callRecord, callTurn, storable } from '../record.ts';

/** The part of a call's row sealed under its key. */
const personalCall = callRecord.pick({
  from: true,
  to: true,
  digits: true,
  variables: true,
  notes: true,
  metadata: true,
  outbound: true,
  mode: true,
  rehearsal: true,
  optOut: true,
  callBackAtMs: true,
  transfers: true,
  voicemails: true,
});

/** Recogniser and synthesizer have no column, and are stored beside the words. */
const personalTurn = callTurn.pick({
  callerText: true,
  botText: true,
  botHeardText: true,
  recogniser: true,
  synthesizer: true,
  steps: true,
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

/** Columns of facts that a newer revision may lack. */
const NO_FACTS = {
  answeredAtMs: null,
  endedAtMs: null,
  endReason: null,
  recordingPath: null,
  recordingSidecarPath: null,
  recordingStartedAtMs: null,
  recordingWanted: null,
  botVersion: null,
};

const NOT_COUNTED = { ending: null, result: null, answered: false, optedOut: false, cutOffs: 0, notUnderstood: 0 };

/** A record as columns: personal data sealed, the rest plain. Fields missing in a newer revision become null. */
export function callColumns(record: CallRecord, key: CallKey) {
  const { legs, attachments, turns, timeline, usage: _inCost, cost, ...facts } = record;
  const { plain, personal } = split(personalCall, facts);
  return {
    call: {
      ...NO_FACTS,
      ...plain,
      path: record.rehearsal === true ? null : pathOf(turns),
      turnCount: turns.length,
      durationMs: record.endedAtMs === undefined ? null : Math.max(0, record.endedAtMs - record.startedAtMs),
      ...replyTimes(turns),
      ...(figuresOf(record) ?? NOT_COUNTED),
      ...costColumns(cost),
      campaignId: record.outbound?.campaignId ?? null,
      answeredBy: record.outbound?.answeredBy ?? null,
      personal: key.seal('call', personal),
    },
    events: { count: timeline.length, timeline: key.seal('timeline', timeline) },
    turns: turns.map((turn) => {
      const { plain: row, personal: said } = split(personalTurn, turn);
      return { ...row, personal: key.seal(`turn/${turn.index}`, said) };
    }),
    legs,
    attachments,
  };
}

/** Parts a record's sealed fields from those with columns of their own; undefined ones are left out. */
function split<Shape extends z.ZodRawShape, Fields extends object>(sealed: z.ZodObject<Shape>, fields: Fields) {
  const isSealed = ([name]: [string, unknown]): boolean => name in sealed.shape;
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return {
    personal: Object.fromEntries(entries.filter(isSealed)),
    // The rest, by the same names.
    plain: Object.fromEntries(entries.filter((entry) => !isSealed(entry))) as Omit<Fields, keyof Shape>,
  };
}

/** A cost as columns, so that costs can be added up. @param later parts from after the call */
export function costColumns(cost: CallCost | undefined, later: Readonly<Record<string, readonly CostPart[]>> = {}) {
  const parts = Object.values(later).flat();
  if (cost === undefined) return { costMicros: null, knownCostMicros: null, costCurrency: null, cost: null };
  const whole = withParts(cost, parts);
  return { costMicros: totalMicros(whole), knownCostMicros: knownMicros(whole), costCurrency: cost.currency, cost };
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
