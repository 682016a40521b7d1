import { z } from 'zod';
import type { CarrierStatus } from '../carrier.ts';
import { unansweredEnd } from '../dialling.ts';
import type { CarrierWitness, DialProgress, InboundCall } from '../port.ts';
import type { FormFields } from './signature.ts';

const text = z.string().max(1000);
const callSid = z.string().min(1).max(128);

const voiceForm = z.object({
  CallSid: callSid,
  From: text.default(''),
  To: text.default(''),
  Direction: text.default('inbound'),
});

/** The fields of the voice webhook in our words; undefined when it names no call. */
export function readVoiceWebhook(fields: unknown, botName: string | undefined): InboundCall | undefined {
  const parsed = voiceForm.safeParse(fields);
  if (!parsed.success) return undefined;
  const { CallSid, From, To, Direction } = parsed.data;
  // `inbound`, `outbound-api`, `outbound-dial`.
  const direction = Direction.startsWith('outbound') ? 'outbound' : 'inbound';
  return { carrier: 'twilio', carrierCallId: CallSid, from: From, to: To, direction, botName };
}

const statusForm = z.object({
  CallSid: callSid,
  CallStatus: z.string().max(100).optional(),
  StreamEvent: z.string().max(100).optional(),
  StreamError: z.string().max(1000).optional(),
  AnsweredBy: z.string().max(100).optional(),
  SipResponseCode: z.string().max(100).optional(),
  ErrorCode: z.string().max(100).optional(),
});

const terminalStatuses = ['completed', 'busy', 'failed', 'no-answer', 'canceled'];

/** Results of asynchronous detection; `machine_end_*` once the greeting is over. */
const WITNESSES: Readonly<Record<string, CarrierWitness>> = {
  human: 'person',
  machine_start: 'machine',
  machine_end_beep: 'machine-done',
  machine_end_silence: 'machine-done',
  machine_end_other: 'machine-done',
  fax: 'fax',
  unknown: 'unknown',
};

/** A call's progress by its status (`CallStatus` of a callback, `status` of the Call resource); undefined for an unknown status. */
export function dialProgress(
  status: string,
  about: { readonly sip?: number | undefined; readonly code?: string | undefined } = {},
): DialProgress | undefined {
  switch (status) {
    case 'queued':
    case 'initiated':
      return { state: 'queued' };
    case 'ringing':
      return { state: 'ringing' };
    case 'answered':
    case 'in-progress':
      return { state: 'answered' };
    case 'completed':
      return { state: 'ended', outcome: 'completed' };
    case 'busy':
    case 'no-answer':
    case 'failed':
      return unansweredEnd(status, about);
    case 'canceled':
      return unansweredEnd('cancelled', about);
    default:
      return undefined;
  }
}

/** Undefined without a call, or with neither a status nor a detection result. */
export function readStatusWebhook(fields: unknown): CarrierStatus | undefined {
  const parsed = statusForm.safeParse(fields);
  if (!parsed.success) return undefined;
  const { CallSid, CallStatus, StreamEvent, StreamError, AnsweredBy, SipResponseCode, ErrorCode } = parsed.data;
  const witness = AnsweredBy === undefined ? undefined : WITNESSES[AnsweredBy];
  // The callback of asynchronous detection has no status.
  const status = CallStatus ?? StreamEvent ?? AnsweredBy;
  if (status === undefined || status === '') return undefined;
  const ofCall = StreamEvent === undefined ? CallStatus : undefined;
  const terminal = ofCall !== undefined && terminalStatuses.includes(ofCall);
  const sip = /^[1-6]\d\d$/u.test(SipResponseCode ?? '') ? Number(SipResponseCode) : undefined;
  const code = /^[1-9]\d{0,9}$/u.test(ErrorCode ?? '') ? ErrorCode : undefined;
  const progress = ofCall === undefined ? undefined : dialProgress(ofCall, { sip, code });
  return { carrierCallId: CallSid, status, terminal, streamError: StreamError, progress, witness };
}

/** A form's fields; values other than texts and lists of texts are not signed. */
export function formFields(body: unknown): FormFields {
  if (typeof body !== 'object' || body === null) return {};
  const entries = Object.entries(body).filter((entry): entry is [string, string | string[]] => {
    const value: unknown = entry[1];
    return typeof value === 'string' || (Array.isArray(value) && value.every((part) => typeof part === 'string'));
  });
  return Object.fromEntries(entries);
}
