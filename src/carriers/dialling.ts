import type { DialEnd, DialProgress } from './port.ts';

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
