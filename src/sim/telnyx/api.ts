import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { parseJson } from '../../kernel/json.ts';
import type { Detection, DialledNews, DialledState, SimulatedOrder } from '../caller/callee.ts';
import type { CallerLine } from '../caller/caller.ts';
import { gatewayPath } from '../carrier-call.ts';
import {
  type ApiOptions,
  bodyOf,
  DialledSide,
  type PlacedCall,
  type Refusal,
  type RestReply,
  SimulatedApi,
} from '../dialling-carrier.ts';
import { CallRefused } from '../errors.ts';
import type { PlaceOptions, SimulatedCarrier } from '../simulated-carrier.ts';
import { SimulatedTelnyxCall, streamRequest, streamSchema, type TelnyxCallOptions, type TelnyxSigner } from './call.ts';
import type { StreamRequest } from './stream.ts';

const COMMAND = /^\/v2\/calls\/(?<call>[^/]+)(?:\/actions\/(?<verb>[a-z_]+))?$/u;
const orderBody = streamSchema.extend({
  connection_id: z.string().min(1),
  to: z.string().regex(/^\+[1-9]\d{6,14}$/u),
  from: z.string().regex(/^\+[1-9]\d{6,14}$/u),
  timeout_secs: z.int().min(5).max(600).default(30),
  time_limit_secs: z.int().min(1).max(14_400).default(14_400),
  webhook_url: z.url(),
  webhook_url_method: z.literal('POST').default('POST'),
  client_state: z.base64().optional(),
  command_id: z.string().optional(),
  answering_machine_detection: z
    .enum(['premium', 'detect', 'detect_beep', 'detect_words', 'greeting_end', 'disabled'])
    .optional(),
});

/** Of every simulated account of this process. */
const { privateKey: PRIVATE_KEY, publicKey: PUBLIC_KEY } = generateKeyPairSync('ed25519');

/** Telnyx' REST interface (v2) for simulated calls, and the key that its webhooks are signed with. */
export class SimulatedTelnyxApi extends SimulatedApi<TelnyxDialled, SimulatedTelnyxCall> {
  readonly apiKey = `KEY${randomUUID()}`;
  readonly connectionId = '2811212257810187875';
  /** As the portal shows it. */
  static readonly publicKey = PUBLIC_KEY.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64');
  readonly #listLagMs: number;

  constructor(options: ApiOptions = {}) {
    super(options, { status: 403, code: '10010' });
    this.#listLagMs = options.listLagMs ?? 0;
  }

  readonly sign: TelnyxSigner = (body) => {
    const timestamp = String(Math.floor(this.clock.wallMs() / 1000));
    const signature = sign(null, Buffer.from(`${timestamp}|${body}`), PRIVATE_KEY).toString('base64');
    return { 'telnyx-timestamp': timestamp, 'telnyx-signature-ed25519': signature };
  };

  protected override async serve(request: IncomingMessage, reply: RestReply, drop: () => void): Promise<void> {
    if (request.headers.authorization !== `Bearer ${this.apiKey}`)
      return this.refuse(reply, { status: 401, code: '10009', message: 'Authentication failed' });
    const url = new URL(request.url ?? '/', 'http://carrier');
    const body = request.method === 'POST' ? parseJson(await bodyOf(request)) : undefined;
    if (url.pathname === '/v2/call_events') return this.#events(url.searchParams, reply);
    if (url.pathname === '/v2/calls' && request.method === 'POST') return this.#ordered(body, reply, drop);
    const { call: id = '', verb } = COMMAND.exec(url.pathname)?.groups ?? {};
    const call = this.calls.get(decodeURIComponent(id));
    if (call === undefined) return this.notFound(reply);
    if (verb === undefined) return reply(200, { data: { record_type: 'call', ...idsOf(call), is_alive: !call.isOver } });
    const dialled = this.dialled.find(call.carrierCallId);
    if (verb === 'hangup' && dialled !== undefined && !dialled.phone.isOver) {
      dialled.phone.cancel();
      return reply(200, { data: { result: 'ok' } });
    }
    const refused = call.command(verb, body);
    if (refused === undefined) reply(200, { data: { result: 'ok' } });
    else this.refuse(reply, refused);
  }

