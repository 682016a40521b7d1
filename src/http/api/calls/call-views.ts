import { z } from 'zod';
import { liveCall, type LiveCall } from '../../../call/admission/live-calls.ts';
import { TRANSFER_STATES } from '../../../call/live-session.ts';
import { ANSWERED_BY } from '../../../config/answered-by.ts';
import type { Attempt } from '../../../records/dialling.ts';
import { RequestRefused } from '../../problem.ts';
import type { Principal } from '../system/api-keys.ts';
import { attemptView, viewOfAttempt } from './attempt-views.ts';
import type { CallSummary, StoredCall } from '../../../records/port.ts';
import { plainText } from '../../../records/privacy/blind-index.ts';
import { maskNumber, maskNumbersIn } from '../../../records/privacy/mask-number.ts';
import { callRecord, callTransfer, callTurn, outboundCall, timelineEvent } from '../../../records/record.ts';

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
} as const;

export const callView = callSummaryView.omit(ofLists).extend({
  /** Where the recording's first sample stands on the timeline, in ms since the call started; null without a recording. */
  recordingStartsMs: z.number().nullable(),
  legalHold: z.boolean(),
  /** `listen`: a call between people; the bot's texts are those of the other party. */
  mode: z.enum(['bot', 'listen']),
  summary: z.record(z.string(), z.number()),
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

type Summary = Omit<z.output<typeof callSummaryView>, keyof typeof ofLists>;
type Listed = 'turnCount' | 'durationMs' | 'worstReplyMs' | 'medianReplyMs' | 'campaignId' | 'answeredBy';

/** Formats numbers as this key may see them. */
export function numbersFor({ scopes }: Pick<Principal, 'scopes'>): (number: string) => string {
  return (number) => (scopes.includes('numbers:read') ? number : maskNumber(number));
}

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

/** Formats a call's texts, with numbers in them as this key may see them. */
export function textsFor({ from, to }: { readonly from: string; readonly to: string }, { scopes }: Pick<Principal, 'scopes'>) {
  return (text: string): string => (scopes.includes('numbers:read') ? text : maskNumbersIn(text, [from, to]));
}

export function maskedEntries(texts: Readonly<Record<string, string>>, masked: (text: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([name, value]) => [masked(name), masked(value)]));
}

function summaryOf(call: Omit<CallSummary, Listed>, key: Principal): Summary {
  const shown = numbersFor(key);
  const masked = textsFor(call, key);
  return {
    id: call.id,
    bot: call.botName,
    carrier: call.carrier,
    from: shown(call.from),
    to: shown(call.to),
    direction: call.direction,
    language: call.language,
    startedAt: isoTime(call.startedAtMs),
    endedAt: call.endedAtMs === undefined ? null : isoTime(call.endedAtMs),
    endReason: call.endReason ?? null,
    recorded: call.recorded,
    disposition: call.disposition ?? null,
    analysis: call.keeping.analysisState,
    variables: maskedEntries(call.variables, masked),
    notes: call.notes.map(masked),
  };
}

export function summaryView(call: CallSummary, key: Principal): z.output<typeof callSummaryView> {
  return {
    ...summaryOf(call, key),
    turns: call.turnCount,
    durationMs: call.durationMs ?? null,
    worstReplyMs: call.worstReplyMs ?? null,
    medianReplyMs: call.medianReplyMs ?? null,
    campaign: call.campaignId ?? null,
    answeredBy: call.answeredBy ?? null,
  };
}

/** @param attempt of an outbound call */
export function detailView(call: StoredCall, key: Principal, attempt?: Attempt): z.output<typeof callView> {
  const { summary, turns, timeline, keeping, recordingPath, outbound, metadata = {}, optOut, callBackAtMs } = call;
  const isRecorded = keeping.audioErasedAtMs === undefined && (keeping.recordingObject ?? recordingPath) !== undefined;
  const recordedAtMs = call.recordingStartedAtMs ?? call.answeredAtMs ?? call.startedAtMs;
  return {
    ...summaryOf(
      {
        ...call,
        endedAtMs: call.endedAtMs,
        endReason: call.endReason,
        variables: call.variables ?? {},
        notes: call.notes ?? [],
        recorded: isRecorded,
      },
      key,
    ),
    recordingStartsMs: isRecorded ? recordedAtMs - call.startedAtMs : null,
    legalHold: keeping.legalHold,
    mode: call.mode ?? 'bot',
    summary,
    outbound: outbound === undefined ? null : { ...outbound, metadata: maskedEntries(metadata, textsFor(call, key)) },
    optOut: optOut === undefined ? null : { kind: optOut.kind, how: optOut.how, at: isoTime(optOut.atMs) },
    callBackAt: callBackAtMs === undefined ? null : isoTime(callBackAtMs),
    voicemails: (call.voicemails ?? []).map(({ turn, startedAtMs, durationMs, recorded }) => {
      return { turn, at: isoTime(startedAtMs), durationMs: Math.round(durationMs), audio: isRecorded && recorded !== undefined };
    }),
    transfers: (call.transfers ?? []).map((transfer) => ({ ...transfer, to: numbersFor(key)(transfer.to) })),
    attempt: attempt === undefined ? null : viewOfAttempt(attempt, key),
    turns,
    timeline,
  };
}

/** An outbound call that is not in the store: it is ringing, in progress, or was never answered. */
export function dialledView(dialled: Attempt, key: Principal): z.output<typeof callView> {
  const attempt = viewOfAttempt(dialled, key);
  const { id, bot, carrier, from, to, variables, createdAt, endedAt, disposition, callBackAt } = attempt;
  return {
    id,
    bot,
    carrier,
    from,
    to,
    direction: 'outbound',
    language: '',
    startedAt: createdAt,
    endedAt,
    endReason: disposition,
    disposition: null,
    analysis: 'none',
    variables,
    notes: [],
    recorded: false,
    recordingStartsMs: null,
    legalHold: false,
    mode: 'bot',
    summary: {},
    outbound: null,
    optOut: null,
    callBackAt,
    transfers: [],
    voicemails: [],
    attempt,
    turns: [],
    timeline: [],
  };
}

export function isoTime(wallMs: number): string {
  return new Date(wallMs).toISOString();
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

export function liveView(call: LiveCall, key: Pick<Principal, 'scopes'>): z.output<typeof liveCallView> {
  const shown = numbersFor(key);
  const { id, bot, carrier, from, to, direction, startedAtWallMs, phase, muted, mutedUntilWallMs, turns, transfer } = call;
  return {
    id,
    bot,
    carrier,
    from: shown(from),
    to: shown(to),
    direction,
    since: isoTime(startedAtWallMs),
    phase,
    answeredBy: call.answeredBy ?? null,
    muted,
    mode: call.mode ?? 'bot',
    mutedUntil: mutedUntilWallMs === undefined ? null : isoTime(mutedUntilWallMs),
    transfer:
      transfer === undefined ? null : { to: shown(transfer.to), state: transfer.state, since: isoTime(transfer.sinceWallMs) },
    turns,
    takenOver: call.takenOver ?? null,
    health: { ...call.health, lastReplyMs: call.health.lastReplyMs ?? null },
    words: key.scopes.includes('calls:listen') ? { caller: call.callerText, bot: call.botText } : null,
  };
}
