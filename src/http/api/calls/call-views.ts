import { z } from 'zod';
import { ANSWERED_BY } from '../../../config/answered-by.ts';
import { callCost } from '../../../costs/cost.ts';
import { type Attempt, ATTEMPT_STATES, DISPOSITIONS, PURPOSES } from '../../../records/dialling.ts';
import type { Principal } from '../system/api-keys.ts';
import { maskedEntries, textsFor, viewOf, isoTime, numbersFor, optionalTime } from '../views.ts';
import { liveCall, type LiveCall } from '../../../call/admission/live-calls.ts';
import { TRANSFER_STATES } from '../../../call/live-session.ts';
import { RequestRefused } from '../../problem.ts';
import type { CallSummary, StoredCall } from '../../../records/port.ts';
import { plainText } from '../../../records/privacy/blind-index.ts';
import { callRecord, callTransfer, callTurn, outboundCall, timelineEvent } from '../../../records/record.ts';

const timeOrNull = z.iso.datetime().nullable();
const texts = z.record(z.string(), z.string());

/** An outbound call, from the gate's decision to its result. */
export const attemptView = z.object({
  /** The call's id too. */
  id: z.string(),
  /** `placing`: the carrier was asked, and has reported no progress yet. */
  state: z.enum(ATTEMPT_STATES),
  bot: z.string(),
  carrier: z.string(),
  carrierCallId: z.string().nullable(),
  from: z.string(),
  /** Masked without the scope `numbers:read`; empty once erased. */
  to: z.string(),
  campaign: z.string().nullable(),
  contact: z.string().nullable(),
  /** Number of the attempt for its contact, from 1. */
  attempt: z.int(),
  profile: z.string(),
  purpose: z.enum(PURPOSES).nullable(),
  variables: texts,
  metadata: texts,
  ringTimeoutMs: z.int(),
  /** Entry of the gate's decision in its log. */
  decision: z.int(),
  createdAt: z.iso.datetime(),
  /** When the carrier was asked. */
  placedAt: timeOrNull,
  ringingAt: timeOrNull,
  answeredAt: timeOrNull,
  endedAt: timeOrNull,
  answeredBy: z.enum(ANSWERED_BY).nullable(),
  disposition: z.enum(DISPOSITIONS).nullable(),
  /** The carrier's own code or word for a failure, or the name of a refusal. */
  cause: z.string().nullable(),
  /** When the person asked to be called back. */
  callBackAt: timeOrNull,
});

export const attemptPageView = z.object({ attempts: z.array(attemptView), next: z.string().nullable() });

export function viewOfAttempt(attempt: Attempt, key: Pick<Principal, 'scopes'>): z.output<typeof attemptView> {
  const { from, to } = attempt;
  const masked = textsFor([from, to], key);
  return viewOf(attemptView, attempt, {
    bot: attempt.botName,
    from: masked(from),
    to: masked(to),
    campaign: attempt.campaignId ?? null,
    contact: attempt.contactId ?? null,
    attempt: attempt.index,
    variables: maskedEntries(attempt.variables, masked),
    metadata: maskedEntries(attempt.metadata, masked),
    decision: attempt.decisionSequence,
  });
}

const wallTime = z.iso.datetime();

/** Facts of any call, live or ended. */
export const anyCallView = z.object({
  id: z.string(),
  bot: z.string(),
  carrier: z.string(),
  /** Masked without the scope `numbers:read`; empty once erased. */
  from: z.string(),
  to: z.string(),
  direction: z.enum(['inbound', 'outbound']),
});

export const callSummaryView = anyCallView.extend({
  language: z.string(),
  startedAt: wallTime,
  endedAt: wallTime.nullable(),
  endReason: z.string().nullable(),
  /** Null while the call goes on. */
  durationMs: z.int().nullable(),
  /** Longest and median wait for a reply: from the caller's last voiced sample to its first frame. Null without one. */
  worstReplyMs: z.int().nullable(),
  medianReplyMs: z.int().nullable(),
  recorded: z.boolean(),
  /** Outbound calls: campaign, and who answered. */
  campaign: z.string().nullable(),
  answeredBy: z.enum(ANSWERED_BY).nullable(),
  turns: z.int(),
  disposition: z.string().nullable(),
  /** What an ended call cost, in `currency`; `unknown` where a part has no price. Null for older calls. */
  cost: z.union([z.number(), z.literal('unknown')]).nullable(),
  /** Sum of the parts that have a price. */
  knownCost: z.number().nullable(),
  currency: z.string().nullable(),
  analysis: z.enum(['none', 'pending', 'done', 'failed']),
  /** The dialog's variables (a flow: its slots) and notes. Numbers in them are masked without `numbers:read`. */
  variables: z.record(z.string(), z.string()),
  notes: z.array(z.string()),
});

/** Fields of lists only: the details have the turns, and all opinions of who answered. */
const ofLists = {
  turns: true,
  durationMs: true,
  worstReplyMs: true,
  medianReplyMs: true,
  campaign: true,
  answeredBy: true,
  cost: true,
  knownCost: true,
  currency: true,
} as const;

