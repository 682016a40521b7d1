import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import { parseJson } from '../../kernel/json.ts';
import { basicCredentials } from '../basic-credentials.ts';
import { foundAmong, wholeSeconds } from '../dialling.ts';
import { CarrierControlError } from '../errors.ts';
import type { CallControl, DialCapabilities, Dialling, DialOrder, DialProgress, FoundDial, SoughtDial } from '../port.ts';
import { CarrierRest, type RestProblem, type RestRequest } from '../rest.ts';
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
const problem = z.object({
  RestException: z.object({ Code: z.union([z.number(), z.string()]).optional(), Message: z.string().optional() }),
});

/**
 * Places calls over Connect Voice AI (developer.exotel.com/docs/agentstream/connect-voice-ai): `POST /v1/Accounts/{sid}/Calls/connect.json` with the
 * media address in the order. `From` is the person called, `CallerId` our number.
 */
export class ExotelDialling implements Dialling {
  /** 200 requests a minute. */
  readonly capabilities: DialCapabilities = { callsPerSecond: 3, detectsMachines: false, canFind: true };
  readonly #account: ExotelAccount;
  readonly #clock: Clock;
  readonly #rest: CarrierRest;

  constructor(account: ExotelAccount, clock: Clock) {
    this.#account = account;
    this.#clock = clock;
    this.#rest = new CarrierRest(clock, problemOf);
  }

  async dial(order: DialOrder, signal: AbortSignal): Promise<{ readonly carrierCallId: string }> {
    const { sampleRateHz, password } = this.#account;
    const streamUrl = `${order.streamUrl}?sample-rate=${sampleRateHz}`;
    if (streamUrl.length > MOST_STREAM_URL) {
      const message = `the media address has ${streamUrl.length} characters; Exotel takes ${MOST_STREAM_URL}: use a shorter OFFHOOK_PUBLIC_URL`;
      throw new CarrierControlError(message, { retryable: false, surelyNotDone: true });
    }
    const body = new URLSearchParams([
      ['From', order.to],
      ['CallerId', this.#callerId(order.from)],
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
    const { Call } = await this.#rest.dial({ ...this.#request('POST', '/Calls/connect.json'), body }, oneCall, signal);
    return { carrierCallId: Call.Sid };
  }

  /** The list has none of our ids, so the order is found by its two numbers and its time (`foundAmong`). */
  async find({ from, to }: Pick<SoughtDial, 'from' | 'to'>, askedAtMs: number, signal: AbortSignal): Promise<FoundDial> {
    const between = `gte:${this.#localTime(askedAtMs - LISTED_AROUND_MS)};lte:${this.#localTime(askedAtMs + LISTED_AROUND_MS)}`;
    const query = new URLSearchParams({ From: to, DateCreated: between, PageSize: String(LISTED_CALLS) });
    const list = await this.#rest.read(this.#request('GET', `/Calls.json?${query.toString()}`), callList, signal);
    if (list === undefined) return { found: 'unknown' };
    const ours = list.value.Calls.filter(
      (each) =>
        each.Direction.startsWith('outbound') && sameNumber(each.From, to) && sameNumber(each.PhoneNumberSid ?? from, from),
    ).map(({ Sid, Status, DateCreated }) => ({
      carrierCallId: Sid,
      createdAtMs: this.#timeOf(DateCreated),
      progress: dialProgress(Status) ?? { state: 'queued' as const },
    }));
    return foundAmong(ours, askedAtMs, { ours: this.#clock.wallMs(), carriers: list.atWallMs });
  }

  async progressOf(carrierCallId: string, signal: AbortSignal): Promise<DialProgress | undefined> {
    const request = this.#request('GET', `/Calls/${encodeURIComponent(carrierCallId)}.json`);
    const found = await this.#rest.read(request, oneCall, signal);
    return found === undefined ? undefined : dialProgress(found.value.Call.Status);
  }

  #request(method: 'GET' | 'POST', path: string): RestRequest {
    const { apiUrl, accountSid, apiKey, apiToken } = this.#account;
    const url = new URL(`/v1/Accounts/${encodeURIComponent(accountSid)}${path}`, apiUrl);
    return { method, url, headers: { authorization: basicCredentials(apiKey.reveal(), apiToken.reveal()) } };
  }

  /** The documents show an ExoPhone as `0XXXXXXXXXX`. */
  #callerId(number: string): string {
    const isNational = this.#account.callerIdFormat === 'national' && /^\+91\d{10}$/u.test(number);
    return isNational ? `0${number.slice(3)}` : number;
  }

  #localTime(wallMs: number): string {
    const local = new Date(wallMs + this.#account.utcOffsetMinutes * 60_000).toISOString();
    return `${local.slice(0, 10)} ${local.slice(11, 19)}`;
  }

  /** Ms since the epoch; NaN for no time. */
  #timeOf(local: string): number {
    return Date.parse(`${local.replace(' ', 'T')}Z`) - this.#account.utcOffsetMinutes * 60_000;
  }
}

/** Call control beside the media: only closing the socket, after which the next applet has the call. */
export class ExotelControl implements CallControl {
  readonly flowGoesOn = true;
  readonly dialling: Dialling;

  constructor(account: ExotelAccount, clock: Clock) {
    this.dialling = new ExotelDialling(account, clock);
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

function problemOf(body: string): RestProblem {
  const found = problem.safeParse(parseJson(body));
  if (!found.success) return {};
  const { Code, Message } = found.data.RestException;
  return { code: Code, message: Message };
}
