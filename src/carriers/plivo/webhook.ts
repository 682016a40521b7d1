import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import type { CarrierStatus } from '../carrier.ts';
import { ownValue, type ProgressWords, unansweredEnd, withPlus } from '../dialling.ts';
import type { CarrierWitness, DialEnd, DialProgress, InboundCall } from '../port.ts';

/** Parsed form fields; a repeated one is a list. Other values are not signed. */
type Fields = Readonly<Record<string, unknown>>;

/** One header may have the signatures of the account and its parent; a longer list is not from a carrier. */
const MOST_SIGNATURES = 8;
const NONCE = /^[\w-]{1,128}$/u;

export interface SignedRequest {
  /** The signature headers as received: HMAC-SHA256 in base64, or several separated by commas. */
  readonly signatures: readonly (string | undefined)[];
  readonly nonce: string | undefined;
  /** Full addresses, with query, under which the carrier may know this request. */
  readonly urls: readonly string[];
  /** Form fields; undefined where only the address is signed. */
  readonly fields: Fields | undefined;
}

/** Whether a header has the form of signatures. */
export function isSignatures(header: string): boolean {
  const all = signaturesOf(header);
  return all.length > 0 && all.length <= MOST_SIGNATURES && all.every((one) => /^[\w+/]{43}=$/u.test(one));
}

/**
 * Whether any of our auth tokens made any of the signatures of a POST (`X-Plivo-Signature-V3`). Signed are the address, the form's fields and a
 * nonce: `plivo-go/utils.go` and `plivo-node/lib/utils/v3Security.js` agree on this for everything the carrier sends.
 */
export function isSigned(tokens: readonly Secret[], { signatures, nonce, urls, fields }: SignedRequest): boolean {
  if (nonce === undefined || !NONCE.test(nonce)) return false;
  const given = signatures.flatMap((header) => (header === undefined || !isSignatures(header) ? [] : signaturesOf(header)));
  const wanted = [...new Set(urls)].map((url) => signedText(url, fields, nonce));
  const matches = tokens.flatMap((token) =>
    wanted.flatMap((text) => {
      const right = createHmac('sha256', token.reveal()).update(text).digest();
      return given.map((one) => timingSafeEqual(right, Buffer.from(one, 'base64')));
    }),
  );
  return matches.includes(true);
}

/** The text that is signed. */
function signedText(url: string, fields: Fields | undefined, nonce: string): string {
  const mark = url.indexOf('?');
  const address = mark === -1 ? url : url.slice(0, mark);
  if (fields === undefined) return `${address}.${nonce}`;
  const query = joined(new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1)), '=', '&');
  const form = joined(pairsOf(fields), '', '');
  if (query === '' && form === '') return `${address}.${nonce}`;
  return `${address}?${query}${query !== '' && form !== '' ? '.' : ''}${form}.${nonce}`;
}

function pairsOf(fields: Fields): [string, string][] {
  return Object.entries(fields).flatMap(([name, value]) => {
    const values: unknown[] = Array.isArray(value) ? value : [value];
    return values.flatMap((one): [string, string][] => (typeof one === 'string' ? [[name, one]] : []));
  });
}

/** Sorted by name; values of a repeated name keep their order. */
function joined(pairs: Iterable<[string, string]>, between: string, behind: string): string {
  const sorted = [...pairs].toSorted(([one, first], [other, second]) => {
    if (one !== other) return one < other ? -1 : 1;
    return first < second ? -1 : 1;
  });
  return sorted.map(([name, value]) => name + between + value).join(behind);
}

