import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import { hasBasicCredentials } from '../proofs.ts';
import type { BroughtCall, CarrierRequest, CarrierStatus, ReportDoor } from '../carrier.ts';
import { ownValue, progressBy, type ProgressWords, unansweredEnd } from '../dialling.ts';
import type { DialProgress } from '../port.ts';

/** Asterisk's user name, in `websocket_client.conf` and in the dialplan's requests; only the password is proof. */
export const USERNAME = 'offhook';

/** A channel's id: the second of its birth and a number, with the system's name before it where it has one; or our own id of a call. */
const channelId = z.string().regex(/^[\w.:-]{1,150}$/u);
const number = z.string().max(80).catch('');
/** What a request of the dialplan says of a call. */
export const callForm = z.object({ call: channelId, from: number, to: number });

/** `Authorization: Basic` with the password in force. */
export function isBasic(header: string): boolean {
  return header.length < 1024 && /^Basic [A-Za-z0-9+/]+={0,2}$/iu.test(header);
}

/** @param header of the request, undefined where absent */
export function isProven(header: string | undefined, passwords: readonly Secret[]): boolean {
  return hasBasicCredentials(header, USERNAME, passwords);
}

/** What the dialplan put into a media socket's query (`v(…)` of Dial): the token of a dialled call, or the call's id. */
export function broughtCall({ urls: [url = ''] }: CarrierRequest, botName: string | undefined): BroughtCall {
  const query = Object.fromEntries(new URL(url, 'http://gateway').searchParams);
  const { token } = query;
  if (token !== undefined && token !== '') return { token };
  const call = callForm.safeParse(query);
  if (!call.success) return 400;
  const { call: carrierCallId, from, to } = call.data;
  return { carrier: 'asterisk', carrierCallId, from, to, direction: 'inbound', botName };
}

const report = z.object({
  call: channelId,
  /** `DIALSTATUS` of the dialplan; before there is one, `DIALING` and `UP`. */
  status: z.string().regex(/^[A-Z]{1,20}$/u),
  /** Q.850 cause. */
  cause: z.string().catch(''),
  /** `HANGUPCAUSE(…,tech)`: `SIP 486 Busy Here`. */
  tech: z.string().catch(''),
});

/** The dialplan's reports on a dialled call (`offhook-dial`, `offhook-answered`). */
export function reportDoor(passwords: readonly Secret[]): ReportDoor {
  return {
    body: 'form',
    header: 'Authorization',
    isProof: isBasic,
    isSigned: ({ headers }) => isProven(headers['authorization'], passwords),
    readStatus,
    needs: { call: 'The form has no call.', status: 'The form has no call, or no DIALSTATUS as its status.' },
  };
}

export function readStatus(body: unknown): CarrierStatus | undefined {
  const parsed = report.safeParse(body);
  if (!parsed.success) return undefined;
  const { call: carrierCallId, status, cause, tech } = parsed.data;
  const progress = progressOf(status, cause, tech);
  return { carrierCallId, status, terminal: progress?.state === 'ended', streamError: undefined, progress };
}

/** 21, Call Rejected (Q.850): Asterisk has CONGESTION or BUSY for it. */
const REJECTED = '21';

const STATUSES: ProgressWords = {
  DIALING: 'queued',
  UP: 'answered',
  ANSWER: 'completed',
  BUSY: 'busy',
  NOANSWER: 'no-answer',
  CANCEL: 'cancelled',
  CONGESTION: 'failed',
  CHANUNAVAIL: 'failed',
  DONTCALL: 'failed',
  TORTURE: 'failed',
  INVALIDARGS: 'failed',
};

function progressOf(status: string, cause: string, tech: string): DialProgress | undefined {
  const sip = Number(/^SIP ([1-6]\d\d)\b/u.exec(tech)?.[1]);
  const about = Number.isNaN(sip) ? { code: /^[1-9]\d{0,2}$/u.test(cause) ? `Q.850 ${cause}` : undefined } : { sip };
  const isRejected = cause === REJECTED && ['busy', 'failed'].includes(ownValue(STATUSES, status) ?? '');
  return isRejected ? unansweredEnd('rejected', about) : progressBy(STATUSES, status, about);
}
