import { z } from 'zod';
import type { CarrierStatus } from '../carrier.ts';
import type { InboundCall } from '../port.ts';
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
});

const terminalStatuses = ['completed', 'busy', 'failed', 'no-answer', 'canceled'];

/** Undefined when the callback names no call or no status. */
export function readStatusWebhook(fields: unknown): CarrierStatus | undefined {
  const parsed = statusForm.safeParse(fields);
  if (!parsed.success) return undefined;
  const { CallSid, CallStatus, StreamEvent, StreamError } = parsed.data;
  const status = CallStatus ?? StreamEvent;
  if (status === undefined || status === '') return undefined;
  const terminal = StreamEvent === undefined && terminalStatuses.includes(status);
  return { carrierCallId: CallSid, status, terminal, streamError: StreamError };
}

/** The fields of a form, of which what is no text and no list of texts is not signed. */
export function formFields(body: unknown): FormFields {
  if (typeof body !== 'object' || body === null) return {};
  const entries = Object.entries(body).filter((entry): entry is [string, string | string[]] => {
    const value: unknown = entry[1];
    return typeof value === 'string' || (Array.isArray(value) && value.every((part) => typeof part === 'string'));
  });
  return Object.fromEntries(entries);
}
