import type { DialEnd, DialProgress, FoundDial } from './port.ts';

/** What a dial may take beside its ringing: a queue at the carrier, the way to the phone, opening the media socket. */
const BESIDE_RINGING_MS = 60_000;

/** Longest that a carrier may hold an order back before it dials. A call that it would hold longer is taken back. */
export const MOST_QUEUED_MS = 30_000;

/** Life of the token in the stream address of a dial: whoever answers in time finds it valid. */
export function dialTokenMs(ringTimeoutMs: number): number {
  return ringTimeoutMs + BESIDE_RINGING_MS;
}

/** SIP answers by which somebody, or their phone, says no: 603 Decline, 607 Unwanted, 608 Rejected (RFC 3261, 8197, 8688). */
const DECLINED = [603, 607, 608];
/** 480 Temporarily Unavailable: the phone is switched off, or without network. */
const UNAVAILABLE = 480;

/**
 * The end of a call that was never answered.
 * @param outcome what the carrier says of it by itself; the SIP answer, where there is one, is more exact
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

/** A call that a carrier lists, as far as an order can be recognised in it. */
export interface ListedCall {
  readonly carrierCallId: string;
  /** On the carrier's wall clock; NaN where it does not say. */
  readonly createdAtMs: number;
  readonly progress: DialProgress;
}

/** An order becomes a call within a second or two of its request, which is given up after 15 s. */
const CREATED_WITHIN_MS = 60_000;
/** Carriers say whole seconds, and two clocks were compared by a third message. */
const CLOCK_MARGIN_MS = 3_000;
/**
 * A list may lag behind what it lists, and no carrier says by how much. Two minutes is our guess: within them a missing call proves
 * nothing. A call that was placed all the same has its reports sent to the address of the dial, which name our id.
 */
const LIST_LAG_MS = 120_000;

/**
 * Which of the calls between the two numbers of an order came of it.
 * - Calls that the carrier dates before the order, or longer than `withinMs` after it, are not of it. Its own clock counts.
 * - Exactly one left: that is it. Another program that calls the same number from the same number, on the same account and
 *   in the same minute, would be taken for it.
 * - Several left: unknown, as a wrong one would be ended and reported in place of ours.
 * - None left: surely not placed once `LIST_LAG_MS` have passed since the order, unknown before.
 * @param askedAtMs of the order, on our wall clock
 * @param clocks both wall clocks at one moment, now
 * @param withinMs how long after the order a call of it may be dated
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
  // A call whose moment is not told may be ours.
  const mayBe = near.length > 0 || calls.some(({ createdAtMs }) => Number.isNaN(createdAtMs));
  return { found: isOld && !mayBe ? 'not-placed' : 'unknown' };
}

/** @returns as carriers count ringing and talking, never 0 */
export function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}

/** A number as many carriers write it: E.164 without the plus. */
export function withoutPlus(number: string): string {
  return number.replace(/^\+/u, '');
}

/** The other way: a text that is no such number stays as it is. */
export function withPlus(number: string): string {
  return /^[1-9]\d{6,14}$/u.test(number) ? `+${number}` : number;
}

/** Ms since the epoch of a carrier's time, with or without its zone, which is UTC; NaN of none. */
export function utcTime(text: string | null | undefined): number {
  if (text === undefined || text === null) return Number.NaN;
  return Date.parse(/Z|[+-]\d\d:?\d\d$/u.test(text) ? text : `${text.replace(' ', 'T')}Z`);
}

/** The token in the address of a media stream (`DialOrder.streamUrl`). */
export function tokenOf(streamUrl: string): string {
  return streamUrl.slice(streamUrl.lastIndexOf('/') + 1);
}
