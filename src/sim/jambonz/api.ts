import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
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
import { ACCOUNT_SID, SimulatedJambonzCall } from './carrier.ts';
import type { PlaceOptions, SimulatedCarrier } from '../simulated-carrier.ts';

export interface JambonzApiOptions extends ApiOptions {
  /** Signs the webhooks of calls that are ordered. */
  readonly webhookSecret?: string;
}

const PATH = /^\/v1\/Accounts\/(?<account>[\w-]+)\/(?:(?<records>RecentCalls)|Calls(?:\/(?<call>[^/]+))?)$/u;
const hook = z.object({ url: z.url(), method: z.literal('POST') });
const orderBody = z.object({
  from: z.string().min(1),
  to: z.object({ type: z.literal('phone'), number: z.string().regex(/^\+[1-9]\d{6,14}$/u) }),
  call_hook: hook,
  call_status_hook: hook,
  timeout: z.int().min(1).default(60),
  timeLimit: z.int().min(1).default(43_200),
  amd: z.object({ actionHook: z.url() }).optional(),
  speech_synthesis_vendor: z.string().min(1),
  speech_synthesis_language: z.string().min(1),
  speech_synthesis_voice: z.string().min(1),
  speech_recognizer_vendor: z.string().min(1),
  speech_recognizer_language: z.string().min(1),
});
const updateBody = z
  .strictObject({
    call_status: z.enum(['completed', 'no-answer']),
    call_hook: hook,
    dtmf: z.object({ digit: z.string().regex(/^[0-9*#]$/u), duration: z.number() }),
  })
  .partial()
  // One thing a request.
  .refine((update) => Object.keys(update).length === 1);

const STATUSES: Readonly<Record<DialledState, string>> = {
  queued: 'trying',
  ringing: 'ringing',
  answered: 'in-progress',
  completed: 'completed',
  busy: 'busy',
  'no-answer': 'no-answer',
  // A SIP 603 is busy to jambonz, and a call that was cancelled is one that nobody answered.
  rejected: 'busy',
  failed: 'failed',
  cancelled: 'no-answer',
};
const SIP: Partial<Record<DialledState, number>> = { queued: 100, ringing: 180, answered: 200, failed: 500 };
const DETECTED: Partial<Record<Detection, string>> = {
  person: 'amd_human_detected',
  machine: 'amd_machine_detected',
  'machine-done': 'amd_machine_stopped_speaking',
};

/** What jambonz does for a call that it dialled. */
class JambonzDialled extends DialledSide<SimulatedJambonzCall> {
  sip = 100;
  readonly #order: SimulatedOrder;
  readonly #callHook: string;

  constructor(order: SimulatedOrder, callHook: string, clock: Clock, webhookSecret: string) {
    const { from, to, carrierCallId, statusUrl } = order;
    const about = { url: new URL(statusUrl).origin, webhookSecret, clock, from, to, carrierCallId };
    super((more) => new SimulatedJambonzCall({ ...about, direction: 'outbound', ...more }));
    this.#order = order;
    this.#callHook = callHook;
  }

  async report(news: DialledNews): Promise<void> {
    if ('detected' in news) {
      const type = DETECTED[news.detected];
      if (type !== undefined) await this.call.post(this.#order.statusUrl, { ...this.call.facts('in-progress', 200), type });
      return;
    }
    this.sip = news.sip ?? SIP[news.state] ?? 200;
    await this.call.post(this.#order.statusUrl, this.call.facts(STATUSES[news.state], this.sip));
  }

  protected override answer(): Promise<CallerLine> {
    return this.call.beginWith(this.#callHook);
  }
}

/** jambonz' REST interface for simulated calls: orders, the list of calls and of their records, single calls and updates of live ones. */
export class SimulatedJambonzApi extends SimulatedApi<JambonzDialled, SimulatedJambonzCall> {
  readonly apiKey = randomUUID();
  readonly #webhookSecret: string;

  constructor(options: JambonzApiOptions = {}) {
    super(options, { status: 400 });
    this.#webhookSecret = options.webhookSecret ?? '';
  }

  override get url(): string {
    return `${super.url}/v1`;
  }

  protected override async serve(request: IncomingMessage, reply: RestReply, drop: () => void): Promise<void> {
    if (request.headers.authorization !== `Bearer ${this.apiKey}`)
      return this.refuse(reply, { status: 401, message: 'unauthorized' });
    const url = new URL(request.url ?? '/', 'http://carrier');
    const { account, call, records } = PATH.exec(url.pathname)?.groups ?? {};
    if (account !== ACCOUNT_SID) return this.notFound(reply);
    const { method } = request;
    if (method === 'GET' && records !== undefined) return this.#records(reply);
    if (method === 'GET') return call === undefined ? this.#list(url.searchParams, reply) : this.read(call, reply);
    const body = parseJson(await bodyOf(request));
    if (method === 'POST' && call === undefined) return this.#ordered(body, reply, drop);
    return method === 'PUT' && call !== undefined ? this.#update(call, body, reply) : this.notFound(reply);
  }

  async #ordered(body: unknown, reply: RestReply, drop: () => void): Promise<void> {
    const parsed = orderBody.safeParse(body);
    if (!parsed.success) return this.refuse(reply, { status: 400, message: z.prettifyError(parsed.error) });
    const { from, to, call_hook: callHook, call_status_hook: statusHook, timeout, timeLimit, amd } = parsed.data;
    const asked: Omit<SimulatedOrder, 'index'> = {
      from,
      to: to.number,
      carrierCallId: randomUUID(),
      statusUrl: statusHook.url,
      ringTimeoutMs: timeout * 1000,
      maxDurationMs: timeLimit * 1000,
      detectMachine: amd !== undefined,
    };
    const sideOf = (order: SimulatedOrder): JambonzDialled =>
      new JambonzDialled(order, callHook.url, this.clock, this.#webhookSecret);
    return this.order(asked, sideOf, { reply, drop }, ({ phone }) => [
      201,
      { sid: phone.order.carrierCallId, callId: randomUUID() },
    ]);
  }

  #list(query: URLSearchParams, reply: RestReply): void {
    const all = this.dialled.list().map((call) => this.resource(call));
    const wanted = ['direction', 'from', 'to'] as const;
    const calls = all.filter((call) => wanted.every((field) => query.get(field) === null || query.get(field) === call[field]));
    reply(200, calls);
  }

  protected override refuse(reply: RestReply, { status, message }: Refusal): void {
    reply(status, { msg: message });
  }

  protected override resource({ phone: { order, state }, side }: PlacedCall<JambonzDialled>) {
    const { carrierCallId, from, to } = order;
    return { call_sid: carrierCallId, direction: 'outbound', from, to, call_status: STATUSES[state], sip_status: side.sip };
  }

  /** Records of ended calls, newest first. */
  #records(reply: RestReply): void {
    const ended = this.dialled.calls.filter(({ phone }) => phone.isOver).toReversed();
    const data = ended.map(({ phone: { order, createdAtMs } }) => ({
      call_sid: order.carrierCallId,
      from: order.from,
      to: order.to,
      direction: 'outbound',
      attempted_at: new Date(createdAtMs).toISOString(),
    }));
    reply(200, { total: data.length, page: 1, data });
  }

  #update(callSid: string, body: unknown, reply: RestReply): void {
    const { call, phone } = this.live(callSid) ?? {};
    if (call === undefined) return this.notFound(reply);
    const update = updateBody.safeParse(body);
    if (!update.success) return this.refuse(reply, { status: 400, message: 'multiple options are not allowed in updateCall' });
    const { call_status: status, call_hook: to, dtmf } = update.data;
    const isAnswered = phone === undefined || phone.state === 'answered';
    if (dtmf !== undefined) call.digits.push(dtmf.digit);
    else if (to !== undefined) void call.redirect(to.url);
    else if (status === 'completed' && isAnswered) void call.hangUp();
    else if (status === 'no-answer' && !isAnswered) phone.cancel();
    return reply(202);
  }
}

const WEBHOOK_SECRET = 'wh_of_the_simulated_account';

export const simulatedJambonz: SimulatedCarrier = {
  name: 'jambonz',
  async open(options) {
    const api = await new SimulatedJambonzApi({ ...options, webhookSecret: WEBHOOK_SECRET }).listen();
    const env = {
      OFFHOOK_JAMBONZ_WEBHOOK_SECRET: WEBHOOK_SECRET,
      OFFHOOK_JAMBONZ_ACCOUNT_SID: ACCOUNT_SID,
      OFFHOOK_JAMBONZ_API_KEY: api.apiKey,
      OFFHOOK_JAMBONZ_API_URL: api.url,
    };
    // Known before it is connected: the gateway may act on it at once.
    const begun = (call: PlaceOptions) => api.register(new SimulatedJambonzCall({ ...call, webhookSecret: WEBHOOK_SECRET }));
    return api.account(env, (call) => connected(begun(call)));
  },
  place: ({ proof: webhookSecret, ...call }) => connected(new SimulatedJambonzCall({ ...call, webhookSecret })),
};

async function connected(call: SimulatedJambonzCall): Promise<SimulatedJambonzCall> {
  await call.connect();
  return call;
}
