import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import type { CarrierStatus } from '../carrier.ts';
import { ownValue, progressBy, type ProgressWords } from '../dialling.ts';
import type { CarrierWitness, DialProgress, InboundCall } from '../port.ts';

/** `t=<seconds>,v1=<HMAC-SHA256 in hex>` (jambonz-feature-server, lib/utils/base-requestor.js). */
const SIGNATURE = /^t=(?<t>\d{1,12}),v1=(?<v1>[0-9a-f]{64})$/u;
/** As in jambonz' own SDK: an older signature is a replay. */
const MOST_AGE_SECONDS = 300;

export function isSignature(header: string): boolean {
  return SIGNATURE.test(header);
}

/** Whether jambonz signed this body within five minutes: an HMAC of the time, a point and the raw body. The address is not signed. */
export function isSignedBody(header: string, raw: string, secrets: readonly Secret[], wallMs: number): boolean {
  const { t = '', v1 = '' } = SIGNATURE.exec(header)?.groups ?? {};
  if (v1 === '' || Math.abs(wallMs / 1000 - Number(t)) > MOST_AGE_SECONDS) return false;
  const given = Buffer.from(v1, 'hex');
  return secrets.some((secret) => timingSafeEqual(given, createHmac('sha256', secret.reveal()).update(`${t}.${raw}`).digest()));
}

const text = z.string().max(1000);
const callSid = z.string().min(1).max(128);
const voiceBody = z.object({
  call_sid: callSid,
  from: text.nullish(),
  to: text.nullish(),
  direction: text.nullish(),
});

/** The calling webhook in our words; undefined when it names no call. */
export function readCallWebhook(body: unknown, botName: string | undefined): InboundCall | undefined {
  const parsed = voiceBody.safeParse(body);
  if (!parsed.success) return undefined;
  const { call_sid: carrierCallId, from, to, direction } = parsed.data;
  return {
    carrier: 'jambonz',
    carrierCallId,
    from: e164(from ?? ''),
    to: e164(to ?? ''),
    direction: direction === 'outbound' ? 'outbound' : 'inbound',
    botName,
  };
}

/** Trunks write numbers with or without the plus. */
function e164(number: string): string {
  return /^[1-9]\d{9,14}$/u.test(number) ? `+${number}` : number;
}

const statusBody = z.object({
  call_sid: callSid,
  call_status: text.optional(),
  sip_status: z.coerce.number().int().min(100).max(699).nullish().catch(undefined),
  /** Event type of machine detection. */
  type: text.optional(),
  /** Set for a leg that our call was transferred to. */
  parent_call_sid: text.nullish(),
});
const WITNESSES: Readonly<Record<string, CarrierWitness>> = {
  amd_human_detected: 'person',
  amd_machine_detected: 'machine',
  amd_machine_stopped_speaking: 'machine-done',
  amd_tone_detected: 'machine-done',
  amd_no_speech_detected: 'unknown',
  amd_decision_timeout: 'unknown',
};

const STATUSES: ProgressWords = {
  trying: 'queued',
  queued: 'queued',
  ringing: 'ringing',
  'early-media': 'ringing',
  'in-progress': 'answered',
  completed: 'completed',
  busy: 'busy',
  'no-answer': 'no-answer',
  failed: 'failed',
};

/** A call's progress by its status; undefined for an unknown status. */
export function dialProgress(status: string, sip?: number): DialProgress | undefined {
  return progressBy(STATUSES, status, { sip });
}

/** Undefined without a call or a status, or for another leg than ours. */
export function readStatusWebhook(body: unknown): CarrierStatus | undefined {
  const parsed = statusBody.safeParse(body);
  if (!parsed.success) return undefined;
  const { call_sid: carrierCallId, call_status: callStatus, sip_status: sip, type, parent_call_sid: parent } = parsed.data;
  const isDetection = type?.startsWith('amd_') === true;
  const status = isDetection ? type : callStatus;
  if (status === undefined) return undefined;
  const progress = isDetection ? undefined : dialProgress(status, sip ?? undefined);
  return {
    carrierCallId,
    status,
    terminal: progress?.state === 'ended',
    streamError: undefined,
    progress: (parent ?? '') === '' ? progress : undefined,
    witness: isDetection ? ownValue(WITNESSES, status) : undefined,
  };
}
