import { createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { jwtVerify } from 'jose';
import { z } from 'zod';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import { parseJson } from '../../kernel/json.ts';
import type { OnDial, SimulatedOrder } from '../caller/callee.ts';
import { bodyOf, DialledCalls, type PlacedCall, type RestReply, SimulatedRest } from '../dialling-carrier.ts';
import type { SimulatedVonageCall } from './carrier.ts';
import { STATUSES, VonageDialled } from './dialled.ts';

export interface VonageApiOptions {
  readonly clock?: Clock;
  /** Signs the events of calls that are ordered. */
  readonly signatureSecret?: string;
  /** Who is at the other end of each call that is ordered; nobody can be called when absent. */
  readonly onDial?: OnDial;
  /** How long the list of calls lags behind. */
  readonly listLagMs?: number;
}

/** Of all simulated applications of this process: making one takes half a second. */
let applicationKey: KeyObject | undefined;

const PATH = /^\/v1\/calls(?:\/(?<call>[^/]+)(?<dtmf>\/dtmf)?)?$/u;
const phone = z.object({ type: z.literal('phone'), number: z.string().regex(/^[1-9]\d{6,14}$/u) });
const action = z.looseObject({ action: z.string() });
const orderBody = z.object({
  to: z.tuple([phone]),
  from: phone,
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
export class SimulatedVonageApi implements AsyncDisposable {
  /** Of the application, in PEM: what a gateway is configured with. */
  readonly privateKey: string;
  readonly applicationId: string;
  readonly dialled: DialledCalls<VonageDialled>;
  readonly #publicKey: KeyObject;
  readonly #clock: Clock;
  readonly #signatureSecret: string;
  readonly #calls = new Map<string, SimulatedVonageCall>();
  #rest: SimulatedRest | undefined;

  private constructor(applicationId: string, options: VonageApiOptions) {
    applicationKey ??= generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    this.applicationId = applicationId;
    this.privateKey = applicationKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    this.#publicKey = createPublicKey(applicationKey);
    this.#clock = options.clock ?? systemClock;
    this.#signatureSecret = options.signatureSecret ?? '';
    const nobody: OnDial = () => ({
      order: { kind: 'refused', status: 403, code: 'Forbidden', message: 'Nobody can be called here' },
      outcome: { kind: 'no-answer' },
    });
    this.dialled = new DialledCalls({ onDial: nobody, ...options, clock: this.#clock });
  }

  /** Listens on a free loopback port. */
  static async start(applicationId: string, options: VonageApiOptions = {}): Promise<SimulatedVonageApi> {
    const api = new SimulatedVonageApi(applicationId, options);
    api.#rest = await SimulatedRest.start(
      () => api.#clock.wallMs(),
      (request, reply, response) => api.#serve(request, reply, () => response.destroy()),
    );
    return api;
  }

  get url(): string {
    return this.#rest?.url ?? '';
  }

  /** Makes a call that came in known to the interface. */
  register(call: SimulatedVonageCall): void {
    this.#calls.set(call.uuid, call);
  }

  async #serve(request: IncomingMessage, reply: RestReply, drop: () => void): Promise<void> {
    const token = /^Bearer (\S+)$/u.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const currentDate = new Date(this.#clock.wallMs());
    const claims = await jwtVerify(token, this.#publicKey, { algorithms: ['RS256'], currentDate }).catch(() => undefined);
    if (claims?.payload['application_id'] !== this.applicationId) return reply(401, { title: 'Unauthorized' });
    const url = new URL(request.url ?? '/', 'http://carrier');
    const found = PATH.exec(url.pathname);
    if (found === null) return notFound(reply);
    const { call, dtmf } = found.groups ?? {};
    const { method } = request;
    if (method === 'GET') return call === undefined ? this.#list(url.searchParams, reply) : this.#read(call, reply);
    const body = parseJson(await bodyOf(request));
    if (method === 'POST' && call === undefined) return this.#order(body, reply, drop);
    if (method === 'PUT' && call !== undefined) return this.#update(call, dtmf !== undefined, body, reply);
    return notFound(reply);
  }

  async #order(body: unknown, reply: RestReply, drop: () => void): Promise<void> {
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
    const ordered = await this.dialled.order(asked, (order) => {
      const about = { clock: this.#clock, applicationId: this.applicationId, signatureSecret: this.#signatureSecret };
      return new VonageDialled({ ...about, order, ncco });
    });
    switch (ordered.kind) {
      case 'lost':
        return drop();
      case 'refused':
        return reply(ordered.status, { type: ordered.code, title: ordered.message });
      case 'placed': {
        const { carrierCallId: uuid } = ordered.call.phone.order;
        const conversation = ordered.call.side.call.conversationUuid;
        return reply(201, { uuid, status: 'started', direction: 'outbound', conversation_uuid: conversation });
      }
    }
  }

  #list(query: URLSearchParams, reply: RestReply): void {
    const from = Number(query.get('record_index') ?? 0);
    const size = Number(query.get('page_size') ?? 10);
    const newestFirst = this.dialled.list();
    const all = query.get('order') === 'desc' ? newestFirst : newestFirst.toReversed();
    const calls = all.slice(from, from + size).map((call) => this.#resource(call));
    reply(200, { count: all.length, page_size: size, record_index: from, _embedded: { calls } });
  }

  #read(uuid: string, reply: RestReply): void {
    const call = this.dialled.find(uuid);
    if (call === undefined) notFound(reply);
    else reply(200, this.#resource(call));
  }

  #update(uuid: string, isDtmf: boolean, body: unknown, reply: RestReply): void {
    const dialled = this.dialled.find(uuid);
    const call = dialled?.side.call ?? this.#calls.get(uuid);
    if (call === undefined || dialled?.phone.isOver === true) return notFound(reply);
    const { action: what, digits, destination } = updateBody.catch({}).parse(body);
    if (isDtmf) {
      call.digits.push(digits ?? '');
      return reply(200);
    }
    const ncco = destination?.ncco ?? [];
    const isWrong = ncco.some((each) => each.action === 'conversation' && !conversation.safeParse(each).success);
    if (what === 'transfer' && ncco.length > 0 && !isWrong) void call.transfer(ncco);
    else if (what !== 'hangup') return reply(400, { title: 'Bad Request' });
    else if (dialled === undefined) void call.hangUp();
    else dialled.phone.cancel();
    return reply(204);
  }

  #resource({ phone: { order, state, answeredAtMs } }: PlacedCall<VonageDialled>): object {
    return {
      uuid: order.carrierCallId,
      status: STATUSES[state],
      direction: 'outbound',
      from: { type: 'phone', number: order.from.slice(1) },
      to: { type: 'phone', number: order.to.slice(1) },
      ...(answeredAtMs === undefined ? {} : { start_time: new Date(answeredAtMs).toISOString() }),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dialled.close();
    await this.#rest?.[Symbol.asyncDispose]();
  }
}

function notFound(reply: RestReply): void {
  reply(404, { title: 'Not Found' });
}