function signaturesOf(header: string): string[] {
  return header
    .split(',', MOST_SIGNATURES + 1)
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

const text = z.string().max(1000);
const word = z.string().max(100);
const callUuid = z.string().min(1).max(128);

const voiceForm = z.object({
  CallUUID: callUuid,
  From: text.default(''),
  To: text.default(''),
  Direction: word.default('inbound'),
  CallStatus: word.default(''),
  Event: word.default(''),
});

/** Events about a call that ask for no document. */
const REPORTS = ['Hangup', 'Ring', 'MachineDetection'];

/**
 * The answer webhook in our terms; undefined without a call, or for a report: reports without an address of their own also come to the answer URL.
 */
export function readVoiceWebhook(carrier: string, fields: unknown, botName: string | undefined): InboundCall | undefined {
  const parsed = voiceForm.safeParse(fields);
  if (!parsed.success) return undefined;
  const { CallUUID, From, To, Direction, CallStatus, Event } = parsed.data;
  if (REPORTS.includes(Event) || callProgress(CallStatus)?.state === 'ended') return undefined;
  const direction = Direction === 'outbound' ? 'outbound' : 'inbound';
  return { carrier, carrierCallId: CallUUID, from: withPlus(From), to: withPlus(To), direction, botName };
}

const statusForm = z.object({
  CallUUID: callUuid,
  CallStatus: word.optional(),
  /** Its name in some examples of Vobiz. */
  Status: word.optional(),
  Event: word.optional(),
  /** Set by asynchronous detection. */
  Machine: word.optional(),
  HangupCauseCode: word.optional(),
});

/** Plivo lost the media socket, or never got it; `MediaError` is Vobiz's. */
const STREAM_ERRORS = ['DroppedStream', 'MediaError', 'FailedStream'];
/** Events of a stream, not of its call. */
const STREAM_EVENTS = [...STREAM_ERRORS, 'StartStream', 'StopStream', 'DegradedStream'];

/** Undefined without a call, or with neither a status nor an event. */
export function readStatusWebhook(fields: unknown): CarrierStatus | undefined {
  const parsed = statusForm.safeParse(fields);
  if (!parsed.success) return undefined;
  const { CallUUID: carrierCallId, CallStatus, Status, Event, Machine, HangupCauseCode } = parsed.data;
  if (Event !== undefined && STREAM_EVENTS.includes(Event))
    return { carrierCallId, status: Event, terminal: false, streamError: STREAM_ERRORS.includes(Event) ? Event : undefined };
  const status = CallStatus ?? Status ?? Event;
  if (status === undefined || status === '') return undefined;
  const witness = Event === 'MachineDetection' ? witnessOf(Machine) : undefined;
  const progress = callProgress(Event === 'Hangup' && status === Event ? 'completed' : status, HangupCauseCode);
  return { carrierCallId, status, terminal: progress?.state === 'ended', streamError: undefined, progress, witness };
}

function witnessOf(machine: string | undefined): CarrierWitness {
  const said = machine?.toLowerCase();
  if (said === 'true') return 'machine';
  return said === 'false' ? 'person' : 'unknown';
}

/** Ends before an answer, by the carrier's code (plivo.com/docs/voice/troubleshooting/hangup-causes; the same at Vobiz). */
const UNANSWERED: Readonly<Record<number, DialEnd>> = {
  1000: 'cancelled',
  1010: 'cancelled',
  1020: 'cancelled',
  3000: 'no-answer',
  3010: 'busy',
  3020: 'rejected',
  3070: 'no-answer',
  6010: 'no-answer',
};
/** Codes from 2000 concern the called number, from 3000 its carrier, and 5020 is no route: the call was never answered. */
const isNeverAnswered = (code: number): boolean => (code >= 2000 && code <= 3999) || code === 5020;
const STATUSES: ProgressWords = {
  queued: 'queued',
  initiated: 'queued',
  ringing: 'ringing',
  Ring: 'ringing',
  'in-progress': 'answered',
  answered: 'answered',
  completed: 'completed',
  busy: 'busy',
  rejected: 'rejected',
  'no-answer': 'no-answer',
  timeout: 'no-answer',
  cancel: 'cancelled',
  canceled: 'cancelled',
  cancelled: 'cancelled',
  failed: 'failed',
};

/**
 * A call's progress by its status (`CallStatus` of a report, `call_status` of a live call); undefined for an unknown one. The end's code is more
 * exact: Vobiz reports every end as `completed`.
 */
export function callProgress(status: string, hangupCode?: string | number | null): DialProgress | undefined {
  const told = ownValue(STATUSES, status);
  if (told === undefined || told === 'queued' || told === 'ringing' || told === 'answered') return told && { state: told };
  return endOf(told, hangupCode);
}

/** @param told the end without its code */
export function endOf(told: DialEnd, hangupCode: string | number | null | undefined): DialProgress {
  const code = /^[1-9]\d{0,4}$/u.test(String(hangupCode ?? '')) ? Number(hangupCode) : undefined;
  const byCode = code === undefined ? undefined : (UNANSWERED[code] ?? (isNeverAnswered(code) ? 'failed' : undefined));
  const outcome = byCode ?? told;
  if (outcome === 'completed') return { state: 'ended', outcome };
  return unansweredEnd(outcome, { code: code === undefined ? undefined : String(code) });
}