  async #ordered(body: unknown, reply: RestReply, drop: () => void): Promise<void> {
    const parsed = orderBody.safeParse(body);
    if (!parsed.success) return this.refuse(reply, { status: 422, code: '10015', message: z.prettifyError(parsed.error) });
    const { data } = parsed;
    const asked: Omit<SimulatedOrder, 'index'> = {
      from: data.from,
      to: data.to,
      carrierCallId: `v3:${randomUUID()}`,
      statusUrl: data.webhook_url,
      ringTimeoutMs: data.timeout_secs * 1000,
      maxDurationMs: data.time_limit_secs * 1000,
      detectMachine: data.answering_machine_detection !== undefined,
    };
    const sideOf = (order: SimulatedOrder): TelnyxDialled => {
      const { from, to, carrierCallId, statusUrl: webhookUrl } = order;
      const about = { from, to, carrierCallId, webhookUrl, clientState: data.client_state, sign: this.sign, clock: this.clock };
      const side = new TelnyxDialled({ ...about, direction: 'outgoing' }, streamRequest(data));
      this.register(side.call);
      return side;
    };
    return this.order(asked, sideOf, { reply, drop }, (call) => [200, { data: this.resource(call) }]);
  }

  protected override refuse(reply: RestReply, { status, code = '10005', message }: Refusal): void {
    reply(status, { errors: [{ code: String(code), title: message, detail: message }] });
  }

  protected override resource({ side: { call } }: PlacedCall<TelnyxDialled>): object {
    return { record_type: 'call', ...idsOf(call), is_alive: false };
  }

  #events(query: URLSearchParams, reply: RestReply): void {
    const leg = query.get('filter[leg_id]');
    const [from, to, since] = [query.get('filter[from]'), query.get('filter[to]'), query.get('filter[occurred_at][gte]')];
    const untilMs = this.clock.wallMs() - this.#listLagMs;
    const isListed = ({ call_leg_id, payload, event_timestamp: at }: ListedEvent): boolean =>
      (leg === null || call_leg_id === leg) &&
      (from === null || payload.from === from) &&
      (to === null || payload.to === to) &&
      Date.parse(at) <= untilMs &&
      (since === null || at >= since);
    const data = this.dialled.calls
      .flatMap(eventsOf)
      .filter(isListed)
      .map(({ payload, ...event }) => ({
        ...event,
        record_type: 'call_event',
        type: 'webhook',
        metadata: { event: { event_type: event.name, payload } },
      }));
    reply(200, { data, meta: { total_pages: 1, total_results: data.length, page_number: 1, page_size: 100 } });
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.dialled.close();
    for (const call of this.calls.values()) await call.finish('normal_clearing', 'unspecified', false);
    await super[Symbol.asyncDispose]();
  }
}

const CAUSES: Partial<Record<DialledState, string>> = {
  completed: 'normal_clearing',
  busy: 'user_busy',
  'no-answer': 'timeout',
  rejected: 'call_rejected',
  failed: 'unspecified',
  cancelled: 'originator_cancel',
};
const DETECTED: Readonly<Record<Detection, readonly [event: string, result: string] | undefined>> = {
  person: ['call.machine.detection.ended', 'human'],
  machine: ['call.machine.detection.ended', 'machine'],
  'machine-done': ['call.machine.greeting.ended', 'beep_detected'],
  unknown: ['call.machine.detection.ended', 'not_sure'],
  fax: undefined,
};

/** What Telnyx does for a call that it dialled. It tells nothing of ringing, and opens the media socket meanwhile. */
class TelnyxDialled extends DialledSide<SimulatedTelnyxCall> {
  readonly clientState: string | undefined;
  readonly #request: StreamRequest;
  #opening: Promise<unknown> | undefined;

  constructor(about: TelnyxCallOptions, request: StreamRequest) {
    super(({ stream }) => new SimulatedTelnyxCall({ ...about, stream }));
    this.clientState = about.clientState;
    this.#request = request;
  }

