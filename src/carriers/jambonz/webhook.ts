import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import type { CarrierStatus } from '../carrier.ts';
import { unansweredEnd } from '../dialling.ts';
import type { CarrierWitness, DialProgress, InboundCall } from '../port.ts';

/** `t=<seconds>,v1=<HMAC-SHA256 in hex>` (jambonz-feature-server, lib/utils/base-requestor.js). */
const SIGNATURE = /^t=(?<t>\d{1,12}),v1=(?<v1>[0-9a-f]{64})$/u;
/** As in jambonz' own SDK: a webhook that was signed longer ago is a replayed one. */
const MOST_AGE_SECONDS = 300;

export function isSignature(header: string): boolean {
  return SIGNATURE.test(header);
}

/** Whether jambonz signed this body, at most five minutes ago: a keyed hash of the moment, a point and the body as it came. The address is not signed. */
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

/** Trunks write numbers with their plus or without it. */
function e164(number: string): string {
  return /^[1-9]\d{9,14}$/u.test(number) ? `+${number}` : number;
}

const statusBody = z.object({
  call_sid: callSid,
  call_status: text.optional(),
  sip_status: z.coerce.number().int().min(100).max(699).nullish().catch(undefined),
  /** Of an event of machine detection. */
  type: text.optional(),
  /** Of a leg that a call of ours was connected to. */
  parent_call_sid: text.nullish(),
});
const TERMINAL = ['completed', 'failed', 'busy', 'no-answer'];
const WITNESSES: Readonly<Record<string, CarrierWitness>> = {
  amd_human_detected: 'person',
  amd_machine_detected: 'machine',
  amd_machine_stopped_speaking: 'machine-done',
  amd_tone_detected: 'machine-done',
  amd_no_speech_detected: 'unknown',
  amd_decision_timeout: 'unknown',
};

/** How far a call has come by its status, in our words; undefined for a status that says nothing of it. */
export function dialProgress(status: string, sip?: number): DialProgress | undefined {
  switch (status) {
    case 'trying':
    case 'queued':
      return { state: 'queued' };
    case 'ringing':
    case 'early-media':
      return { state: 'ringing' };
    case 'in-progress':
      return { state: 'answered' };
    case 'completed':
      return { state: 'ended', outcome: 'completed' };
    case 'busy':
    case 'no-answer':
    case 'failed':
      return unansweredEnd(status, { sip });
    default:
      return undefined;
  }
}

/** Undefined when the report names no call or no status, or is of another leg than the one that we have. */
export function readStatusWebhook(body: unknown): CarrierStatus | undefined {
  const parsed = statusBody.safeParse(body);
  if (!parsed.success) return undefined;
  const { call_sid: carrierCallId, call_status: callStatus, sip_status: sip, type, parent_call_sid: parent } = parsed.data;
  const isDetection = type?.startsWith('amd_') === true;
  const status = isDetection ? type : callStatus;
  if (status === undefined) return undefined;
  return {
    carrierCallId,
    status,
    terminal: !isDetection && TERMINAL.includes(status),
    streamError: undefined,
    progress: isDetection || (parent ?? '') !== '' ? undefined : dialProgress(status, sip ?? undefined),
    witness: isDetection ? WITNESSES[status] : undefined,
  };
}
