import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import { errorText } from '../../kernel/errors.ts';
import { basicCredentials } from '../proofs.ts';
import { foundAmong, MOST_QUEUED_MS, wholeSeconds } from '../dialling.ts';
import { CarrierControlError, DialUnknownError } from '../errors.ts';
import { CarrierRest, joinOneByOne, type RestRequest } from '../rest.ts';
import type { CallControl, Dialling, DialOrder } from '../port.ts';
import { conferenceAnswer, dialAnswer, digitsAnswer, streamAnswer } from './answer.ts';
import { dialProgress } from './webhook.ts';

export interface TwilioControlSettings {
  readonly apiUrl: string;
  readonly accountSid: string;
  readonly authToken: Secret;
  /** Path before the accounts; Twilio's when absent. */
  readonly basePath?: string;
  /** Address of the voice webhook, for calls that come back. */
  readonly voiceUrl: () => string;
  /** Fields of a request with a document: the document itself at Twilio. */
  readonly documentFields?: DocumentFields;
  /** The same for a dial's document. */
  readonly dialFields?: DialFields;
}

/** @param kind of the document, and `value`, its input; `document` is the document itself */
export type DocumentFields = (kind: 'dial' | 'conference', value: string, document: string) => Record<string, string>;
export type DialFields = (order: DialOrder) => [string, string][];

const inline: DocumentFields = (_kind, _value, document) => ({ Twiml: document });
const inlineStream: DialFields = ({ streamUrl: url, callId }) => [['Twiml', streamAnswer({ url, parameters: { callId } })]];

const problem = z.object({ code: z.number().optional(), message: z.string().optional() }).catch({});

/**
 * Acts on calls over the carrier's REST interface: `POST /2010-04-01/Accounts/{sid}/Calls/{call}.json` with `Status` or `Twiml` (the carrier's page
 * "Call resource", "Update a Call"). A new answer document ends the media stream of the old one.
 */
export class TwilioControl implements CallControl {
  readonly dialling: Dialling;
  readonly #voiceUrl: () => string;
  readonly #documentFields: DocumentFields;
  readonly #rest: CarrierRest;

