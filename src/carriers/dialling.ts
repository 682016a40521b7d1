import type { DialEnd, DialProgress, FoundDial } from './port.ts';

/** Longest time of a dial beside its ringing: queueing, the way to the phone, opening the media socket. */
const BESIDE_RINGING_MS = 60_000;

/** Longest that a carrier may queue an order. A longer queued call is cancelled. */
export const MOST_QUEUED_MS = 30_000;

/** Token life for a dial's stream address: valid for any answer in time. */
export function dialTokenMs(ringTimeoutMs: number): number {
  return ringTimeoutMs + BESIDE_RINGING_MS;
}

/** SIP answers for a refusal by the person or phone: 603 Decline, 607 Unwanted, 608 Rejected (RFC 3261, 8197, 8688). */
const DECLINED = [603, 607, 608];
/** 480 Temporarily Unavailable: the phone is off or without network. */
const UNAVAILABLE = 480;

/**
 * The end of an unanswered call.
 * @param outcome the carrier's own word; the SIP answer, where there is one, is more exact
 * @param about.code the carrier's own code or word, where there is one
 */
export function unansweredEnd(
  outcome: 'busy' | 'no-answer' | 'rejected' | 'failed' | 'cancelled',
  { sip, code }: { readonly sip?: number | undefined; readonly code?: string | undefined } = {},
): DialProgress {
  const cause = code ?? (sip === undefined ? undefined : `SIP ${sip}`);
  const exact = outcome === 'cancelled' ? outcome : sip === undefined ? outcome : (outcomeOfSip(sip) ?? outcome);
  return { state: 'ended', outcome: exact, ...(cause === undefined ? {} : { cause }) };
}

function outcomeOfSip(sip: number): DialEnd | undefined {
  if (DECLINED.includes(sip)) return 'rejected';
  return sip === UNAVAILABLE ? 'no-answer' : undefined;
}

/** A carrier's words for how far a call has come, and for its end. */
export type ProgressWords = Readonly<Record<string, 'queued' | 'ringing' | 'answered' | DialEnd>>;

/** A call's progress by the carrier's word; undefined for an unknown word. @param about of an unanswered call's end */
export function progressBy(
  words: ProgressWords,
  word: string,
  about?: { readonly sip?: number | undefined; readonly code?: string | undefined },
): DialProgress | undefined {
  const told = ownValue(words, word);
  if (told === undefined || told === 'queued' || told === 'ringing' || told === 'answered') return told && { state: told };
  return told === 'completed' ? { state: 'ended', outcome: told } : unansweredEnd(told, about);
}

/** A table's value for a name that comes from outside: inherited properties are excluded. */
export function ownValue<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** A SIP status among a carrier's fields, 100 to 699. */
export function sipStatus(text: string | null | undefined): number | undefined {
  return /^[1-6]\d\d$/u.test(text ?? '') ? Number(text) : undefined;
}

/** The part of a listed call that identifies its order. */
export interface ListedCall {
  readonly carrierCallId: string;
  /** By the carrier's wall clock; NaN where unknown. */
  readonly createdAtMs: number;
  readonly progress: DialProgress;
}

/** An order becomes a call within a second or two of its request, which is given up after 15 s. */
const CREATED_WITHIN_MS = 60_000;
/** Carriers give whole seconds, and the clocks were compared through a third message. */
const CLOCK_MARGIN_MS = 3_000;
/**
 * Assumed lag of a carrier's call list, as carriers document none. Within it a missing call proves nothing. A call that was placed after all still
 * reports to the dial's address, which names our id.
 */
const LIST_LAG_MS = 120_000;

/**
 * Finds the call between an order's two numbers that came of the order.
 * - Calls dated (by the carrier's clock) before the order, or more than `withinMs` after it, are excluded.
 * - One left: that is it. Another program calling the same pair of numbers on the same account in the same minute would be mistaken for it.
 * - Several left: unknown, since a wrong one would be ended and reported.
 * - None left: certainly not placed once `LIST_LAG_MS` have passed since the order, unknown before.
 * @param askedAtMs time of the order, on our wall clock
 * @param clocks both wall clocks at the same moment, now
 * @param withinMs how long after the order its call may be dated
 */
export function foundAmong(
  calls: readonly ListedCall[],
  askedAtMs: number,
  clocks: { readonly ours: number; readonly carriers: number },
  withinMs = CREATED_WITHIN_MS,
): FoundDial {
  const askedMs = askedAtMs + clocks.carriers - clocks.ours;
  const near = calls.filter(({ createdAtMs }) => createdAtMs >= askedMs - CLOCK_MARGIN_MS && createdAtMs <= askedMs + withinMs);
  const [call] = near;
  if (near.length === 1 && call !== undefined)
    return { found: 'placed', carrierCallId: call.carrierCallId, progress: call.progress };
  const isOld = clocks.ours - askedAtMs >= LIST_LAG_MS;
  // A call without a known time may be ours.
  const mayBe = near.length > 0 || calls.some(({ createdAtMs }) => Number.isNaN(createdAtMs));
  return { found: isOld && !mayBe ? 'not-placed' : 'unknown' };
}

/** @returns whole seconds as carriers want them, never 0 */
export function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}

/** A number without the plus, as many carriers write it. */
export function withoutPlus(number: string): string {
  return number.replace(/^\+/u, '');
}

/** The reverse; any other text stays as it is. */
export function withPlus(number: string): string {
  return /^[1-9]\d{6,14}$/u.test(number) ? `+${number}` : number;
}

/** Parses a carrier's time, UTC unless it has a zone, to ms since the epoch; NaN for no time. */
export function utcTime(text: string | null | undefined): number {
  if (text === undefined || text === null) return Number.NaN;
  return Date.parse(/Z|[+-]\d\d:?\d\d$/u.test(text) ? text : `${text.replace(' ', 'T')}Z`);
}

/** The token in the address of a media stream (`DialOrder.streamUrl`). */
export function tokenOf(streamUrl: string): string {
  return streamUrl.slice(streamUrl.lastIndexOf('/') + 1);
}
