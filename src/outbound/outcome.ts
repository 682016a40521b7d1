import type { DialEnd } from '../carriers/port.ts';
import type { AnsweredBy } from '../config/answered-by.ts';
import type { AttemptNews, Disposition } from '../records/dialling.ts';
import type { CallRecord } from '../records/record.ts';

/** Facts of an ended, answered call. */
export interface EndedDial {
  readonly endReason: string;
  /** Undefined without any opinion. */
  readonly answeredBy: AnsweredBy | undefined;
  readonly optOut: 'opt-out' | 'wrong-number' | undefined;
  /** Whether the person asked for a call-back. */
  readonly callBack: boolean;
  /** How much of the mailbox message was heard. */
  readonly message: 'all' | 'part' | undefined;
  /** Whether the first sentence was heard to its end. */
  readonly identified: boolean;
}

/** End reasons that are our own fault, regardless of who answered. */
const OWN_FAILURES: readonly string[] = ['speech-unavailable', 'dialog-failed', 'internal-error', 'process-died'];
/** End reasons that cut the call short, unless the person had heard who calls. */
const CUT_SHORT: readonly string[] = ['carrier-lost', 'shutdown', 'transfer-failed'];

/** Result of an answered call. The person's wish takes precedence over who answered, and that over how the call ended. */
export function dispositionOf(dial: EndedDial): Disposition {
  const { endReason, answeredBy, optOut, callBack, message, identified } = dial;
  if (optOut !== undefined) return optOut;
  if (callBack) return 'call-back';
  if (answeredBy === 'mailbox') return message === 'all' ? 'message-left' : 'mailbox';
  if (answeredBy !== undefined && answeredBy !== 'person') return answeredBy;
  if (OWN_FAILURES.includes(endReason)) return 'failed';
  if (endReason === 'transferred') return 'transferred';
  if (identified) return 'completed';
  return CUT_SHORT.includes(endReason) ? 'failed' : 'abandoned';
}

/** Result of an unanswered call, by the carrier's report; undefined for an answered one. */
export function unanswered(end: DialEnd): Disposition | undefined {
  return end === 'completed' ? undefined : end;
}

/** The part of a call's record that updates its attempt. */
export function newsOf(record: CallRecord): AttemptNews {
  const { endReason = '', outbound, optOut, callBackAtMs, answeredAtMs, endedAtMs, carrierCallId } = record;
  const { answeredBy, message, identified = false } = outbound ?? {};
  const disposition = dispositionOf({
    endReason,
    answeredBy,
    optOut: optOut?.kind,
    callBack: callBackAtMs !== undefined,
    message,
    identified,
  });
  return {
    disposition,
    ...(carrierCallId === '' ? {} : { carrierCallId }),
    ...(disposition === 'failed' ? { cause: endReason } : {}),
    ...(answeredBy === undefined ? {} : { answeredBy }),
    ...(answeredAtMs === undefined ? {} : { answeredAtMs }),
    ...(endedAtMs === undefined ? {} : { endedAtMs }),
    ...(callBackAtMs === undefined ? {} : { callBackAtMs }),
  };
}
