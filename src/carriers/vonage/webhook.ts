import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import type { CarrierStatus, SignedBody } from '../carrier.ts';
import { progressBy, type ProgressWords, unansweredEnd, withPlus } from '../dialling.ts';
import type { CarrierWitness, DialProgress, InboundCall } from '../port.ts';
import { defaultPhrases } from '../../config/bot-phrases.ts';
import { NCCO_TYPE, sayNcco } from './answer.ts';

/** An older signature is a replay; the documents name no limit. */
const MOST_AGE_SECONDS = 300;
const CLOCK_TOLERANCE_SECONDS = 30;
const claims = z.object({ payload_hash: z.string().regex(/^[0-9a-f]{64}$/iu), application_id: z.string().optional() });

export function isBearer(header: string): boolean {
  return header.length < 4_096 && /^Bearer [\w-]+\.[\w-]+\.[\w-]+$/iu.test(header);
}

export interface SignatureCheck {
  /** Signature secrets in force; several during a rotation. */
  readonly secrets: readonly Secret[];
  /** Webhooks of another application of the account are refused; accepts any where it is not configured. */
  readonly applicationId: string | undefined;
  readonly wallMs: number;
}

/**
 * Whether Vonage signed this body: a JWT (HS256, with the account's signature secret) in `Authorization`, whose claim `payload_hash` is
 * the SHA-256 of the body. The address is not signed.
 */
export async function isSignedBody(
  header: string,
  body: SignedBody,
  { secrets, applicationId, wallMs }: SignatureCheck,
): Promise<boolean> {
  const token = header.slice(header.indexOf(' ') + 1);
  // Loaded only when needed: commands that only read the configuration start without it.
  const { jwtVerify } = await import('jose');
  for (const secret of secrets) {
    const found = await jwtVerify(token, Buffer.from(secret.reveal()), {
      algorithms: ['HS256'],
      currentDate: new Date(wallMs),
      maxTokenAge: MOST_AGE_SECONDS,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
    }).catch(() => undefined);
    const claimed = claims.safeParse(found?.payload);
    if (!claimed.success) continue;
    const { payload_hash: hash, application_id: application } = claimed.data;
    if (applicationId !== undefined && application !== undefined && application !== applicationId) return false;
    // The hash is over JSON without blanks, as the body is sent, unless it was rewritten on the way.
    return [body.raw, JSON.stringify(body.parsed)].some((text) => equals(hash, text));
  }
  return false;
}

function equals(hash: string, text: string): boolean {
  return timingSafeEqual(Buffer.from(hash, 'hex'), createHash('sha256').update(text).digest());
}

const text = z.string().max(1000);
const voiceBody = z.object({ uuid: z.string().min(1).max(128), from: text.default(''), to: text.default('') });

/** The answer webhook in our terms; undefined without a call. */
export function readAnswerWebhook(body: unknown, botName: string | undefined): InboundCall | undefined {
  const parsed = voiceBody.safeParse(body);
  if (!parsed.success) return undefined;
  const { uuid, from, to } = parsed.data;
  return { carrier: 'vonage', carrierCallId: uuid, from: withPlus(from), to: withPlus(to), direction: 'inbound', botName };
}

function isNumber(text: string | null | undefined): boolean {
  return /^[1-9]\d{6,14}$/u.test(text ?? '');
}

const callUuid = z.string().min(1).max(128);
const eventBody = z.object({
  uuid: callUuid.optional(),
  /** Replaces `uuid` in detection events. */
  call_uuid: callUuid.optional(),
  status: text,
  detail: text.nullish(),
  /** The event's leg: a number, or a socket's address. */
  to: text.nullish().catch(undefined),
  sub_state: text.nullish(),
  sip_code: z.coerce.number().int().min(100).max(699).nullish().catch(undefined),
});
/** Statuses of a socket that could not be opened: the event is synchronous, and the caller hears its answer. */
const NOT_CONNECTED = ['failed', 'unanswered'];

/** Reason of a rejected call with an invalid number. */
const NO_NUMBER = 'invalid_number';

const STATUSES: ProgressWords = {
  started: 'queued',
  ringing: 'ringing',
  answered: 'answered',
  human: 'answered',
  machine: 'answered',
  completed: 'completed',
  busy: 'busy',
  failed: 'failed',
  cancelled: 'cancelled',
  rejected: 'rejected',
  timeout: 'no-answer',
  unanswered: 'no-answer',
};

/** A call's progress by its status; undefined for an unknown status. */
export function dialProgress(
  status: string,
  { detail, sip }: { readonly detail?: string | undefined; readonly sip?: number | undefined } = {},
): DialProgress | undefined {
  const about = { code: detail === undefined || detail === '' ? undefined : detail.slice(0, 100), sip };
  return status === 'rejected' && detail === NO_NUMBER ? unansweredEnd('failed', about) : progressBy(STATUSES, status, about);
}

/** @param subState of a machine; `beep_start` when its greeting is over */
function witnessOf(status: string, subState: string | null | undefined): CarrierWitness | undefined {
  if (status === 'human') return 'person';
  if (status !== 'machine') return undefined;
  return subState === 'beep_start' ? 'machine-done' : 'machine';
}

/** Undefined without a call or a status: errors and notifications of other kinds. */
export function readEventWebhook(body: unknown): CarrierStatus | undefined {
  const parsed = eventBody.safeParse(body);
  if (!parsed.success) return undefined;
  const { uuid, call_uuid: alsoUuid, status, to, sub_state: subState } = parsed.data;
  const carrierCallId = uuid ?? alsoUuid;
  if (carrierCallId === undefined) return undefined;
  const detail = parsed.data.detail ?? undefined;
  const progress = dialProgress(status, { detail, sip: parsed.data.sip_code ?? undefined });
  const isSocketLost = NOT_CONNECTED.includes(status) && !isNumber(to);
  return {
    carrierCallId,
    status,
    terminal: progress?.state === 'ended',
    streamError: isSocketLost ? (detail ?? status) : undefined,
    progress,
    witness: witnessOf(status, subState),
    ...(isSocketLost ? { document: { contentType: NCCO_TYPE, text: sayNcco(defaultPhrases('en').apology, 'en') } } : {}),
  };
}
