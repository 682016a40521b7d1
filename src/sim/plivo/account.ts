import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { parseJson } from '../../kernel/json.ts';
import type { DialledNews, DialledState, SimulatedOrder } from '../caller/callee.ts';
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
import { type PlivoFlavour, SimulatedPlivoCall } from './carrier.ts';
import type { PlaceOptions, SimulatedCarrier } from '../simulated-carrier.ts';

/* The REST interface of Plivo and of Vobiz for simulated calls, and their accounts. */

const PATH =
  /^(?<api>\/v1|\/api\/v1)\/Account\/(?<account>[^/]+)\/(?<kind>Call|Request)\/(?:(?<call>[^/]+)\/(?<dtmf>DTMF\/)?)?$/u;
const number = z.string().regex(/^[1-9]\d{6,14}$/u);
const post = z.literal('POST');
const orderBody = z.object({
  from: number,
  to: number,
  answer_url: z.url(),
  answer_method: post,
  ring_url: z.url(),
  ring_method: post,
  hangup_url: z.url(),
  hangup_method: post,
  ring_timeout: z.int().min(1),
  time_limit: z.int().min(1).max(86_400),
  machine_detection: z.literal('true').optional(),
  machine_detection_url: z.url().optional(),
  machine_detection_method: post.optional(),
});
const transferBody = z.object({ legs: z.literal('aleg'), aleg_url: z.url(), aleg_method: post });
const keysBody = z.object({ digits: z.string().regex(/^[\d*#wW]+$/u) });

/** `CallStatus` of an end, and its code. Vobiz reports each as completed. */
const ENDS: Partial<Record<DialledState, readonly [status: string, code: number, name: string]>> = {
  completed: ['completed', 4000, 'Normal Hangup'],
  busy: ['busy', 3010, 'Busy Line'],
  'no-answer': ['no-answer', 6010, 'Ring Timeout Reached'],
  rejected: ['busy', 3020, 'Rejected'],
  failed: ['failed', 5020, 'Routing Error'],
  cancelled: ['cancel', 1000, 'Canceled'],
};
const SWITCHED_OFF = ['no-answer', 3000, 'No Answer'] as const;

function endOf(state: DialledState, sip: number | undefined): readonly [status: string, code: number, name: string] {
  return state === 'failed' && sip === 480 ? SWITCHED_OFF : (ENDS[state] ?? ['failed', 0, 'Unknown']);
}

/** What the carrier does for a call that it dialled. */
class PlivoDialled extends DialledSide<SimulatedPlivoCall> {
  readonly order: z.output<typeof orderBody>;
  readonly #flavour: PlivoFlavour;
  /** Why it failed, where it did. */
  sip: number | undefined;

  constructor(flavour: PlivoFlavour, body: z.output<typeof orderBody>, order: SimulatedOrder, authToken: string, clock: Clock) {
    const { from, to, carrierCallId, statusUrl } = order;
    const about = { url: new URL(statusUrl).origin, flavour, authToken, clock, from, to, carrierCallId } as const;
    super((more) => new SimulatedPlivoCall({ ...about, direction: 'outbound', ...more }));
    this.#flavour = flavour;
    this.order = body;
  }

  async report(news: DialledNews): Promise<void> {
    const { ring_url: ringUrl, hangup_url: hangupUrl, machine_detection_url: detectionUrl } = this.order;
    if ('detected' in news) {
      // It says no more than that a machine is there.
      if (news.detected !== 'machine' || detectionUrl === undefined) return;
      await this.call.post(detectionUrl, {
        CallStatus: 'in-progress',
        Event: 'MachineDetection',
        Machine: 'true',
        IfMachine: 'true',
      });
      return;
    }
    if (news.state === 'queued' || news.state === 'answered') return;
    if (news.state === 'ringing') {
      await this.call.post(ringUrl, { CallStatus: 'ringing', Event: 'Ring' });
      return;
    }
    this.sip = news.sip;
    const [status, code, name] = endOf(news.state, news.sip);
    const CallStatus = this.#flavour === 'vobiz' ? 'completed' : status;
    await this.call.post(hangupUrl, {
      CallStatus,
      Event: 'Hangup',
      HangupCauseCode: String(code),
      HangupCauseName: name,
      Duration: '1',
    });
  }

  protected override answer(): Promise<CallerLine> {
    return this.call.fetch(this.order.answer_url, { CallStatus: 'in-progress', Event: 'StartApp' });
  }
}

export class SimulatedPlivoApi extends SimulatedApi<PlivoDialled, SimulatedPlivoCall> {
  readonly #flavour: PlivoFlavour;
  readonly #authId: string;
  readonly #authToken: string;

  constructor(flavour: PlivoFlavour, authId: string, authToken: string, options: ApiOptions = {}) {
    super(options, { status: 400 });
    this.#flavour = flavour;
    this.#authId = authId;
    this.#authToken = authToken;
  }

  protected override async serve(request: IncomingMessage, reply: RestReply, drop: () => void): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://carrier');
    const { api, account, kind, call, dtmf } = PATH.exec(url.pathname)?.groups ?? {};
    const isVobiz = this.#flavour === 'vobiz';
    if (account !== this.#authId || api !== (isVobiz ? '/api/v1' : '/v1')) return this.notFound(reply);
    if (!this.#isProven(request)) return this.refuse(reply, { status: 401, message: 'authentication information failed' });
    const { method } = request;
    const body = method === 'POST' ? parseJson(await bodyOf(request)) : undefined;
    if (call === undefined) {
      if (kind !== 'Call' || method === 'DELETE') return this.notFound(reply);
      return method === 'GET' ? this.#list(url.searchParams, reply) : this.#ordered(body, reply, drop);
    }
    if (kind === 'Request') return method === 'DELETE' ? this.#hangUp(call, true, reply) : this.notFound(reply);
    if (method === 'GET') return this.#shown(call, url.searchParams.get('status'), reply);
    return method === 'DELETE' ? this.#hangUp(call, false, reply) : this.#update(call, dtmf !== undefined, body, reply);
  }

  #isProven({ headers }: IncomingMessage): boolean {
    if (this.#flavour === 'vobiz') return headers['x-auth-id'] === this.#authId && headers['x-auth-token'] === this.#authToken;
    return headers.authorization === basicOf(this.#authId, this.#authToken);
  }

  async #ordered(body: unknown, reply: RestReply, drop: () => void): Promise<void> {
    const parsed = orderBody.safeParse(body);
    if (!parsed.success) return this.refuse(reply, { status: 400, message: z.prettifyError(parsed.error) });
    const { from, to, hangup_url: statusUrl, ring_timeout: rings, time_limit: lasts } = parsed.data;
    const asked: Omit<SimulatedOrder, 'index'> = {
      from: `+${from}`,
      to: `+${to}`,
      carrierCallId: randomUUID(),
      statusUrl,
      ringTimeoutMs: rings * 1000,
      maxDurationMs: lasts * 1000,
      detectMachine: parsed.data.machine_detection === 'true',
    };
    const sideOf = (order: SimulatedOrder): PlivoDialled =>
      new PlivoDialled(this.#flavour, parsed.data, order, this.#authToken, this.clock);
    return this.order(asked, sideOf, { reply, drop }, ({ phone }) => [
      201,
      { message: 'call fired', request_uuid: phone.order.carrierCallId, api_id: randomUUID() },
    ]);
  }

  #list(query: URLSearchParams, reply: RestReply): void {
    const status = query.get('status');
    const of = ({ phone: { order } }: PlacedCall<PlivoDialled>): boolean =>
      order.from === `+${query.get('from_number')}` && order.to === `+${query.get('to_number')}`;
    const calls = this.dialled.list().filter(of);
    if (status === null) {
      const objects = calls.filter(({ phone }) => phone.isOver).slice(0, Number(query.get('limit') ?? 20));
      return reply(200, { objects: objects.map((call) => this.resource(call)), meta: { offset: 0 } });
    }
    return reply(200, { calls: calls.filter((call) => standing(call) === status).map(({ phone }) => phone.order.carrierCallId) });
  }

  #shown(id: string, status: string | null, reply: RestReply): void {
    const call = this.dialled.find(id);
    if (call === undefined || standing(call) !== (status ?? 'over')) return this.notFound(reply);
    if (status === null) return reply(200, this.resource(call));
    const { order, state, answeredAtMs } = call.phone;
    const ends = { from: `+${order.from.slice(1)}`, to: order.to.slice(1), direction: 'outbound' };
    const callStatus = state === 'answered' ? 'in-progress' : state;
    const session = answeredAtMs === undefined ? {} : { session_start: timeText(answeredAtMs) };
    return reply(200, { call_uuid: id, request_uuid: id, call_status: callStatus, ...ends, ...session });
  }

  /** An entry of the log of ended calls, in the words of either carrier. */
  protected override resource({ phone: { order, state, createdAtMs, answeredAtMs }, side }: PlacedCall<PlivoDialled>): object {
    const [status, code, name] = endOf(state, side.sip);
    const ended = { call_uuid: order.carrierCallId, hangup_cause_code: code, hangup_cause_name: name };
    const answer = { answer_time: answeredAtMs === undefined ? null : timeText(answeredAtMs) };
    const [from, to] = [order.from.slice(1), order.to.slice(1)];
    if (this.#flavour === 'vobiz') {
      const created = new Date(createdAtMs).toISOString();
      return { ...ended, ...answer, from, to, status: 'completed', created_at: created };
    }
    return {
      ...ended,
      ...answer,
      from_number: from,
      to_number: to,
      call_direction: 'outbound',
      call_state: status.toUpperCase(),
      initiation_time: timeText(createdAtMs),
    };
  }

  protected override refuse(reply: RestReply, { status, code, message }: Refusal): void {
    reply(status, { error: message, error_code: code });
  }

  /** A call that is not up yet may be known by its request alone. */
  #hangUp(id: string, isRequest: boolean, reply: RestReply): void {
    const dialled = this.dialled.find(id);
    if (dialled === undefined) {
      const call = this.calls.get(id);
      if (call === undefined || isRequest) return this.notFound(reply);
      void call.hangUp();
      return reply(204);
    }
    if (standing(dialled) !== (isRequest ? 'queued' : 'live')) return this.notFound(reply);
    dialled.phone.cancel();
    return reply(204);
  }

  #update(id: string, isKeys: boolean, body: unknown, reply: RestReply): void {
    const call = this.live(id)?.call;
    if (call === undefined) return this.notFound(reply);
    if (isKeys) {
      const keys = keysBody.safeParse(body);
      if (!keys.success) return this.refuse(reply, { status: 400, message: 'invalid digits' });
      call.digits.push(keys.data.digits);
      return reply(202, { message: 'digits sent' });
    }
    const transfer = transferBody.safeParse(body);
    if (!transfer.success) return this.refuse(reply, { status: 400, message: z.prettifyError(transfer.error) });
    void call.transfer(transfer.data.aleg_url);
    return reply(202, { message: 'call transferred' });
  }
}

function standing({ phone }: PlacedCall<PlivoDialled>): 'queued' | 'live' | 'over' {
  if (phone.isOver) return 'over';
  return phone.state === 'answered' ? 'live' : 'queued';
}

/** UTC, as the carrier writes it. */
function timeText(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ').replace('Z', '');
}

const AUTH_ID = 'MAXXXXXXXXXXXXXXXXXX';
const AUTH_TOKEN = 'of-the-simulated-account';

function simulated(flavour: PlivoFlavour): SimulatedCarrier {
  const dial = async (options: PlaceOptions, authToken: string): Promise<SimulatedPlivoCall> => {
    const call = new SimulatedPlivoCall({ ...options, flavour, authToken });
    await call.connect();
    return call;
  };
  return {
    name: flavour,
    async open(options) {
      const api = await new SimulatedPlivoApi(flavour, AUTH_ID, AUTH_TOKEN, options).listen();
      const name = flavour.toUpperCase();
      const env = {
        [`OFFHOOK_${name}_AUTH_ID`]: AUTH_ID,
        [`OFFHOOK_${name}_AUTH_TOKEN`]: AUTH_TOKEN,
        [`OFFHOOK_${name}_API_URL`]: api.url,
      };
      return api.account(env, (call) => dial(call, AUTH_TOKEN));
    },
    place: (options) => dial(options, options.proof),
  };
}

export const simulatedPlivo = simulated('plivo');
export const simulatedVobiz = simulated('vobiz');