  constructor(settings: TwilioControlSettings, clock: Clock) {
    const { apiUrl, accountSid, authToken, basePath = '/2010-04-01/Accounts' } = settings;
    const base = new URL(`${basePath}/${accountSid}`, apiUrl).href;
    const headers = () => ({ authorization: basicCredentials(accountSid, authToken.reveal()) });
    this.#rest = new CarrierRest({ base, headers, problem: (body) => problem.parse(body) }, clock);
    this.#documentFields = settings.documentFields ?? inline;
    this.#voiceUrl = settings.voiceUrl;
    this.dialling = twilioDialling(this.#rest, settings.dialFields ?? inlineStream);
  }

  async check(signal: AbortSignal): Promise<{ carrierWallMs: number }> {
    const { atWallMs } = await this.#rest.repeat({ method: 'GET', path: '/Calls.json?PageSize=1' }, signal);
    return { carrierWallMs: atWallMs };
  }

  async hangUp(carrierCallId: string, signal: AbortSignal): Promise<void> {
    await this.#rest.end(update(carrierCallId, { Status: 'completed' }), signal);
  }

  async transfer(carrierCallId: string, to: string, signal: AbortSignal): Promise<void> {
    await this.#rest.repeat(update(carrierCallId, this.#documentFields('dial', to, dialAnswer(to))), signal);
  }

  async sendDigits(carrierCallId: string, digits: string, signal: AbortSignal): Promise<void> {
    await this.#rest.once(update(carrierCallId, { Twiml: digitsAnswer(digits, this.#voiceUrl()) }), signal);
  }

  /** Both calls join one conference. */
  async join(carrierCallId: string, otherCarrierCallId: string, signal: AbortSignal): Promise<void> {
    const room = `offhook-${carrierCallId}`;
    const fields = this.#documentFields('conference', room, conferenceAnswer(room));
    const move = (id: string) => this.#rest.repeat(update(id, fields), signal);
    await joinOneByOne(this, [carrierCallId, otherCarrierCallId], move, signal);
  }

  /** A fork of the live call: the Stream resource below it (twilio.com/docs/voice/api/stream-resource). */
  async fork(carrierCallId: string, streamUrl: string, signal: AbortSignal): Promise<void> {
    const path = callPath(carrierCallId).replace(/\.json$/u, '/Streams.json');
    await this.#rest.once(post(path, { Url: streamUrl, Track: 'both_tracks' }), signal);
  }
}

/** Address of a call below its account. */
function callPath(carrierCallId: string): string {
  return `/Calls/${encodeURIComponent(carrierCallId)}.json`;
}

function post(path: string, fields: Record<string, string> | [string, string][]): RestRequest {
  return { method: 'POST', path, body: new URLSearchParams(fields) };
}

function update(carrierCallId: string, fields: Record<string, string>): RestRequest {
  return post(callPath(carrierCallId), fields);
}

/** The carrier's limits on ringing and calls. */
const MOST_RINGING_S = 600;
const MOST_CALL_S = 86_400;
/** Far more calls than a pair of numbers has within the searched minute. */
const LISTED_CALLS = 50;

/** Reported events; by default only the end is. */
const EVENTS = ['initiated', 'ringing', 'answered', 'completed'];

const created = z.object({
  sid: z.string().min(1).max(128),
  /** Ms the order waits in the queue, as text. */
  queue_time: z.coerce.number().catch(0),
});
const call = z.object({
  sid: z.string(),
  status: z.string(),
  direction: z.string().catch(''),
  /** RFC 2822. */
  date_created: z.string().catch(''),
});
const callList = z.object({ calls: z.array(call) });

/**
 * Places calls over the carrier's Call resource: `POST /2010-04-01/Accounts/{sid}/Calls.json` with the answer document in the order, so that an
 * answered call opens its stream without another webhook.
 */
function twilioDialling(rest: CarrierRest, documentFields: DialFields): Dialling {
  return {
    capabilities: { callsPerSecond: 1, detectsMachines: true, canFind: true },
    /** An order beyond the account's rate is queued. One that would wait longer than its stream token is valid is cancelled, and counts as refused. */
    async dial(order, signal) {
      const request = post('/Calls.json', orderFields(order, documentFields(order)));
      const { sid, queue_time: queuedMs } = await rest.dial(request, created, signal);
      if (queuedMs <= MOST_QUEUED_MS) return { carrierCallId: sid };
      const waits = `the carrier would place the call only in ${Math.round(queuedMs / 1000)} s`;
      const facts = { carrierCode: 'queued', queuedMs };
      try {
        await rest.end(update(sid, { Status: 'completed' }), signal);
      } catch (cause) {
        throw new DialUnknownError(`${waits}, and taking it back failed: ${errorText(cause)}`, { cause, facts });
      }
      throw new CarrierControlError(`${waits}: it was taken back`, { retryable: true, surelyNotDone: true, facts });
    },
    /**
     * The carrier stores none of our ids, so a call is found by its two numbers, direction and creation time (`foundAmong`). The list is not filtered
     * by start time, which a call lacks before it is dialled.
     */
    async find({ from, to }, askedAtMs, signal) {
      const query = new URLSearchParams({ From: from, To: to, PageSize: String(LISTED_CALLS) });
      const list = await rest.read(`/Calls.json?${query.toString()}`, callList, signal);
      if (list === undefined) return { found: 'unknown' };
      const candidates = list.value.calls
        .filter(({ direction }) => direction === 'outbound-api')
        .map(({ sid, status, date_created: date }) => ({
          carrierCallId: sid,
          createdAtMs: Date.parse(date),
          progress: dialProgress(status) ?? { state: 'queued' as const },
        }));
      return foundAmong(candidates, askedAtMs, { ours: rest.clock.wallMs(), carriers: list.atWallMs });
    },
    async progressOf(carrierCallId, signal) {
      const found = await rest.read(callPath(carrierCallId), call, signal);
      return found && dialProgress(found.value.status);
    },
  };
}

function orderFields(order: DialOrder, document: [string, string][]): [string, string][] {
  const { statusUrl } = order;
  return [
    ['To', order.to],
    ['From', order.from],
    ...document,
    ['Timeout', String(Math.min(MOST_RINGING_S, wholeSeconds(order.ringTimeoutMs)))],
    ['TimeLimit', String(Math.min(MOST_CALL_S, wholeSeconds(order.maxDurationMs)))],
    ['StatusCallback', statusUrl],
    ['StatusCallbackMethod', 'POST'],
    ...EVENTS.map((event): [string, string] => ['StatusCallbackEvent', event]),
    ...(order.detectMachine ? detectionFields(statusUrl) : []),
  ];
}

/** The document is obeyed at once; who answered is reported later. */
function detectionFields(statusUrl: string): [string, string][] {
  return [
    ['MachineDetection', 'Enable'],
    ['AsyncAmd', 'true'],
    ['AsyncAmdStatusCallback', statusUrl],
    ['AsyncAmdStatusCallbackMethod', 'POST'],
  ];
}
