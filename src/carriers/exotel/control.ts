import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import { basicCredentials } from '../proofs.ts';
import { foundAmong, utcTime, wholeSeconds } from '../dialling.ts';
import { CarrierControlError } from '../errors.ts';
import type { CallControl, Dialling } from '../port.ts';
import { CarrierRest } from '../rest.ts';
import { dialProgress, provenStatusUrl } from './reports.ts';

export interface ExotelAccount {
  readonly apiUrl: string;
  readonly accountSid: string;
  readonly apiKey: Secret;
  readonly apiToken: Secret;
  /** Proves reports. */
  readonly password: Secret;
  readonly sampleRateHz: number;
  readonly callerIdFormat: 'national' | 'e164';
  /** Time zone of the carrier's times, which name none. */
  readonly utcOffsetMinutes: number;
}

/** The carrier's limit on a call. */
const MOST_CALL_S = 14_400;
const MOST_STREAM_URL = 600;
const LISTED_CALLS = 50;
/** Range around an order's time in which calls are listed, for clock differences and ringing. */
const LISTED_AROUND_MS = 10 * 60_000;
const EVENTS = ['ringing', 'answered', 'terminal'];

const call = z.object({
  Sid: z.string().min(1).max(128),
  Status: z.string().catch(''),
  Direction: z.string().catch(''),
  /** `YYYY-MM-DD HH:mm:ss`. */
  DateCreated: z.string().catch(''),
  From: z.string().catch(''),
  PhoneNumberSid: z.string().nullish().catch(undefined),
});
const oneCall = z.object({ Call: call });
const callList = z.object({ Calls: z.array(call) });
const problem = z
  .object({ RestException: z.object({ Code: z.union([z.number(), z.string()]).optional(), Message: z.string().optional() }) })
  .catch({ RestException: {} })
  .transform(({ RestException: { Code: code, Message: message } }) => ({ code, message }));

/**
 * Places calls over Connect Voice AI (developer.exotel.com/docs/agentstream/connect-voice-ai): `POST /v1/Accounts/{sid}/Calls/connect.json` with the
 * media address in the order. `From` is the person called, `CallerId` our number.
 */
function exotelDialling(account: ExotelAccount, clock: Clock): Dialling {
  const { apiUrl, accountSid, apiKey, apiToken, password, sampleRateHz } = account;
  const base = new URL(`/v1/Accounts/${encodeURIComponent(accountSid)}`, apiUrl).href;
  const headers = () => ({ authorization: basicCredentials(apiKey.reveal(), apiToken.reveal()) });
  const rest = new CarrierRest({ base, headers, problem: (body) => problem.parse(body) }, clock);
  const offsetMs = account.utcOffsetMinutes * 60_000;
  return {
    // 200 requests a minute.
    capabilities: { callsPerSecond: 3, detectsMachines: false, canFind: true },
    async dial(order, signal) {
      const streamUrl = `${order.streamUrl}?sample-rate=${sampleRateHz}`;
      if (streamUrl.length > MOST_STREAM_URL) {
        const message = `the media address has ${streamUrl.length} characters; Exotel takes ${MOST_STREAM_URL}: use a shorter OFFHOOK_PUBLIC_URL`;
        throw new CarrierControlError(message, { retryable: false, surelyNotDone: true });
      }
      const body = new URLSearchParams([
        ['From', order.to],
        ['CallerId', callerId(order.from, account)],
        ['StreamUrl', streamUrl],
        ['StreamType', 'bidirectional'],
        ['TimeOut', String(wholeSeconds(order.ringTimeoutMs))],
        ['TimeLimit', String(Math.min(MOST_CALL_S, wholeSeconds(order.maxDurationMs)))],
        ['CustomField', order.callId],
        ['StatusCallback', provenStatusUrl(order.statusUrl, password)],
        // Otherwise it comes as a multipart form.
        ['StatusCallbackContentType', 'application/json'],
        ...EVENTS.map((event): [string, string] => ['StatusCallbackEvents[]', event]),
      ]);
      const { Call } = await rest.dial({ method: 'POST', path: '/Calls/connect.json', body }, oneCall, signal);
      return { carrierCallId: Call.Sid };
    },
    /** The list has none of our ids, so the order is found by its two numbers and its time (`foundAmong`). */
    async find({ from, to }, askedAtMs, signal) {
      const [since, until] = [-LISTED_AROUND_MS, LISTED_AROUND_MS].map((aroundMs) => localTime(askedAtMs + aroundMs + offsetMs));
      const between = `gte:${since};lte:${until}`;
      const query = new URLSearchParams({ From: to, DateCreated: between, PageSize: String(LISTED_CALLS) });
      const list = await rest.read(`/Calls.json?${query.toString()}`, callList, signal);
      if (list === undefined) return { found: 'unknown' };
      const ours = list.value.Calls.filter(
        (each) =>
          each.Direction.startsWith('outbound') && sameNumber(each.From, to) && sameNumber(each.PhoneNumberSid ?? from, from),
      ).map(({ Sid, Status, DateCreated }) => ({
        carrierCallId: Sid,
        createdAtMs: utcTime(DateCreated) - offsetMs,
        progress: dialProgress(Status) ?? { state: 'queued' as const },
      }));
      return foundAmong(ours, askedAtMs, { ours: clock.wallMs(), carriers: list.atWallMs });
    },
    async progressOf(carrierCallId, signal) {
      const found = await rest.read(`/Calls/${encodeURIComponent(carrierCallId)}.json`, oneCall, signal);
      return found && dialProgress(found.value.Call.Status);
    },
  };
}

/** The documents show an ExoPhone as `0XXXXXXXXXX`. */
function callerId(number: string, { callerIdFormat }: ExotelAccount): string {
  return callerIdFormat === 'national' && /^\+91\d{10}$/u.test(number) ? `0${number.slice(3)}` : number;
}

/** `YYYY-MM-DD HH:mm:ss`. @param ms already moved by the carrier's offset */
function localTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}

/** Call control beside the media: only closing the socket, after which the next applet has the call. */
export class ExotelControl implements CallControl {
  readonly flowGoesOn = true;
  readonly dialling: Dialling;

  constructor(account: ExotelAccount, clock: Clock) {
    this.dialling = exotelDialling(account, clock);
  }

  /** @throws CarrierControlError always: ending a streamed call is undocumented */
  hangUp(): Promise<void> {
    return unsupported('no request of Exotel ends a call: it ends with its media socket');
  }

  /** @throws CarrierControlError always */
  transfer(): Promise<void> {
    return unsupported(
      'no request of Exotel passes a call on: the applet behind the Voicebot applet does, when the media socket closes',
    );
  }

  /** @throws CarrierControlError always */
  sendDigits(): Promise<void> {
    return unsupported('no request of Exotel presses keys: they are tones in the audio');
  }
}

function unsupported(message: string): Promise<never> {
  return Promise.reject(
    new CarrierControlError(message, { retryable: false, surelyNotDone: true, facts: { unsupported: true } }),
  );
}

/** Numbers are written `+91XXXXXXXXXX`, `0XXXXXXXXXX` and `XXXXXXXXXX`. */
function sameNumber(one: string, other: string): boolean {
  const digits = (text: string): string => text.replaceAll(/\D/gu, '').slice(-10);
  return digits(one) !== '' && digits(one) === digits(other);
}
