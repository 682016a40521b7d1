import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import { parseJson } from '../../kernel/json.ts';
import { SimulatedBandwidthCall } from './carrier.ts';
import type { CarrierSide, Detection, DialledNews, DialledState, OnDial, SimulatedOrder } from '../caller/callee.ts';
import type { CallerLine } from '../caller/caller.ts';
import { bodyOf, DialledCalls, type PlacedCall, type RestReply, SimulatedRest } from '../dialling-carrier.ts';
import type { PlaceOptions, SimulatedCarrier, SimulatedCarrierCall } from '../simulated-carrier.ts';

/* Bandwidth's Voice API for simulated calls, the tokens of its account, and the account. */

export interface BandwidthApiOptions {
  readonly clock?: Clock;
  /** Who is at the other end of each call that is ordered; nobody can be called when absent. */
  readonly onDial?: OnDial;
  /** How long the list of calls lags behind. */
  readonly listLagMs?: number;
}

export const ACCOUNT = {
  accountId: '55555555',
  applicationId: randomUUID(),
  clientId: 'id-1',
  clientSecret: 'the-secret-of-the-credential',
};
const TOKEN_SECONDS = 3_600;
const PATH = /^\/api\/v2\/accounts\/(?<account>[^/]+)\/calls(?:\/(?<call>[^/]+)(?<bxml>\/bxml)?)?$/u;
const number = z.string().regex(/^\+[1-9]\d{6,14}$/u);
const post = z.literal('POST');
const proof = { username: z.string(), password: z.string() };
const orderBody = z.object({
  from: number,
  to: number,
  applicationId: z.string(),
  answerUrl: z.url(),
  answerMethod: post,
  disconnectUrl: z.url(),
  disconnectMethod: post,
  ...proof,
  callTimeout: z.number().min(1).max(300),
  machineDetection: z.object({ mode: z.literal('async'), callbackUrl: z.url(), callbackMethod: post, ...proof }).optional(),
});
const stateBody = z.object({ state: z.literal('completed') });

const CAUSES: Partial<Record<DialledState, string>> = {
  completed: 'hangup',
  busy: 'busy',
  'no-answer': 'timeout',
  rejected: 'rejected',
  failed: 'error',
  cancelled: 'cancel',
};
const DETECTED: Partial<Record<Detection, string>> = {
  person: 'human',
  machine: 'answering-machine',
  'machine-done': 'tone-detected',
};

class BandwidthDialled implements CarrierSide {
  readonly call: SimulatedBandwidthCall;
  readonly ended: Promise<unknown>;
  /** Why it ended. */
  cause: string | undefined;
  readonly #order: z.output<typeof orderBody>;
  readonly #stream = { light: true };

