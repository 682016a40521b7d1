import { createHash } from 'node:crypto';

/** Where a span is, in hex: 16 bytes, and 8. */
export interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** Share of calls whose spans are exported; undefined while no trace context is sent. One for the process, as its exporter. */
let sentRatio: number | undefined;

/** Sets whether `traceHeaders` sends trace context. @param ratio share of calls whose spans are exported, 0 to 1 */
export function sendTraceContext(ratio: number | undefined): void {
  sentRatio = ratio;
}

/**
 * The span of a call, or of a part of it such as `turn 3`. The ids follow from the call's id: every process that works for the call
 * knows them, and a header can name a span that is made when the turn is over.
 */
export function spanOf(callId: string, part = 'call'): SpanIds {
  return { traceId: digestOf(callId, 'trace', 32), spanId: digestOf(callId, part, 16) };
}

/** The span of a turn's dialog, which what the dialog asks is a part of. */
export function dialogSpanOf(callId: string, turn: number): SpanIds {
  return spanOf(callId, `turn ${turn} dialog`);
}

/** Whether the spans of this trace are exported: the same in every process. */
export function isSampled(traceId: string, ratio: number): boolean {
  return Number.parseInt(traceId.slice(0, 8), 16) < ratio * 2 ** 32;
}

/**
 * The W3C header `traceparent` for a call's outgoing request; empty without tracing. @param turn of a dialog request; the call's own span when absent
 */
export function traceHeaders(callId: string, turn?: number): { readonly traceparent?: string } {
  if (sentRatio === undefined) return {};
  const { traceId, spanId } = turn === undefined ? spanOf(callId) : dialogSpanOf(callId, turn);
  return { traceparent: `00-${traceId}-${spanId}-${isSampled(traceId, sentRatio) ? '01' : '00'}` };
}

function digestOf(callId: string, part: string, characters: number): string {
  return createHash('sha256').update(`${callId} ${part}`).digest('hex').slice(0, characters);
}
