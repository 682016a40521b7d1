import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { Secret } from '../../config/secrets.ts';
import type { CarrierRequest, CarrierStatus } from '../carrier.ts';
import { unansweredEnd } from '../dialling.ts';
import type { DialProgress } from '../port.ts';

/** Query parameter with the proof of a report, valid for one call: the carrier signs no reports. */
export const PROOF_PARAMETER = 'proof';

/** The report address of a call, with its proof. @param statusUrl ends with our own call id */
export function provenStatusUrl(statusUrl: string, password: Secret): string {
  const url = new URL(statusUrl);
  url.searchParams.set(PROOF_PARAMETER, proofOf(url.pathname, password));
  return url.href;
}

export function isProof(text: string): boolean {
  return /^[\w-]{43}$/u.test(text);
}

/** Whether a report came to an address we issued. */
export function isProvenReport({ urls }: CarrierRequest, passwords: readonly Secret[]): boolean {
  return urls.some((address) => {
    const url = new URL(address);
    const given = url.searchParams.get(PROOF_PARAMETER) ?? '';
    return passwords.map((password) => new Secret(proofOf(url.pathname, password)).equals(given)).includes(true);
  });
}

/** Uses the path's last part only: a proxy may have removed the rest. */
function proofOf(path: string, password: Secret): string {
  return createHmac('sha256', password.reveal())
    .update(`exotel status ${path.slice(path.lastIndexOf('/') + 1)}`)
    .digest('base64url');
}

const text = z.string().max(200).nullish().catch(undefined);
const leg = z.looseObject({ Cause: text, CauseCode: text });
const report = z.object({
  CallSid: z.string().min(1).max(128),
  Status: text,
  EventType: text,
  Legs: z.array(leg).max(20).nullish().catch(undefined),
});

const TERMINAL = ['completed', 'failed', 'busy', 'no-answer', 'canceled', 'cancelled'];
/** The phone refused the call (Q.850 cause 21). */
const DECLINED = 'CALL_REJECTED';

/**
 * A call's progress by its status (`Status` of a report and of the Call resource); undefined for an unknown status. @param cause of the leg, where
 * known
 */
export function dialProgress(status: string, cause?: string): DialProgress | undefined {
  switch (status) {
    case 'queued':
      return { state: 'queued' };
    // A call has this status from its order on, long before an answer.
    case 'in-progress':
    case 'ringing':
      return { state: 'ringing' };
    case 'answered':
      return { state: 'answered' };
    case 'completed':
      return { state: 'ended', outcome: 'completed' };
    case 'busy':
      return unansweredEnd(cause === DECLINED ? 'rejected' : 'busy', { code: cause });
    case 'failed':
      return unansweredEnd(cause === DECLINED ? 'rejected' : 'failed', { code: cause });
    case 'no-answer':
      return unansweredEnd('no-answer', { code: cause });
    case 'canceled':
    case 'cancelled':
      return unansweredEnd('cancelled', { code: cause });
    default:
      return undefined;
  }
}

/**
 * A status callback (developer.exotel.com/docs/voice-v1/api-reference/status-callback). `EventType` is `ringing`, `answered` or `terminal`; without one
 * it is the end of the call. Undefined when it names no call or no status.
 */
export function readReport(body: unknown): CarrierStatus | undefined {
  const parsed = report.safeParse(body);
  if (!parsed.success) return undefined;
  const { CallSid: carrierCallId, Status, EventType, Legs } = parsed.data;
  const event = EventType?.toLowerCase();
  const status = (event === 'ringing' || event === 'answered' ? event : Status)?.toLowerCase();
  if (status === undefined || status === '') return undefined;
  const cause = Legs?.[0]?.CauseCode ?? Legs?.[0]?.Cause ?? undefined;
  return {
    carrierCallId,
    status,
    terminal: TERMINAL.includes(status),
    streamError: undefined,
    progress: dialProgress(status, cause === '' ? undefined : cause),
  };
}