export const callView = callSummaryView.omit(ofLists).extend({
  /** Where the recording's first sample stands on the timeline, in ms since the call started; null without a recording. */
  recordingStartsMs: z.number().nullable(),
  legalHold: z.boolean(),
  /** What the call and its analysis cost, part by part; null before its end, and for older calls. */
  cost: callCost.nullable(),
  /** `listen`: a call between people; the bot's texts are those of the other party. */
  mode: z.enum(['bot', 'listen']),
  /** A person tried out a draft of the bot: statistics and the inbox leave it out. */
  rehearsal: z.boolean(),
  summary: z.record(z.string(), z.number()),
  /**
   * The caller's line: audio that never arrived, the share of their speech that was clipped, and what of it harmed their words. Null where it was not
   * measured.
   */
  line: z.object({ gapsMs: z.number(), clippedShare: z.number(), problems: z.array(z.enum(['gaps', 'clipping'])) }).nullable(),
  /** Outbound calls: who answered, with each opinion; the message left; and the metadata given. */
  outbound: outboundCall.extend({ metadata: z.record(z.string(), z.string()) }).nullable(),
  /** The person asked not to be called again. */
  optOut: callRecord.shape.optOut.unwrap().omit({ atMs: true }).extend({ at: wallTime }).nullable(),
  /** When the person asked to be called. */
  callBackAt: wallTime.nullable(),
  /** Transfers, oldest first, with their results. */
  transfers: z.array(callTransfer),
  /** Messages left after the tone, oldest first; their words are in the turn. `audio`: the sound can be played. */
  voicemails: z.array(z.object({ turn: z.int(), at: wallTime, durationMs: z.number(), audio: z.boolean() })),
  /** Outbound calls: how the dial went. The only information while the phone rings, or for an unanswered call. */
  attempt: attemptView.nullable(),
  turns: z.array(callTurn),
  timeline: z.array(timelineEvent),
});

export const callPageView = z.object({ calls: z.array(callSummaryView), next: z.string().nullable() });

/** Number of calls that match a search. */
export const callCountView = z.object({
  count: z.int(),
  /** Whether there may be more. */
  more: z.boolean(),
});

/** Shorter numbers stay visible in texts, so searching for them reveals nothing. */
const LONG_NUMBER = /\p{N}{7,}/u;

/**
 * Refuses a search by a number that the key sees masked: its result would reveal the number.
 * @throws RequestRefused 403
 */
export function refuseNumberSearch({ scopes }: Pick<Principal, 'scopes'>, asked: NumberSearch): void {
  if (scopes.includes('numbers:read')) return;
  const texts = [asked.text, ...(asked.variable ?? [])];
  if (asked.number === undefined && !texts.some((text) => text !== undefined && LONG_NUMBER.test(plainText(text)))) return;
  throw new RequestRefused(403, 'Searching for a phone number needs the scope numbers:read.');
}

interface NumberSearch {
  readonly number?: string | undefined;
  readonly text?: string | undefined;
  readonly variable?: readonly string[] | undefined;
}

/** A call's facts with the names and masks of its view. */
function namedFacts(call: Pick<CallSummary, 'botName' | 'from' | 'to' | 'keeping' | 'variables' | 'notes'>, key: Principal) {
  const [shown, masked] = [numbersFor(key), textsFor([call.from, call.to], key)];
  return {
    bot: call.botName,
    from: shown(call.from),
    to: shown(call.to),
    analysis: call.keeping.analysisState,
    variables: maskedEntries(call.variables, masked),
    notes: call.notes.map(masked),
  };
}

const MICROS = 1_000_000;

export function summaryView(call: CallSummary, key: Principal): z.output<typeof callSummaryView> {
  const { costMicros, knownCostMicros, costCurrency: currency = null } = call;
  return viewOf(callSummaryView, call, {
    ...namedFacts(call, key),
    turns: call.turnCount,
    campaign: call.campaignId ?? null,
    cost: currency === null ? null : costMicros === undefined ? 'unknown' : costMicros / MICROS,
    knownCost: knownCostMicros === undefined ? null : knownCostMicros / MICROS,
    currency,
  });
}

