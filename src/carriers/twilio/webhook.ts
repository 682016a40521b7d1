import { validateRequest, validateRequestWithBody } from 'twilio/lib/webhooks/webhooks.js';
import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import type { CarrierStatus } from '../carrier.ts';
import { ownValue, progressBy, type ProgressWords, sipStatus } from '../dialling.ts';
import type { CarrierWitness, DialProgress, InboundCall } from '../port.ts';

/** Parsed form fields; a repeated one is a list. */
export type FormFields = Readonly<Record<string, string | string[]>>;

export interface SignedWebhook {
  /** `X-Twilio-Signature`, as received. */
  readonly signature: string;
  /** Full addresses, with query, under which the carrier may know this request. */
  readonly urls: readonly string[];
  /** Form fields, or the raw text of any other body (its hash is then in the query as `bodySHA256`). */
  readonly body: { readonly fields: FormFields } | { readonly raw: string };
}

/** Whether a header has the form of a signature: HMAC-SHA1 in base64. */
export function isSignature(header: string): boolean {
  return /^[\w+/]{27}=$/u.test(header);
}

/**
 * Whether any of our auth tokens (several during a rotation) signed this webhook. The library tries the address with and without its port, and with
 * the query re-encoded.
 */
export function isSignedWebhook(tokens: readonly Secret[], webhook: SignedWebhook): boolean {
  const { signature, urls, body } = webhook;
  if ('raw' in body)
    return tokens.some((token) => urls.some((url) => validateRequestWithBody(token.reveal(), signature, url, body.raw)));
  // The library would sort and join the fields for each form of each address: joined here once, under an empty name.
  const fields = { '': joinedFields(body.fields) };
  return tokens.some((token) => urls.some((url) => validateRequest(token.reveal(), signature, url, fields)));
}

/** Signed names and values: sorted by name, repeated values in order, each once. */
function joinedFields(fields: FormFields): string {
  return Object.entries(fields)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) =>
      typeof value === 'string'
        ? name + value
        : [...new Set(value)]
            .sort()
            .map((each) => name + each)
            .join(''),
    )
    .join('');
}

/**
 * Whether a media socket's upgrade was signed. It is a GET without fields, signed with the scheme `wss` (twilio-labs/twilio-aspnet#162); a trailing
 * slash is undocumented, so both forms are tried.
 * @param urls the stream's http or https addresses
 */
export function isSignedUpgrade(tokens: readonly Secret[], signature: string, urls: readonly string[]): boolean {
  const forms = [...new Set(urls.flatMap(upgradeForms))];
  return tokens.some((token) => forms.some((url) => validateRequest(token.reveal(), signature, url, {})));
}

function upgradeForms(url: string): string[] {
  const bare = url.replace(/\/+$/, '');
  const schemes = bare.startsWith('https:') ? ['wss', 'https'] : ['ws', 'wss', 'http'];
  return schemes.flatMap((scheme) => {
    // The library also tries each form without its port, but takes 80 as the standard port of every scheme but https.
    const form = bare.replace(/^https?/, scheme).replace(/^(wss:\/\/(?:\[[^\]]*\]|[^/:]*))(?=\/|$)/, '$1:443');
    return [form, `${form}/`];
  });
}

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

const STATUSES: ProgressWords = {
  queued: 'queued',
  initiated: 'queued',
  ringing: 'ringing',
  answered: 'answered',
  'in-progress': 'answered',
  completed: 'completed',
  busy: 'busy',
  'no-answer': 'no-answer',
  failed: 'failed',
  canceled: 'cancelled',
};

/** A call's progress by its status (`CallStatus` of a callback, `status` of the Call resource); undefined for an unknown status. */
export function dialProgress(status: string, about?: Parameters<typeof progressBy>[2]): DialProgress | undefined {
  return progressBy(STATUSES, status, about);
}

/** Undefined without a call, or with neither a status nor a detection result. */
export function readStatusWebhook(fields: unknown): CarrierStatus | undefined {
  const parsed = statusForm.safeParse(fields);
  if (!parsed.success) return undefined;
  const { CallSid, CallStatus, StreamEvent, StreamError, AnsweredBy, SipResponseCode, ErrorCode } = parsed.data;
  const witness = ownValue(WITNESSES, AnsweredBy ?? '');
  // The callback of asynchronous detection has no status.
  const status = CallStatus ?? StreamEvent ?? AnsweredBy;
  if (status === undefined || status === '') return undefined;
  const ofCall = StreamEvent === undefined ? CallStatus : undefined;
  const code = /^[1-9]\d{0,9}$/u.test(ErrorCode ?? '') ? ErrorCode : undefined;
  const progress = ofCall === undefined ? undefined : dialProgress(ofCall, { sip: sipStatus(SipResponseCode), code });
  const terminal = progress?.state === 'ended';
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
