import { createPrivateKey, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import { sleep } from '../../kernel/waiting.ts';
import type { Clock } from '../../kernel/clock.ts';
import { foundAmong, type ListedCall, utcTime, wholeSeconds, withoutPlus } from '../dialling.ts';
import { CarrierRest, joinOneByOne, type RestProblem, type RestRequest } from '../rest.ts';
import type { CallControl, Dialling } from '../port.ts';
import { connectNcco, conversationNcco, dialNcco, type MediaSettings, type Ncco } from './answer.ts';
import { dialProgress } from './webhook.ts';

export interface VonageControlSettings extends MediaSettings {
  readonly apiUrl: string;
  readonly applicationId: string;
  /** PEM. */
  readonly privateKey: Secret;
  /** Event webhook of the application, where events of dialled calls' sockets go: they name a call of their own, not the dialled one. */
  readonly eventUrl: () => string;
}

const TOKEN_SECONDS = 60;
/** A `w` among keys. */
const WAIT_MS = 500;

/** Acts on calls over `PUT /v1/calls/{uuid}` (developer.vonage.com/api/voice); a new NCCO ends the old one's media socket. */
export class VonageControl implements CallControl {
  readonly dialling: Dialling;
  readonly #rest: CarrierRest;

  /** @throws for an invalid private key */
  constructor(settings: VonageControlSettings, clock: Clock) {
    const bearer = applicationToken(settings, clock);
    const headers = async () => ({ authorization: `Bearer ${await bearer()}` });
    this.#rest = new CarrierRest({ base: new URL('/v1/calls', settings.apiUrl).href, headers, problem: problemOf }, clock);
    this.dialling = vonageDialling(this.#rest, settings);
  }

  async check(signal: AbortSignal): Promise<{ carrierWallMs: number }> {
    const { atWallMs } = await this.#rest.repeat({ method: 'GET', path: '?page_size=1' }, signal);
    return { carrierWallMs: atWallMs };
  }

  async hangUp(carrierCallId: string, signal: AbortSignal): Promise<void> {
    await this.#rest.end(put(callPath(carrierCallId), { action: 'hangup' }), signal);
  }

  async transfer(carrierCallId: string, to: string, signal: AbortSignal): Promise<void> {
    await this.#rest.repeat(goOnWith(carrierCallId, dialNcco(to)), signal);
  }

  async sendDigits(carrierCallId: string, digits: string, signal: AbortSignal): Promise<void> {
    for (const part of digits.split(/(w)/u).filter((piece) => piece !== '')) {
      if (part === 'w') await sleep(this.#rest.clock, WAIT_MS, signal);
      else await this.#rest.once(put(`${callPath(carrierCallId)}/dtmf`, { digits: part }), signal);
    }
  }

  async join(carrierCallId: string, otherCarrierCallId: string, signal: AbortSignal): Promise<void> {
    const ncco = conversationNcco(`offhook-${randomUUID()}`);
    const move = (id: string) => this.#rest.repeat(goOnWith(id, ncco), signal);
    await joinOneByOne(this, [carrierCallId, otherCarrierCallId], move, signal);
  }
}

/** Makes tokens that prove the application (RS256). @throws for an invalid private key */
function applicationToken({ applicationId, privateKey }: VonageControlSettings, clock: Clock): () => Promise<string> {
  const key = createPrivateKey(privateKey.reveal());
  return async () => {
    const { SignJWT } = await import('jose');
    const nowSeconds = Math.floor(clock.wallMs() / 1000);
    return new SignJWT({ application_id: applicationId })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
      .setIssuedAt(nowSeconds)
      .setExpirationTime(nowSeconds + TOKEN_SECONDS)
      .setJti(randomUUID())
      .sign(key);
  };
}

const word = z.string().optional();
const problem = z.object({ type: word, title: word, error_title: word, detail: word }).catch({});

function problemOf(body: unknown): RestProblem {
  const { type, title, error_title: errorTitle, detail } = problem.parse(body);
  return { code: type ?? title ?? errorTitle, message: detail ?? title ?? errorTitle };
}

/** Address of a call below the calls. */
function callPath(carrierCallId: string): string {
  return `/${encodeURIComponent(carrierCallId)}`;
}

function put(path: string, body: object): RestRequest {
  return { method: 'PUT', path, body };
}

function goOnWith(carrierCallId: string, ncco: Ncco): RestRequest {
  return put(callPath(carrierCallId), { action: 'transfer', destination: { type: 'ncco', ncco } });
}

/** The carrier's limits on ringing and calls. */
const MOST_RINGING_S = 120;
const MOST_CALL_S = 7_200;
/** Page size, and pages read: at three calls a second, five minutes of calls. */
const PAGE_CALLS = 100;
const MOST_PAGES = 10;
/** A listed call starts with its answer, up to the ringing time later. */
const STARTED_WITHIN_MS = 60_000 + MOST_RINGING_S * 1000;

const created = z.object({ uuid: z.string().min(1).max(128) });
const phone = z.object({ number: z.string().catch('') });
const end = z.union([phone, z.array(phone).transform((ends) => ends[0] ?? { number: '' })]).catch({ number: '' });
const call = z.object({
  uuid: z.string(),
  status: z.string(),
  direction: z.string().catch(''),
  from: end,
  to: end,
  /** UTC; absent before the answer. */
  start_time: z.string().nullish().catch(undefined),
});
const callPage = z.object({ _embedded: z.object({ calls: z.array(call) }) });

/**
 * Places calls over `POST /v1/calls` (developer.vonage.com/api/voice) with the NCCO in the order, so that an answered call opens its socket without
 * another webhook. Orders beyond the account's rate are refused (429).
 */
function vonageDialling(rest: CarrierRest, settings: VonageControlSettings): Dialling {
  return {
    capabilities: { callsPerSecond: 3, detectsMachines: true, canFind: true },
    async dial(order, signal) {
      const { callId, streamUrl: url } = order;
      const body = {
        to: [{ type: 'phone', number: withoutPlus(order.to) }],
        from: { type: 'phone', number: withoutPlus(order.from) },
        ncco: connectNcco({ url, callId, carrierCallId: undefined, statusUrl: settings.eventUrl() }, settings),
        event_url: [order.statusUrl],
        event_method: 'POST',
        ringing_timer: Math.min(MOST_RINGING_S, wholeSeconds(order.ringTimeoutMs)),
        length_timer: Math.min(MOST_CALL_S, wholeSeconds(order.maxDurationMs)),
        // The detection mode that runs the NCCO meanwhile.
        ...(order.detectMachine ? { advanced_machine_detection: { behavior: 'continue', mode: 'default' } } : {}),
      };
      const { uuid } = await rest.dial({ method: 'POST', path: '', body }, created, signal);
      return { carrierCallId: uuid };
    },
    /**
     * The carrier stores none of our ids and cannot list by number: the application's newest calls are read back to before the order, and the call
     * is found by its two numbers and its time (`foundAmong`). The listing order of unanswered calls is undocumented; where the list is inconclusive,
     * the call stays unknown.
     */
    async find({ from, to }, askedAtMs, signal) {
      const found = new Map<string, ListedCall>();
      for (let index = 0; index < MOST_PAGES; index += 1) {
        const paging = { order: 'desc', page_size: String(PAGE_CALLS), record_index: String(index * PAGE_CALLS) };
        const page = await rest.read(`?${new URLSearchParams(paging).toString()}`, callPage, signal);
        if (page === undefined) return { found: 'unknown' };
        const { calls } = page.value._embedded;
        const clocks = { ours: rest.clock.wallMs(), carriers: page.atWallMs };
        const askedMs = askedAtMs + clocks.carriers - clocks.ours;
        for (const each of calls) {
          const isOurs =
            each.direction === 'outbound' && each.from.number === withoutPlus(from) && each.to.number === withoutPlus(to);
          if (isOurs) found.set(each.uuid, listedCall(each, askedMs, clocks.carriers));
        }
        const isLast =
          calls.length < PAGE_CALLS || calls.some(({ start_time: start }) => utcTime(start) < askedMs - STARTED_WITHIN_MS);
        if (isLast) return foundAmong([...found.values()], askedAtMs, clocks, STARTED_WITHIN_MS);
      }
      return { found: 'unknown' };
    },
    async progressOf(carrierCallId, signal) {
      const found = await rest.read(callPath(carrierCallId), call, signal);
      return found && dialProgress(found.value.status);
    },
  };
}

/** A ringing call has no start yet; it counts as ours while ours may ring. */
function listedCall({ uuid, status, start_time: start }: z.output<typeof call>, askedMs: number, nowMs: number): ListedCall {
  const progress = dialProgress(status) ?? { state: 'queued' as const };
  const mayRing = progress.state !== 'ended' && nowMs - askedMs <= STARTED_WITHIN_MS;
  const startedAtMs = utcTime(start);
  return { carrierCallId: uuid, createdAtMs: Number.isNaN(startedAtMs) && mayRing ? askedMs : startedAtMs, progress };
}
