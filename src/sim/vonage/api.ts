import { createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { jwtVerify } from 'jose';
import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { parseJson } from '../../kernel/json.ts';
import type { Detection, DialledNews, DialledState, SimulatedOrder } from '../caller/callee.ts';
import type { CallerLine } from '../caller/caller.ts';
import {
  type ApiOptions,
  bodyOf,
  DialledSide,
  type PlacedCall,
  type Refusal,
  type RestReply,
  SimulatedApi,
} from '../dialling-carrier.ts';
import type { SimulatedCarrier } from '../simulated-carrier.ts';
import { dialVonage, type NccoAction, SimulatedVonageCall } from './carrier.ts';

export interface VonageApiOptions extends ApiOptions {
  /** Signs the events of calls that are ordered. */
  readonly signatureSecret?: string;
}

/** Of all simulated applications of this process: making one takes half a second. */
let applicationKey: KeyObject | undefined;

const PATH = /^\/v1\/calls(?:\/(?<call>[^/]+)(?<dtmf>\/dtmf)?)?$/u;
const phoneBody = z.object({ type: z.literal('phone'), number: z.string().regex(/^[1-9]\d{6,14}$/u) });
const action = z.looseObject({ action: z.string() });
const orderBody = z.object({
  to: z.tuple([phoneBody]),
  from: phoneBody,
  ncco: z.array(action).min(1),
  event_url: z.tuple([z.url()]),
  event_method: z.literal('POST'),
  ringing_timer: z.int().min(1).max(120).default(60),
  length_timer: z.int().min(1).max(7200).default(7200),
  advanced_machine_detection: z.object({ behavior: z.literal('continue'), mode: z.literal('default') }).optional(),
});
/** The fields that the reference of NCCOs names, but for music and recordings. */
const conversation = z.strictObject({
  action: z.literal('conversation'),
  name: z.string().min(1),
  startOnEnter: z.boolean().optional(),
  endOnExit: z.boolean().optional(),
});
const updateBody = z.object({
  action: z.string().optional(),
  digits: z.string().optional(),
  destination: z.object({ type: z.literal('ncco'), ncco: z.array(action).min(1) }).optional(),
});

/**
 * Vonage's `/v1/calls` for simulated calls: orders (`POST`), the list and single calls (`GET`), updates of a live call (`PUT`) and
 * keys (`/dtmf`). Whoever is called acts as `onDial` says.
 */
export class SimulatedVonageApi extends SimulatedApi<VonageDialled, SimulatedVonageCall> {
  /** Of the application, in PEM: what a gateway is configured with. */
  readonly privateKey: string;
  readonly applicationId: string;
  readonly #publicKey: KeyObject;
  readonly #signatureSecret: string;

  constructor(applicationId: string, options: VonageApiOptions = {}) {
    super(options, { status: 403, code: 'Forbidden' });
    applicationKey ??= generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    this.applicationId = applicationId;
    this.privateKey = applicationKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    this.#publicKey = createPublicKey(applicationKey);
    this.#signatureSecret = options.signatureSecret ?? '';
  }

  protected override async serve(request: IncomingMessage, reply: RestReply, drop: () => void): Promise<void> {
    const token = /^Bearer (\S+)$/u.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const currentDate = new Date(this.clock.wallMs());
    const claims = await jwtVerify(token, this.#publicKey, { algorithms: ['RS256'], currentDate }).catch(() => undefined);
    if (claims?.payload['application_id'] !== this.applicationId) return reply(401, { title: 'Unauthorized' });
    const url = new URL(request.url ?? '/', 'http://carrier');
    const found = PATH.exec(url.pathname);
    if (found === null) return this.notFound(reply);
    const { call, dtmf } = found.groups ?? {};
    const { method } = request;
    if (method === 'GET') return call === undefined ? this.#list(url.searchParams, reply) : this.read(call, reply);
    const body = parseJson(await bodyOf(request));
    if (method === 'POST' && call === undefined) return this.#ordered(body, reply, drop);
    if (method === 'PUT' && call !== undefined) return this.#update(call, dtmf !== undefined, body, reply);
    return this.notFound(reply);
  }

  async #ordered(body: unknown, reply: RestReply, drop: () => void): Promise<void> {
    const parsed = orderBody.safeParse(body);
    if (!parsed.success)
      return reply(400, { type: 'BAD_REQUEST', error_title: 'Bad Request', detail: z.prettifyError(parsed.error) });
    const { to, from, ncco, event_url: eventUrl, ringing_timer: rings, length_timer: lasts } = parsed.data;
    const asked: Omit<SimulatedOrder, 'index'> = {
      from: `+${from.number}`,
      to: `+${to[0].number}`,
      carrierCallId: randomUUID(),
      statusUrl: eventUrl[0],
      ringTimeoutMs: rings * 1000,
      maxDurationMs: lasts * 1000,
      detectMachine: parsed.data.advanced_machine_detection !== undefined,
    };
    const about = { clock: this.clock, applicationId: this.applicationId, signatureSecret: this.#signatureSecret, ncco };
    const sideOf = (order: SimulatedOrder) => new VonageDialled({ ...about, order });
    return this.order(asked, sideOf, { reply, drop }, ({ side: { call } }) => [
      201,
      { uuid: call.carrierCallId, status: 'started', direction: 'outbound', conversation_uuid: call.conversationUuid },
    ]);
  }

  #list(query: URLSearchParams, reply: RestReply): void {
    const from = Number(query.get('record_index') ?? 0);
    const size = Number(query.get('page_size') ?? 10);
    const newestFirst = this.dialled.list();
    const all = query.get('order') === 'desc' ? newestFirst : newestFirst.toReversed();
    const calls = all.slice(from, from + size).map((call) => this.resource(call));
    reply(200, { count: all.length, page_size: size, record_index: from, _embedded: { calls } });
  }

  #update(uuid: string, isDtmf: boolean, body: unknown, reply: RestReply): void {
    const { call, phone } = this.live(uuid) ?? {};
    if (call === undefined) return this.notFound(reply);
    const { action: what, digits, destination } = updateBody.catch({}).parse(body);
    if (isDtmf) {
      call.digits.push(digits ?? '');
      return reply(200);
    }
    const ncco = destination?.ncco ?? [];
    const isWrong = ncco.some((each) => each.action === 'conversation' && !conversation.safeParse(each).success);
    if (what === 'transfer' && ncco.length > 0 && !isWrong) void call.transfer(ncco);
    else if (what !== 'hangup') return reply(400, { title: 'Bad Request' });
    else if (phone === undefined) void call.hangUp();
    else phone.cancel();
    return reply(204);
  }

  protected override refuse(reply: RestReply, { status, code, message }: Refusal): void {
    reply(status, { type: code, title: message });
  }

  protected override resource({ phone: { order, state, answeredAtMs } }: PlacedCall<VonageDialled>): object {
    return {
      uuid: order.carrierCallId,
      status: STATUSES[state],
      direction: 'outbound',
      from: { type: 'phone', number: order.from.slice(1) },
      to: { type: 'phone', number: order.to.slice(1) },
      ...(answeredAtMs === undefined ? {} : { start_time: new Date(answeredAtMs).toISOString() }),
    };
  }
}

