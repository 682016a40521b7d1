import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import type { CarrierStatus } from '../carrier.ts';
import { ownValue, unansweredEnd } from '../dialling.ts';
import type { CarrierWitness, DialProgress, InboundCall } from '../port.ts';
import { type ClientState, readClientState } from './account.ts';

/** An older or future signature is a replay. */
const MOST_AGE_SECONDS = 300;
/** Prefix of a 32-byte Ed25519 key as a SubjectPublicKeyInfo (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** Whether a header has the form of a signature: 64 bytes in base64. */
export function isSignature(header: string): boolean {
  return /^[A-Za-z0-9+/]{86}==$/u.test(header);
}

/** Whether this is a public key as shown by the portal: 32 bytes in base64. */
export function isPublicKey(text: string): boolean {
  return /^[A-Za-z0-9+/]{43}=$/u.test(text);
}

/** The keys in force; anything else (a development secret) verifies nothing. */
export function publicKeys(secrets: readonly Secret[]): readonly KeyObject[] {
  return secrets
    .map((secret) => secret.reveal())
    .filter(isPublicKey)
    .map((text) =>
      createPublicKey({ key: Buffer.concat([SPKI_PREFIX, Buffer.from(text, 'base64')]), format: 'der', type: 'spki' }),
    );
}

export interface SignedTelnyxWebhook {
  /** `telnyx-signature-ed25519`: base64. */
  readonly signature: string;
  /** `telnyx-timestamp`: Unix seconds. */
  readonly timestamp: string;
  /** The raw body. */
  readonly raw: string;
}

/** Whether one of our keys signed this webhook: Ed25519 over `timestamp|body`, at most five minutes ago. The address is not signed. */
export function isSignedWebhook(
  keys: readonly KeyObject[],
  { signature, timestamp, raw }: SignedTelnyxWebhook,
  wallMs: number,
): boolean {
  if (!/^\d{9,11}$/u.test(timestamp) || !isSignature(signature)) return false;
  if (Math.abs(wallMs / 1000 - Number(timestamp)) > MOST_AGE_SECONDS) return false;
  const signed = Buffer.from(`${timestamp}|${raw}`);
  const bytes = Buffer.from(signature, 'base64');
  return keys.some((key) => verify(null, signed, key, bytes));
}

const text = z.string().max(1000);
const callControlId = z.string().min(1).max(256);

const event = z.object({
  data: z.object({
    event_type: z.string().min(1).max(100),
    payload: z.object({
      call_control_id: callControlId,
      client_state: z.string().max(8192).nullish().catch(undefined),
      direction: text.nullish().catch(undefined),
      from: text.nullish().catch(undefined),
      to: text.nullish().catch(undefined),
      hangup_cause: text.nullish().catch(undefined),
      sip_hangup_cause: z.coerce.string().max(100).nullish().catch(undefined),
      result: text.nullish().catch(undefined),
      failure_reason: text.nullish().catch(undefined),
    }),
  }),
});

/** One Call Control webhook, reduced to what we use. */
export interface TelnyxEvent {
  readonly type: string;
  readonly carrierCallId: string;
  readonly state: ClientState | undefined;
}

/** Undefined without a call. */
export function readEvent(body: unknown): TelnyxEvent | undefined {
  const parsed = event.safeParse(body);
  if (!parsed.success) return undefined;
  const { event_type: type, payload } = parsed.data.data;
  return { type, carrierCallId: payload.call_control_id, state: readClientState(payload.client_state) };
}

/** An incoming call; undefined for every other event. */
export function readIncomingCall(body: unknown, botName: string | undefined): InboundCall | undefined {
  const parsed = event.safeParse(body);
  if (!parsed.success) return undefined;
  const { event_type: type, payload } = parsed.data.data;
  const { call_control_id: carrierCallId, direction, from, to } = payload;
  if (type !== 'call.initiated' || direction !== 'incoming') return undefined;
  return { carrier: 'telnyx', carrierCallId, from: from ?? '', to: to ?? '', direction: 'inbound', botName };
}

/** Results of the two kinds of detection (`answering_machine_detection`). */
const WITNESSES: Readonly<Record<string, Readonly<Record<string, CarrierWitness>>>> = {
  'call.machine.detection.ended': { human: 'person', machine: 'machine', not_sure: 'unknown' },
  'call.machine.greeting.ended': { beep_detected: 'machine-done', ended: 'machine-done' },
  'call.machine.premium.detection.ended': {
    human_residence: 'person',
    human_business: 'person',
    machine: 'machine',
    silence: 'unknown',
    fax_detected: 'fax',
    not_sure: 'unknown',
  },
  'call.machine.premium.greeting.ended': { beep_detected: 'machine-done', no_beep_detected: 'machine-done' },
};

/** The end of a call by its `hangup_cause`. */
const ENDS: Readonly<Record<string, 'completed' | 'busy' | 'no-answer' | 'rejected' | 'cancelled'>> = {
  normal_clearing: 'completed',
  time_limit: 'completed',
  user_busy: 'busy',
  timeout: 'no-answer',
  no_answer: 'no-answer',
  call_rejected: 'rejected',
  originator_cancel: 'cancelled',
};

/**
 * A call's progress by an event; undefined for an unrelated one. Telnyx reports no ringing.
 * @param hangup of `call.hangup`: the cause in the carrier's words, and the SIP answer where there is one
 */
export function dialProgress(
  type: string,
  hangup: { readonly cause?: string | null | undefined; readonly sip?: string | null | undefined } = {},
): DialProgress | undefined {
  switch (type) {
    case 'call.initiated':
      return { state: 'queued' };
    case 'call.answered':
      return { state: 'answered' };
    case 'call.hangup': {
      const cause = hangup.cause ?? '';
      const end = ownValue(ENDS, cause) ?? 'failed';
      if (end === 'completed') return { state: 'ended', outcome: end };
      const sip = /^[3-6]\d\d$/u.test(hangup.sip ?? '') ? Number(hangup.sip) : undefined;
      return unansweredEnd(end, { sip, code: end === 'failed' && cause !== '' ? cause : undefined });
    }
    default:
      return undefined;
  }
}

/** Undefined without a call. */
export function readStatusEvent(body: unknown): CarrierStatus | undefined {
  const parsed = event.safeParse(body);
  if (!parsed.success) return undefined;
  const { event_type: type, payload } = parsed.data.data;
  const { call_control_id: carrierCallId, hangup_cause: cause, sip_hangup_cause: sip, result } = payload;
  return {
    carrierCallId,
    status: type,
    terminal: type === 'call.hangup',
    streamError: type === 'streaming.failed' ? (payload.failure_reason ?? 'streaming.failed') : undefined,
    progress: dialProgress(type, { cause, sip }),
    witness: ownValue(ownValue(WITNESSES, type) ?? {}, result ?? ''),
  };
}
