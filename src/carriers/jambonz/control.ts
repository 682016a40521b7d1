import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import { sleep } from '../../kernel/waiting.ts';
import { foundAmong, type ListedCall, wholeSeconds } from '../dialling.ts';
import { CarrierRest, joinOneByOne, type RestRequest } from '../rest.ts';
import type { CallControl, Dialling } from '../port.ts';
import { type Redirection, redirectionUrl } from './answer.ts';
import { dialProgress } from './webhook.ts';

export interface JambonzControlSettings {
  /** Includes the version: `https://api.jambonz.cloud/v1`. */
  readonly apiUrl: string;
  readonly accountSid: string;
  readonly apiKey: Secret;
  readonly speech: SpeechNames;
  /** The gateway's base address, whose documents redirected calls fetch. */
  readonly gatewayUrl: () => string;
}

/** Speech services of a jambonz account: required in an order without an application, and used by answer detection. */
export interface SpeechNames {
  readonly vendor: string;
  /** As in `en-US`. */
  readonly language: string;
  readonly voice: string;
}

const problem = z.object({ msg: z.string().optional() }).catch({});
const KEY_MS = 250;
/** A `w` among keys. */
const WAIT_MS = 500;

/**
 * Acts on live calls by `PUT /Accounts/{account}/Calls/{call}`, one action a request (jambonz-api-server, lib/routes/api/accounts.js). For a transfer,
 * jambonz fetches other verbs from us.
 */
export class JambonzControl implements CallControl {
  readonly dialling: Dialling;
  readonly #rest: CarrierRest;
  readonly #gatewayUrl: () => string;

