import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import { addressProof, isOneOf } from '../proofs.ts';
import type { CarrierRequest, CarrierStatus } from '../carrier.ts';
import { progressBy, type ProgressWords, unansweredEnd } from '../dialling.ts';
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
    return isOneOf(
      given,
      passwords.map((password) => proofOf(url.pathname, password)),
    );
  });
}

/** Uses the path's last part only: a proxy may have removed the rest. */
function proofOf(path: string, password: Secret): string {
  return addressProof(password, `exotel status ${path.slice(path.lastIndexOf('/') + 1)}`);
}

const text = z.string().max(200).nullish().catch(undefined);
const leg = z.looseObject({ Cause: text, CauseCode: text });
const report = z.object({
  CallSid: z.string().min(1).max(128),
  Status: text,
  EventType: text,
  Legs: z.array(leg).max(20).nullish().catch(undefined),
});

/** The phone refused the call (Q.850 cause 21): its status is `busy` or `failed`. */
const DECLINED = 'CALL_REJECTED';
const STATUSES: ProgressWords = {
  queued: 'queued',
  // A call has this status from its order on, long before an answer.
  'in-progress': 'ringing',
  ringing: 'ringing',
  answered: 'answered',
  completed: 'completed',
  busy: 'busy',
  failed: 'failed',
  'no-answer': 'no-answer',
  canceled: 'cancelled',
  cancelled: 'cancelled',
};

/**
 * A call's progress by its status (`Status` of a report and of the Call resource); undefined for an unknown status. @param cause of the leg, where
 * known
 */
export function dialProgress(status: string, cause?: string): DialProgress | undefined {
  const isDeclined = cause === DECLINED && (status === 'busy' || status === 'failed');
  return isDeclined ? unansweredEnd('rejected', { code: cause }) : progressBy(STATUSES, status, { code: cause });
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
  const progress = dialProgress(status, cause === '' ? undefined : cause);
  return { carrierCallId, status, terminal: progress?.state === 'ended', streamError: undefined, progress };
}
