import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import { documentUrl } from '../carrier.ts';
import { foundAmong, type ListedCall, tokenOf, utcTime, wholeSeconds, withoutPlus } from '../dialling.ts';
import { CarrierControlError } from '../errors.ts';
import { CarrierRest, joinOneByOne, type RestHeaders, type RestProblem, type RestRequest } from '../rest.ts';
import type { CallControl, Dialling, DialProgress } from '../port.ts';
import { contentTypeOf, type StreamAudio } from './dialect.ts';
import { callProgress, endOf } from './webhook.ts';

export interface PlivoControlSettings {
  readonly apiUrl: string;
  /** Path before `/Account/…`, which differs within the family, … */
  readonly apiPath: string;
  /** … as do the credentials. */
  readonly credentials: (authId: string, authToken: string) => RestHeaders;
  readonly authId: string;
  readonly authToken: Secret;
  /** Name of the carrier. */
  readonly carrier: string;
  /** Base address of the gateway, as the carrier reaches it. */
  readonly gatewayUrl: () => string;
  readonly callsPerSecond: number;
  /** Requested format of a call's copy. */
  readonly audio: StreamAudio;
}

/**
 * Acts on calls over `/Call/{uuid}/` (plivo.com/docs/voice/api/calls, docs.vobiz.ai/call): a transfer names another document's address, which the
 * carrier fetches with a signed request.
 */
export class PlivoControl implements CallControl {
  readonly dialling: Dialling;
  readonly #rest: CarrierRest;
  readonly #addressOf: DocumentAddress;
  readonly #audio: StreamAudio;

  constructor(settings: PlivoControlSettings, clock: Clock) {
    const { apiUrl, apiPath, authId, authToken, credentials, carrier, gatewayUrl } = settings;
    const base = new URL(`${apiPath}/Account/${encodeURIComponent(authId)}`, apiUrl).href;
    this.#rest = new CarrierRest({ base, headers: () => credentials(authId, authToken.reveal()), problem: problemOf }, clock);
    this.#audio = settings.audio;
    this.#addressOf = (kind, value, callId) => documentUrl(gatewayUrl(), carrier, { kind, value, callId });
    this.dialling = plivoDialling(this.#rest, settings.callsPerSecond, this.#addressOf);
  }

  /** A waiting or ringing call is known by its request, which has the same id. */
  async hangUp(carrierCallId: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#rest.repeat({ method: 'DELETE', path: callPath(carrierCallId) }, signal);
    } catch (error) {
      if (!(error instanceof CarrierControlError && error.facts['status'] === 404)) throw error;
      await this.#rest.end({ method: 'DELETE', path: `/Request/${encodeURIComponent(carrierCallId)}/` }, signal);
    }
  }

  async transfer(carrierCallId: string, to: string, signal: AbortSignal): Promise<void> {
    await this.#rest.repeat(fetchAnew(carrierCallId, this.#addressOf('dial', to)), signal);
  }

  async sendDigits(carrierCallId: string, digits: string, signal: AbortSignal): Promise<void> {
    await this.#rest.once({ method: 'POST', path: `${callPath(carrierCallId)}DTMF/`, body: { digits } }, signal);
  }

  /** Both calls join a conference room with a random name. */
  async join(carrierCallId: string, otherCarrierCallId: string, signal: AbortSignal): Promise<void> {
    const room = this.#addressOf('join', `offhook-${randomUUID()}`);
    const move = (id: string) => this.#rest.repeat(fetchAnew(id, room), signal);
    await joinOneByOne(this, [carrierCallId, otherCarrierCallId], move, signal);
  }