  constructor(settings: JambonzControlSettings, clock: Clock) {
    const { apiUrl, accountSid, apiKey, gatewayUrl } = settings;
    const base = `${apiUrl.replace(/\/+$/u, '')}/Accounts/${encodeURIComponent(accountSid)}`;
    const headers = () => ({ authorization: `Bearer ${apiKey.reveal()}` });
    // jambonz' errors have no codes.
    this.#rest = new CarrierRest({ base, headers, problem: (body) => ({ message: problem.parse(body).msg }) }, clock);
    this.#gatewayUrl = gatewayUrl;
    this.dialling = jambonzDialling(this.#rest, settings);
  }

  /** `no-answer` cancels a ringing call only, `completed` ends an answered call only. */
  async hangUp(carrierCallId: string, signal: AbortSignal): Promise<void> {
    for (const status of ['no-answer', 'completed']) await this.#rest.end(update(carrierCallId, { call_status: status }), signal);
  }

  async transfer(carrierCallId: string, to: string, signal: AbortSignal): Promise<void> {
    await this.#rest.repeat(this.#redirect(carrierCallId, { kind: 'dial', to }), signal);
  }

  /** Sent by SIP INFO, one key a request. */
  async sendDigits(carrierCallId: string, digits: string, signal: AbortSignal): Promise<void> {
    for (const digit of digits) {
      if (digit === 'w') await sleep(this.#rest.clock, WAIT_MS, signal);
      else await this.#rest.once(update(carrierCallId, { dtmf: { digit, duration: KEY_MS } }), signal);
    }
  }

  /** Both calls join a new conference. */
  async join(carrierCallId: string, otherCarrierCallId: string, signal: AbortSignal): Promise<void> {
    const conference = { kind: 'conference', name: `offhook-${randomUUID()}` } as const;
    const move = (id: string) => this.#rest.repeat(this.#redirect(id, conference), signal);
    await joinOneByOne(this, [carrierCallId, otherCarrierCallId], move, signal);
  }

  #redirect(carrierCallId: string, redirection: Redirection): RestRequest {
    return update(carrierCallId, { call_hook: hook(redirectionUrl(this.#gatewayUrl(), redirection)) });
  }
}

/** Address of a call below its account. */
function callPath(carrierCallId: string): string {
  return `/Calls/${encodeURIComponent(carrierCallId)}`;
}

function update(carrierCallId: string, body: object): RestRequest {
  return { method: 'PUT', path: callPath(carrierCallId), body };
}

function hook(url: string) {
  return { url, method: 'POST' };
}

/** Page size of the records of ended calls. */
const LISTED_RECORDS = 100;
/** Latest start of an attempt after our order. */
const STARTED_WITHIN_MS = 60_000;

const created = z.object({ sid: z.string().min(1).max(128) });
const call = z.object({
  call_sid: z.string(),
  call_status: z.string(),
  sip_status: z.coerce.number().int().optional().catch(undefined),
  direction: z.string().catch(''),
  from: z.string().catch(''),
  to: z.string().catch(''),
});
const records = z.object({
  data: z.array(z.object({ call_sid: z.string().catch(''), attempted_at: z.union([z.string(), z.number()]).catch('') })),
});

/** Places calls over `POST /Accounts/{account}/Calls`. When one is answered, jambonz fetches the order's `call_hook`, which opens the media socket. */
function jambonzDialling(rest: CarrierRest, { speech, gatewayUrl }: JambonzControlSettings): Dialling {
  return {
    capabilities: { callsPerSecond: 5, detectsMachines: true, canFind: true },
    async dial(order, signal) {
      const { statusUrl, streamUrl, callId } = order;
      const { vendor, language, voice } = speech;
      const body = {
        from: order.from,
        to: { type: 'phone', number: order.to },
        call_hook: hook(redirectionUrl(gatewayUrl(), { kind: 'stream', url: streamUrl, callId })),
        call_status_hook: hook(statusUrl),
        timeout: wholeSeconds(order.ringTimeoutMs),
        timeLimit: wholeSeconds(order.maxDurationMs),
        speech_synthesis_vendor: vendor,
        speech_synthesis_language: language,
        speech_synthesis_voice: voice,
        speech_recognizer_vendor: vendor,
        speech_recognizer_language: language,
        ...(order.detectMachine ? { amd: { actionHook: statusUrl } } : {}),
      };
      const { sid } = await rest.dial({ method: 'POST', path: '/Calls', body }, created, signal);
      return { carrierCallId: sid };
    },
    /**
     * jambonz stores none of our ids, and its call list, which includes ended calls of the last hour, has no times. So an ended call is dated by its
     * record, and a live one counts as placed by the order.
     */
    async find({ from, to }, askedAtMs, signal) {
      const query = new URLSearchParams({ direction: 'outbound', to });
      const listed = await rest.read(`/Calls?${query.toString()}`, z.array(call), signal);
      if (listed === undefined) return { found: 'unknown' };
      const clocks = { ours: rest.clock.wallMs(), carriers: listed.atWallMs };
      const askedMs = askedAtMs + clocks.carriers - clocks.ours;
      const between = listed.value.filter(
        (each) => each.direction === 'outbound' && isSame(each.from, from) && isSame(each.to, to),
      );
      const ended = between.some((each) => dialProgress(each.call_status)?.state === 'ended');
      const attempts = ended ? await attemptsSince(rest, askedMs, signal) : new Map<string, number>();
      const calls = between.map((each): ListedCall => {
        const progress = dialProgress(each.call_status, each.sip_status) ?? { state: 'queued' };
        const createdAtMs = progress.state === 'ended' ? (attempts.get(each.call_sid) ?? Number.NaN) : askedMs;
        return { carrierCallId: each.call_sid, createdAtMs, progress };
      });
      return foundAmong(calls, askedAtMs, clocks, STARTED_WITHIN_MS);
    },
    async progressOf(carrierCallId, signal) {
      const found = await rest.read(callPath(carrierCallId), call, signal);
      return found && dialProgress(found.value.call_status, found.value.sip_status);
    },
  };
}

/** Attempt times of calls that ended around that time, by id. */
async function attemptsSince(rest: CarrierRest, sinceMs: number, signal: AbortSignal): Promise<Map<string, number>> {
  const query = new URLSearchParams({
    page: '1',
    count: String(LISTED_RECORDS),
    direction: 'outbound',
    start: new Date(sinceMs - 60 * 60_000).toISOString(),
  });
  const page = await rest.read(`/RecentCalls?${query.toString()}`, records, signal);
  return new Map((page?.value.data ?? []).map((each) => [each.call_sid, new Date(each.attempted_at).getTime()]));
}

function isSame(left: string, right: string): boolean {
  return left.replaceAll(/\D/gu, '') === right.replaceAll(/\D/gu, '');
}