interface VonageDialledOptions {
  readonly clock: Clock;
  readonly applicationId: string;
  readonly signatureSecret: string;
  readonly order: SimulatedOrder;
  readonly ncco: readonly NccoAction[];
}

const STATUSES: Readonly<Record<DialledState, string>> = {
  queued: 'started',
  ringing: 'ringing',
  answered: 'answered',
  completed: 'completed',
  busy: 'busy',
  'no-answer': 'timeout',
  rejected: 'rejected',
  failed: 'failed',
  cancelled: 'cancelled',
};
const DETAILS: Partial<Record<DialledState, string>> = { rejected: 'declined', failed: 'cannot_route' };
const DETECTED: Partial<Record<Detection, { readonly status: string; readonly sub_state?: string }>> = {
  person: { status: 'human' },
  machine: { status: 'machine' },
  'machine-done': { status: 'machine', sub_state: 'beep_start' },
};

/** What Vonage does for a call that it dialled: signed events, the media socket of the NCCO, updates of the live call. */
class VonageDialled extends DialledSide<SimulatedVonageCall> {
  readonly #options: VonageDialledOptions;

  constructor(options: VonageDialledOptions) {
    const { clock, applicationId, signatureSecret, order } = options;
    const { carrierCallId, statusUrl } = order;
    const about = { url: new URL(statusUrl).origin, signatureSecret, applicationId, clock, carrierCallId };
    super((more) => new SimulatedVonageCall({ ...about, ...more }));
    this.#options = options;
  }

  async report(news: DialledNews): Promise<void> {
    const { clock, order } = this.#options;
    const leg = {
      from: order.from.slice(1),
      to: order.to.slice(1),
      conversation_uuid: this.call.conversationUuid,
      direction: 'outbound',
      timestamp: new Date(clock.wallMs()).toISOString(),
    };
    if ('detected' in news) {
      const detected = DETECTED[news.detected];
      // Events of detection name their call by another field.
      if (detected !== undefined) await this.call.post(order.statusUrl, { ...leg, call_uuid: order.carrierCallId, ...detected });
      return;
    }
    const detail = news.code ?? DETAILS[news.state];
    const body = { ...leg, uuid: order.carrierCallId, status: STATUSES[news.state], detail, sip_code: news.sip };
    await this.call.post(order.statusUrl, body);
  }

  protected override answer(): Promise<CallerLine> {
    return this.call.answer(this.#options.ncco);
  }
}

const APPLICATION = '8f8ac51e-5a0a-4a4e-9d0c-0f3c9f2b7a11';
const SIGNATURE_SECRET = 'of-the-simulated-account';

export const simulatedVonage: SimulatedCarrier = {
  name: 'vonage',
  async open(options) {
    const api = await new SimulatedVonageApi(APPLICATION, { ...options, signatureSecret: SIGNATURE_SECRET }).listen();
    const env = {
      OFFHOOK_VONAGE_APPLICATION_ID: APPLICATION,
      OFFHOOK_VONAGE_PRIVATE_KEY: api.privateKey,
      OFFHOOK_VONAGE_SIGNATURE_SECRET: SIGNATURE_SECRET,
      OFFHOOK_VONAGE_API_URL: api.url,
    };
    const own = { signatureSecret: SIGNATURE_SECRET, applicationId: APPLICATION };
    return api.account(env, (call) => dialVonage({ ...call, ...own }));
  },
  place({ settings: { applicationId }, proof: signatureSecret, ...call }) {
    return dialVonage({
      ...call,
      signatureSecret,
      applicationId: typeof applicationId === 'string' ? applicationId : APPLICATION,
    });
  },
};
