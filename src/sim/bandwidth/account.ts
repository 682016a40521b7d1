import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { errorText } from '../../kernel/errors.ts';
import { parseJson } from '../../kernel/json.ts';
import { SimulatedBandwidthCall } from './carrier.ts';
import type { Detection, DialledNews, DialledState, SimulatedOrder } from '../caller/callee.ts';
import type { CallerLine } from '../caller/caller.ts';
import {
  type ApiOptions,
  basicOf,
  bodyOf,
  DialledSide,
  type PlacedCall,
  type Refusal,
  type RestReply,
  SimulatedApi,
} from '../dialling-carrier.ts';
import type { PlaceOptions, SimulatedCarrier } from '../simulated-carrier.ts';

/* Bandwidth's Voice API for simulated calls, the tokens of its account, and the account. */

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

class BandwidthDialled extends DialledSide<SimulatedBandwidthCall> {
  /** Why it ended. */
  cause: string | undefined;
  readonly #order: z.output<typeof orderBody>;

  constructor(body: z.output<typeof orderBody>, { from, to, carrierCallId }: SimulatedOrder, clock: Clock) {
    const { username: user, password, answerUrl } = body;
    const about = { url: new URL(answerUrl).origin, user, password, clock, from, to, carrierCallId };
    super((more) => new SimulatedBandwidthCall({ ...about, direction: 'outbound', ...more }));
    this.#order = body;
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

  protected override answer(): Promise<CallerLine> {
    return this.call.fetch(this.#order.answerUrl, { eventType: 'answer' });
  }
}

export class SimulatedBandwidthApi extends SimulatedApi<BandwidthDialled, SimulatedBandwidthCall> {
  /** Tokens that were given out, with their ends. */
  readonly #tokens = new Map<string, number>();

  constructor(options: ApiOptions = {}) {
    super(options, { status: 400 });
  }

  get tokenUrl(): string {
    return `${this.url}/api/v1/oauth2/token`;
  }

  /** How many tokens were given out. */
  get tokensGiven(): number {
    return this.#tokens.size;
  }

  protected override async serve(request: IncomingMessage, reply: RestReply, drop: () => void): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://carrier');
    if (url.pathname === '/api/v1/oauth2/token') return this.#give(request, reply);
    const token = /^Bearer (\S+)$/u.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if ((this.#tokens.get(token) ?? 0) <= this.clock.nowMs())
      return this.refuse(reply, { status: 401, code: 'authentication', message: 'Access denied' });
    const { account, call, bxml } = PATH.exec(url.pathname)?.groups ?? {};
    if (account !== ACCOUNT.accountId) return this.notFound(reply);
    const { method } = request;
    if (method === 'GET') return call === undefined ? this.#list(url.searchParams, reply) : this.read(call, reply);
    const body = await bodyOf(request);
    if (method === 'POST' && call === undefined) return this.#ordered(parseJson(body), reply, drop);
    if (method === 'POST' && call !== undefined && bxml === undefined) return this.#complete(call, parseJson(body), reply);
    if (method === 'PUT' && call !== undefined && bxml !== undefined) return this.#update(call, body, reply);
    return this.notFound(reply);
  }

  async #give(request: IncomingMessage, reply: RestReply): Promise<void> {
    const { clientId, clientSecret } = ACCOUNT;
    const isProven = request.headers.authorization === basicOf(clientId, clientSecret);
    const fields = new URLSearchParams(await bodyOf(request));
    if (!isProven || fields.get('grant_type') !== 'client_credentials') return reply(401, { error: 'invalid_client' });
    const token = randomUUID();
    this.#tokens.set(token, this.clock.nowMs() + TOKEN_SECONDS * 1000);
    return reply(200, { access_token: token, token_type: 'Bearer', expires_in: TOKEN_SECONDS });
  }

  async #ordered(body: unknown, reply: RestReply, drop: () => void): Promise<void> {
    const parsed = orderBody.safeParse(body);
    if (!parsed.success) return this.refuse(reply, { status: 400, code: 'validation', message: z.prettifyError(parsed.error) });
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
    const sideOf = (order: SimulatedOrder) => new BandwidthDialled(parsed.data, order, this.clock);
    return this.order(asked, sideOf, { reply, drop }, (call) => [
      201,
      { ...this.resource(call), callUrl: 'https://voice.bandwidth.com/…' },
    ]);
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
    reply(
      200,
      calls.map((call) => this.resource(call)),
    );
  }

  protected override refuse(reply: RestReply, { status, code = 'not-found', message }: Refusal): void {
    reply(status, { type: code, description: message });
  }

  protected override resource({ phone, side }: PlacedCall<BandwidthDialled>): object {
    const { order, state, createdAtMs, answeredAtMs } = phone;
    const standing = phone.isOver ? 'disconnected' : state === 'ringing' ? 'initiated' : state;
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
    const { call, phone } = this.live(id) ?? {};
    if (call === undefined) return this.notFound(reply);
    if (!stateBody.safeParse(body).success) return this.refuse(reply, { status: 400, code: 'validation', message: 'no state' });
    if (phone === undefined) void call.hangUp();
    else phone.cancel();
    return reply(200);
  }

  #update(id: string, document: string, reply: RestReply): void {
    const call = this.live(id)?.call;
    if (call === undefined) return this.notFound(reply);
    try {
      call.update(document);
    } catch (error) {
      return this.refuse(reply, { status: 400, code: 'invalid-bxml', message: errorText(error) });
    }
    return reply(204);
  }
}

const USER = 'offhook';
const PASSWORD = 'of-the-simulated-account';

async function dial(options: PlaceOptions, user: string, password: string): Promise<SimulatedBandwidthCall> {
  const call = new SimulatedBandwidthCall({ ...options, user, password });
  await call.connect();
  return call;
}

export const simulatedBandwidth: SimulatedCarrier = {
  name: 'bandwidth',
  async open(options) {
    const api = await new SimulatedBandwidthApi(options).listen();
    const env = {
      OFFHOOK_BANDWIDTH_ACCOUNT_ID: ACCOUNT.accountId,
      OFFHOOK_BANDWIDTH_APPLICATION_ID: ACCOUNT.applicationId,
      OFFHOOK_BANDWIDTH_CLIENT_ID: ACCOUNT.clientId,
      OFFHOOK_BANDWIDTH_CLIENT_SECRET: ACCOUNT.clientSecret,
      OFFHOOK_BANDWIDTH_WEBHOOK_PASSWORD: PASSWORD,
      OFFHOOK_BANDWIDTH_API_URL: api.url,
      OFFHOOK_BANDWIDTH_TOKEN_URL: api.tokenUrl,
    };
    return api.account(env, (call) => dial(call, USER, PASSWORD));
  },
  place({ settings: { webhookUser }, proof, ...call }) {
    return dial(call, typeof webhookUser === 'string' ? webhookUser : USER, proof);
  },
};