  constructor(body: z.output<typeof orderBody>, { from, to, carrierCallId: callId }: SimulatedOrder, clock: Clock) {
    this.#order = body;
    const about = { user: body.username, password: body.password, clock, from, to, callId, direction: 'outbound' } as const;
    // The phone reports the end, with whatever came before it.
    const told = { url: new URL(body.answerUrl).origin, stream: this.#stream, tellEnd: () => Promise.resolve() };
    this.call = new SimulatedBandwidthCall({ ...about, ...told });
    this.ended = this.call.ended;
  }

  /** Neither the queue nor ringing is reported, and an answer is the fetch of the document. */
  async report(news: DialledNews): Promise<void> {
    const { disconnectUrl, machineDetection } = this.#order;
    if ('detected' in news) {
      const result = DETECTED[news.detected] ?? 'timeout';
      if (machineDetection !== undefined)
        await this.call.post(machineDetection.callbackUrl, {
          eventType: 'machineDetectionComplete',
          machineDetectionResult: result,
        });
      return;
    }
    if (['queued', 'ringing', 'answered'].includes(news.state)) return;
    this.cause = news.state === 'failed' && news.sip === 480 ? 'timeout' : CAUSES[news.state];
    await this.call.post(disconnectUrl, { eventType: 'disconnect', cause: this.cause });
  }

  open(fullMedia: boolean): Promise<CallerLine> {
    this.#stream.light = !fullMedia;
    return this.call.fetch(this.#order.answerUrl, { eventType: 'answer' });
  }

  hangUp(): Promise<void> {
    return this.call.hangUp();
  }
}

export class SimulatedBandwidthApi implements AsyncDisposable {
  readonly dialled: DialledCalls<BandwidthDialled>;
  readonly #clock: Clock;
  readonly #calls = new Map<string, SimulatedBandwidthCall>();
  /** Tokens that were given out, with their ends. */
  readonly #tokens = new Map<string, number>();
  #rest: SimulatedRest | undefined;

  private constructor(options: BandwidthApiOptions) {
    this.#clock = options.clock ?? systemClock;
    const nobody: OnDial = () => ({
      order: { kind: 'refused', status: 400, message: 'Nobody can be called here' },
      outcome: { kind: 'no-answer' },
    });
    this.dialled = new DialledCalls({ onDial: nobody, ...options, clock: this.#clock });
  }

  /** Listens on a free loopback port. */
  static async start(options: BandwidthApiOptions = {}): Promise<SimulatedBandwidthApi> {
    const api = new SimulatedBandwidthApi(options);
    api.#rest = await SimulatedRest.start(
      () => api.#clock.wallMs(),
      (request, reply, response) => api.#serve(request, reply, () => response.destroy()),
    );
    return api;
  }

  get url(): string {
    return this.#rest?.url ?? '';
  }

  get tokenUrl(): string {
    return `${this.url}/api/v1/oauth2/token`;
  }

  /** How many tokens were given out. */
  get tokensGiven(): number {
    return this.#tokens.size;
  }

  /** Makes a call that came in known to the interface. */
  register(call: SimulatedBandwidthCall): void {
    this.#calls.set(call.callId, call);
  }

  async #serve(request: IncomingMessage, reply: RestReply, drop: () => void): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://carrier');
    if (url.pathname === '/api/v1/oauth2/token') return this.#give(request, reply);
    const token = /^Bearer (\S+)$/u.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if ((this.#tokens.get(token) ?? 0) <= this.#clock.nowMs())
      return reply(401, { type: 'authentication', description: 'Access denied' });
    const { account, call, bxml } = PATH.exec(url.pathname)?.groups ?? {};
    if (account !== ACCOUNT.accountId) return notFound(reply);
    const { method } = request;
    if (method === 'GET') return call === undefined ? this.#list(url.searchParams, reply) : this.#read(call, reply);
    const body = await bodyOf(request);
    if (method === 'POST' && call === undefined) return this.#order(parseJson(body), reply, drop);
    if (method === 'POST' && call !== undefined && bxml === undefined) return this.#complete(call, parseJson(body), reply);
    if (method === 'PUT' && call !== undefined && bxml !== undefined) return this.#update(call, body, reply);
    return notFound(reply);
  }

  async #give(request: IncomingMessage, reply: RestReply): Promise<void> {
    const { clientId, clientSecret } = ACCOUNT;
    const isProven = request.headers.authorization === `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
    const fields = new URLSearchParams(await bodyOf(request));
    if (!isProven || fields.get('grant_type') !== 'client_credentials') return reply(401, { error: 'invalid_client' });
    const token = randomUUID();
    this.#tokens.set(token, this.#clock.nowMs() + TOKEN_SECONDS * 1000);
    return reply(200, { access_token: token, token_type: 'Bearer', expires_in: TOKEN_SECONDS });
  }

  async #order(body: unknown, reply: RestReply, drop: () => void): Promise<void> {
    const parsed = orderBody.safeParse(body);
    if (!parsed.success) return reply(400, { type: 'validation', description: z.prettifyError(parsed.error) });
    const { from, to, disconnectUrl: statusUrl, callTimeout, machineDetection } = parsed.data;
    const asked: Omit<SimulatedOrder, 'index'> = {
      from,
      to,
      carrierCallId: `c-${randomUUID()}`,
      statusUrl,
      ringTimeoutMs: callTimeout * 1000,
      maxDurationMs: 86_400_000,
      detectMachine: machineDetection !== undefined,
    };
    const ordered = await this.dialled.order(asked, (order) => new BandwidthDialled(parsed.data, order, this.#clock));
    switch (ordered.kind) {
      case 'lost':
        return drop();
      case 'refused':
        return reply(ordered.status, { type: ordered.code, description: ordered.message });
      case 'placed':
        return reply(201, { ...this.#state(ordered.call), callUrl: 'https://voice.bandwidth.com/…' });
    }
  }

  #list(query: URLSearchParams, reply: RestReply): void {
    const least = Date.parse(query.get('minStartTime') ?? '1970-01-01T00:00:00Z');
    const calls = this.dialled
      .list()
      .filter(
        ({ phone: { order, createdAtMs } }) =>
          order.to === query.get('to') && order.from === query.get('from') && createdAtMs >= least,
      )
      .slice(0, Number(query.get('pageSize') ?? 1000));
    const states = calls.map((call) => this.#state(call));
    reply(200, states);
  }

  #read(id: string, reply: RestReply): void {
    const call = this.dialled.find(id);
    if (call === undefined) notFound(reply);
    else reply(200, this.#state(call));
  }

  #state({ phone, side }: PlacedCall<BandwidthDialled>): object {
    const { order, state, createdAtMs, answeredAtMs } = phone;
    const standing = phone.isOver
      ? 'disconnected'
      : state === 'answered'
        ? 'answered'
        : state === 'ringing'
          ? 'initiated'
          : 'queued';
    return {
      accountId: ACCOUNT.accountId,
      callId: order.carrierCallId,
      from: order.from,
      to: order.to,
      direction: 'outbound',
      state: standing,
      enqueuedTime: new Date(createdAtMs).toISOString(),
      ...(answeredAtMs === undefined ? {} : { answerTime: new Date(answeredAtMs).toISOString() }),
      ...(phone.isOver ? { disconnectCause: side.cause ?? CAUSES[state] } : {}),
    };
  }

  #complete(id: string, body: unknown, reply: RestReply): void {
    const dialled = this.dialled.find(id);
    const call = dialled?.side.call ?? this.#calls.get(id);
    if (call === undefined || dialled?.phone.isOver === true) return notFound(reply);
    if (!stateBody.safeParse(body).success) return reply(400, { type: 'validation', description: 'no state' });
    if (dialled === undefined) void call.hangUp();
    else dialled.phone.cancel();
    return reply(200);
  }

  #update(id: string, document: string, reply: RestReply): void {
    const dialled = this.dialled.find(id);
    const call = dialled?.side.call ?? this.#calls.get(id);
    if (call === undefined || dialled?.phone.isOver === true) return notFound(reply);
    try {
      call.update(document);
    } catch (error) {
      return reply(400, { type: 'invalid-bxml', description: error instanceof Error ? error.message : 'invalid' });
    }
    return reply(204);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dialled.close();
    await this.#rest?.[Symbol.asyncDispose]();
  }
}

function notFound(reply: RestReply): void {
  reply(404, { type: 'not-found', description: 'There is no such call' });
}

const USER = 'offhook';
const PASSWORD = 'of-the-simulated-account';

async function dial(
  { carrierCallId: callId, ...options }: PlaceOptions,
  user: string,
  password: string,
): Promise<SimulatedBandwidthCall> {
  const call = new SimulatedBandwidthCall({ ...options, callId, user, password });
  await call.connect();
  return call;
}

export const simulatedBandwidth: SimulatedCarrier = {
  name: 'bandwidth',
  async open(options) {
    const api = await SimulatedBandwidthApi.start(options);
    return {
      env: {
        OFFHOOK_BANDWIDTH_ACCOUNT_ID: ACCOUNT.accountId,
        OFFHOOK_BANDWIDTH_APPLICATION_ID: ACCOUNT.applicationId,
        OFFHOOK_BANDWIDTH_CLIENT_ID: ACCOUNT.clientId,
        OFFHOOK_BANDWIDTH_CLIENT_SECRET: ACCOUNT.clientSecret,
        OFFHOOK_BANDWIDTH_WEBHOOK_PASSWORD: PASSWORD,
        OFFHOOK_BANDWIDTH_API_URL: api.url,
        OFFHOOK_BANDWIDTH_TOKEN_URL: api.tokenUrl,
      },
      async place(call) {
        const placed = await dial(call, USER, PASSWORD);
        api.register(placed);
        return asCall(placed);
      },
      [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
    };
  },
  async place(options) {
    const { webhookUser } = options.settings;
    return asCall(await dial(options, typeof webhookUser === 'string' ? webhookUser : USER, options.proof));
  },
};

function asCall(call: SimulatedBandwidthCall): SimulatedCarrierCall {
  return {
    carrierCallId: call.callId,
    get line() {
      return call.stream;
    },
    said: call.said,
    digits: call.digits,
    get dialled() {
      return call.dialled;
    },
    ended: call.ended,
    hangUp: () => call.hangUp(),
  };
}