  async report(news: DialledNews): Promise<void> {
    if ('detected' in news) {
      const detected = DETECTED[news.detected];
      if (detected !== undefined) await this.call.tell(detected[0], { result: detected[1] });
      return;
    }
    const { state, sip } = news;
    if (state === 'queued') return this.call.tell('call.initiated', { direction: 'outgoing', state: 'bridging' });
    if (state === 'ringing') {
      this.#opening ??= this.call.openStream(this.#request);
      return;
    }
    if (state === 'answered') return this.call.tell('call.answered');
    const more = { hangup_cause: CAUSES[state], hangup_source: 'callee', sip_hangup_cause: String(sip ?? 'unspecified') };
    await this.call.finish(more.hangup_cause ?? '', more.sip_hangup_cause, false);
    await this.call.tell('call.hangup', more);
  }

  protected override async answer(): Promise<CallerLine> {
    this.call.answer(undefined, false);
    this.#opening ??= this.call.openStream(this.#request);
    await this.#opening;
    this.call.line.answered();
    return this.call.line;
  }

  override hangUp(): Promise<void> {
    return this.call.finish('normal_clearing', '200', false);
  }
}

type ListedEvent = ReturnType<typeof eventsOf>[number];

/** What has become of a dialled call, whether or not it could be told. */
function eventsOf({ phone, side: { call, clientState } }: PlacedCall<TelnyxDialled>) {
  const { order, state, createdAtMs, answeredAtMs, isOver } = phone;
  const ids = { call_leg_id: call.callLegId, call_session_id: call.callSessionId };
  const about = { call_control_id: call.carrierCallId, client_state: clientState, from: order.from, to: order.to };
  const event = (name: string, atMs: number, more: object = {}) => {
    return { ...ids, name, event_timestamp: new Date(atMs).toISOString(), payload: { ...about, ...more } };
  };
  const end = { hangup_cause: CAUSES[state], sip_hangup_cause: 'unspecified' };
  return [
    event('call.initiated', createdAtMs),
    ...(answeredAtMs === undefined ? [] : [event('call.answered', answeredAtMs)]),
    ...(isOver ? [event('call.hangup', answeredAtMs ?? createdAtMs, end)] : []),
  ];
}

function idsOf(call: SimulatedTelnyxCall): object {
  return { call_control_id: call.carrierCallId, call_leg_id: call.callLegId, call_session_id: call.callSessionId };
}

/** The legs of simulated calls are A-law, as in Europe and India, whatever is sent to them. */
export const simulatedTelnyx: SimulatedCarrier = {
  name: 'telnyx',
  async open(options) {
    const api = await new SimulatedTelnyxApi(options).listen();
    const env = {
      OFFHOOK_TELNYX_PUBLIC_KEY: SimulatedTelnyxApi.publicKey,
      OFFHOOK_TELNYX_API_KEY: api.apiKey,
      OFFHOOK_TELNYX_CONNECTION_ID: api.connectionId,
      OFFHOOK_TELNYX_API_URL: api.url,
    };
    return api.account(env, (call) => place(api, call));
  },
};

async function place(api: SimulatedTelnyxApi, options: PlaceOptions): Promise<SimulatedTelnyxCall> {
  const { url, connectTo, clock, from = '+447700900000', to = '+442079460000', carrierCallId, stream } = options;
  const call = new SimulatedTelnyxCall({
    clock,
    sign: api.sign,
    webhookUrl: new URL(gatewayPath('telnyx', 'voice', options), url).href,
    reached: { url, connectTo },
    direction: 'incoming',
    from,
    to,
    carrierCallId,
    stream,
  });
  api.register(call);
  await call.tell('call.initiated', { direction: 'incoming', state: 'parked' }).catch((error: unknown) => {
    throw new CallRefused('the webhook was not taken', call.said, error);
  });
  await call.until(() => call.isOver || call.streams.at(-1)?.open === true || call.streamProblem !== undefined);
  if (call.streams.length === 0) {
    await call.hangUp();
    throw new CallRefused(
      `the call got no media stream${call.streamProblem === undefined ? '' : `: ${call.streamProblem}`}`,
      call.said,
    );
  }
  return call;
}