  /** The Stream resource below the call (plivo.com/docs/voice/api/audio-streams, docs.vobiz.ai/audio-streams/start-audio-stream). */
  async fork(carrierCallId: string, streamUrl: string, signal: AbortSignal): Promise<void> {
    const body = {
      service_url: streamUrl,
      // Both tracks are only sent one way.
      bidirectional: false,
      audio_track: 'both',
      content_type: contentTypeOf(this.#audio),
    };
    await this.#rest.once({ method: 'POST', path: `${callPath(carrierCallId)}Stream/`, body }, signal);
  }
}

/** Address of a document that the carrier fetches. @param callId our own, of a dialled call */
type DocumentAddress = (kind: string, value: string, callId?: string) => string;

/** Address of a call below its account; ends in a slash, as all of both carriers do. */
function callPath(carrierCallId: string): string {
  return `/Call/${encodeURIComponent(carrierCallId)}/`;
}

function fetchAnew(carrierCallId: string, address: string): RestRequest {
  return { method: 'POST', path: callPath(carrierCallId), body: { legs: 'aleg', aleg_url: address, aleg_method: 'POST' } };
}

const problem = z.object({ error: z.unknown(), message: z.unknown(), error_code: z.unknown() }).partial().catch({});

function problemOf(body: unknown): RestProblem {
  const { error, message, error_code: code } = problem.parse(body);
  const told = [error, message].find((text): text is string => typeof text === 'string');
  return { code: typeof code === 'number' || typeof code === 'string' ? code : undefined, message: told };
}

/** The carrier's limit on a call. */
const MOST_CALL_S = 86_400;
/** Page size of a list; a pair of numbers has far fewer calls within the searched minutes. */
const LISTED_CALLS = 20;

/** An unanswered call has no time; it counts as ours for as long as ours may wait and ring. */
const WAITS_MS = 5 * 60_000;

const uuid = z.string().min(1).max(128);
/** An array for several numbers. Both carriers say that it is the call's own id (plivo-python#44, docs.vobiz.ai/call/retrieve-queued-call). */
const created = z.object({ request_uuid: z.union([uuid, z.tuple([uuid]).transform(([only]) => only)]) });
const word = z.string().nullish().catch(undefined);
const code = z.union([z.string(), z.number()]).nullish().catch(undefined);

/** An entry of the log of ended calls. The family has two names for some fields. */
const logged = z.object({
  call_uuid: uuid,
  call_state: word,
  call_status: word,
  status: word,
  call_direction: word,
  direction: word,
  from_number: word,
  from: word,
  to_number: word,
  to: word,
  initiation_time: word,
  created_at: word,
  answer_time: word,
  hangup_cause_code: code,
});
const log = z.object({ objects: z.array(logged) });
/** A call that is up, waiting, ringing or being dialled. */
const live = z.object({ call_uuid: uuid, call_status: z.string(), from: word, to: word, direction: word, session_start: word });
const liveList = z.object({ calls: z.array(uuid) });

/**
 * Places calls over `POST /Call/`. An order names its document's address, which includes the stream's token, so that any process can answer the
 * fetch. Orders beyond the account's rate wait at the carrier for an unknown time.
 */
function plivoDialling(rest: CarrierRest, callsPerSecond: number, addressOf: DocumentAddress): Dialling {
  return {
    capabilities: { callsPerSecond, detectsMachines: true, canFind: true },
    async dial(order, signal) {
      const { statusUrl } = order;
      const body = {
        from: withoutPlus(order.from),
        to: withoutPlus(order.to),
        answer_url: addressOf('stream', tokenOf(order.streamUrl), order.callId),
        answer_method: 'POST',
        ring_url: statusUrl,
        ring_method: 'POST',
        hangup_url: statusUrl,
        hangup_method: 'POST',
        ring_timeout: wholeSeconds(order.ringTimeoutMs),
        time_limit: Math.min(MOST_CALL_S, wholeSeconds(order.maxDurationMs)),
        // With an address of its own, detection runs while the document is obeyed.
        ...(order.detectMachine
          ? { machine_detection: 'true', machine_detection_url: statusUrl, machine_detection_method: 'POST' }
          : {}),
      };
      const { request_uuid: carrierCallId } = await rest.dial({ method: 'POST', path: '/Call/', body }, created, signal);
      return { carrierCallId };
    },
    /**
     * The carrier stores none of our ids, so a call is found by its two numbers and its time (`foundAmong`): among live calls, waiting ones (which
     * have no time), and the log of ended ones.
     */
    async find({ from, to }, askedAtMs, signal) {
      const numbers = { from_number: withoutPlus(from), to_number: withoutPlus(to), call_direction: 'outbound' };
      const isOurs = (call: { from?: string | null | undefined; to?: string | null | undefined }, direction: unknown): boolean =>
        direction === numbers.call_direction &&
        withoutPlus(call.from ?? '') === numbers.from_number &&
        withoutPlus(call.to ?? '') === numbers.to_number;
      const listed = (filter: Readonly<Record<string, string>>) => `/Call/?${new URLSearchParams(filter).toString()}`;
      const found = new Map<string, ListedCall>();
      for (const status of ['queued', 'live']) {
        const list = await rest.read(listed({ status, ...numbers }), liveList, signal);
        if (list === undefined) continue;
        const askedMs = askedAtMs + list.atWallMs - rest.clock.wallMs();
        const isYoung = list.atWallMs - askedMs <= WAITS_MS;
        for (const id of list.value.calls.slice(0, LISTED_CALLS)) {
          const call = await rest.read(`${callPath(id)}?status=${status}`, live, signal);
          if (call === undefined || !isOurs(call.value, call.value.direction)) continue;
          const progress = callProgress(call.value.call_status) ?? { state: 'queued' };
          const createdAtMs = status === 'queued' && isYoung ? askedMs : utcTime(call.value.session_start);
          found.set(id, { carrierCallId: id, createdAtMs, progress });
        }
      }
      const over = await rest.read(listed({ ...numbers, limit: String(LISTED_CALLS) }), log, signal);
      if (over === undefined) return { found: 'unknown' };
      for (const call of over.value.objects) {
        const ends = { from: call.from_number ?? call.from, to: call.to_number ?? call.to };
        if (!isOurs(ends, call.call_direction ?? call.direction ?? numbers.call_direction)) continue;
        const createdAtMs = utcTime(call.initiation_time ?? call.created_at);
        found.set(call.call_uuid, { carrierCallId: call.call_uuid, createdAtMs, progress: progressOfLogged(call) });
      }
      return foundAmong([...found.values()], askedAtMs, { ours: rest.clock.wallMs(), carriers: over.atWallMs });
    },
    async progressOf(carrierCallId, signal) {
      const path = callPath(carrierCallId);
      for (const status of ['live', 'queued']) {
        const call = await rest.read(`${path}?status=${status}`, live, signal);
        if (call !== undefined) return callProgress(call.value.call_status);
      }
      const over = await rest.read(path, logged, signal);
      return over && progressOfLogged(over.value);
    },
  };
}

/** A call in the log is over. */
function progressOfLogged(call: z.output<typeof logged>): DialProgress {
  const status = call.call_state ?? call.call_status ?? call.status;
  const told = status === null || status === undefined ? undefined : callProgress(status.toLowerCase(), call.hangup_cause_code);
  if (told !== undefined) return told;
  const isAnswered = typeof call.answer_time === 'string' && call.answer_time !== '';
  return endOf(isAnswered ? 'completed' : 'failed', call.hangup_cause_code);
}