/** @param attempt of an outbound call */
export function detailView(call: StoredCall, key: Principal, attempt?: Attempt): z.output<typeof callView> {
  const {
    keeping,
    recordingPath,
    outbound,
    metadata = {},
    optOut,
    variables = {},
    notes = [],
    voicemails = [],
    transfers = [],
  } = call;
  const recorded = keeping.audioErasedAtMs === undefined && (keeping.recordingObject ?? recordingPath) !== undefined;
  const recordedAtMs = call.recordingStartedAtMs ?? call.answeredAtMs ?? call.startedAtMs;
  return viewOf(callView, call, {
    ...namedFacts({ ...call, variables, notes }, key),
    recorded,
    recordingStartsMs: recorded ? recordedAtMs - call.startedAtMs : null,
    legalHold: keeping.legalHold,
    cost: call.cost ?? null,
    mode: call.mode ?? 'bot',
    rehearsal: call.rehearsal === true,
    line: lineView(call.summary),
    outbound:
      outbound === undefined ? null : { ...outbound, metadata: maskedEntries(metadata, textsFor([call.from, call.to], key)) },
    optOut: optOut === undefined ? null : { kind: optOut.kind, how: optOut.how, at: isoTime(optOut.atMs) },
    voicemails: voicemails.map(({ turn, startedAtMs, durationMs, recorded: place }) => {
      return { turn, at: isoTime(startedAtMs), durationMs: Math.round(durationMs), audio: recorded && place !== undefined };
    }),
    transfers: transfers.map((transfer) => ({ ...transfer, to: numbersFor(key)(transfer.to) })),
    attempt: attempt === undefined ? null : viewOfAttempt(attempt, key),
  });
}

function lineView(summary: Readonly<Record<string, number>>): z.output<typeof callView>['line'] {
  const { lineGapsMs: gapsMs, lineClippedShare: clippedShare, lineGaps, lineClipping } = summary;
  if (gapsMs === undefined || clippedShare === undefined) return null;
  const problems: ('gaps' | 'clipping')[] = [];
  if (lineGaps === 1) problems.push('gaps');
  if (lineClipping === 1) problems.push('clipping');
  return { gapsMs, clippedShare, problems };
}

/** An outbound call that is not in the store: it is ringing, in progress, or was never answered. */
export function dialledView(dialled: Attempt, key: Principal): z.output<typeof callView> {
  const attempt = viewOfAttempt(dialled, key);
  return {
    language: '',
    disposition: null,
    analysis: 'none',
    notes: [],
    recorded: false,
    recordingStartsMs: null,
    legalHold: false,
    cost: null,
    mode: 'bot',
    rehearsal: false,
    summary: {},
    line: null,
    outbound: null,
    optOut: null,
    transfers: [],
    voicemails: [],
    turns: [],
    timeline: [],
    ...viewOf(anyCallView, attempt, { direction: 'outbound' }),
    startedAt: attempt.createdAt,
    endedAt: attempt.endedAt,
    endReason: attempt.disposition,
    variables: attempt.variables,
    callBackAt: attempt.callBackAt,
    attempt,
  };
}

export const liveCallView = anyCallView.extend({
  since: z.iso.datetime(),
  /** Phase of the call; `dialling` and `ringing` for an outbound one; `connecting` while the carrier's socket is missing. */
  phase: liveCall.shape.phase,
  /** Who or what answered an outbound call; null while unknown. */
  answeredBy: z.enum(ANSWERED_BY).nullable(),
  muted: z.boolean(),
  /** `listen`: a call between people; `bot` in `words` is the other party. */
  mode: z.enum(['bot', 'listen']),
  /** When a muted bot is unmuted automatically; null while it is not muted. */
  mutedUntil: z.iso.datetime().nullable(),
  /** The operator who muted it and types in its place, as named in the audit log; no other may until the bot has its voice back. */
  mutedBy: z.string().nullable(),
  /** A running warm transfer, until the carrier has joined caller and agent; null without one. */
  transfer: z.object({ to: z.string(), state: z.enum(TRANSFER_STATES), since: z.iso.datetime() }).nullable(),
  turns: z.int(),
  /** The operator who has taken the call over, as named in the audit log; null while the bot has it. */
  takenOver: z.string().nullable(),
  /** Health of the call, in ms. */
  health: z.object({
    /** Total inbound audio that never arrived. */
    holesMs: z.number(),
    /** How late outbound audio plays, or the event loop runs: the greater of the two recently, in steps of 50 ms. */
    lateMs: z.number(),
    /** How long the caller waited for the last reply; null before the first. */
    lastReplyMs: z.number().nullable(),
  }),
  /** The last turn; null without the scope `calls:listen`. */
  words: z.object({ caller: z.string(), bot: z.string() }).nullable(),
});
export const liveCallsView = z.object({ calls: z.array(liveCallView) });

export function liveView(call: LiveCall, key: Pick<Principal, 'scopes'>): z.output<typeof liveCallView> {
  const shown = numbersFor(key);
  const { startedAtWallMs, mutedUntilWallMs, transfer, health } = call;
  return viewOf(liveCallView, call, {
    from: shown(call.from),
    to: shown(call.to),
    since: isoTime(startedAtWallMs),
    mode: call.mode ?? 'bot',
    mutedUntil: optionalTime(mutedUntilWallMs),
    transfer:
      transfer === undefined ? null : { to: shown(transfer.to), state: transfer.state, since: isoTime(transfer.sinceWallMs) },
    health: { ...health, lastReplyMs: health.lastReplyMs ?? null },
    words: key.scopes.includes('calls:listen') ? { caller: call.callerText, bot: call.botText } : null,
  });
}
