import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../kernel/clock.ts';
import type { CarrierSide, DialledNews, DialledState, SimulatedOrder } from '../caller/callee.ts';
import type { CallerLine } from '../caller/caller.ts';
import type { LineOptions } from '../carrier-line.ts';
import { mediaAddress, refusedSocket, StreamCall } from '../carrier-call.ts';
import {
  type ApiOptions,
  basicOf,
  bodyOf,
  type PlacedCall,
  type Refusal,
  type RestReply,
  SimulatedApi,
} from '../dialling-carrier.ts';
import type { PlaceOptions, SimulatedCarrier } from '../simulated-carrier.ts';
import { SimulatedExotelStream } from './stream.ts';

export interface ExotelAccountIds {
  readonly accountSid: string;
  readonly apiKey: string;
  readonly apiToken: string;
}

const PATH = /^\/v1\/Accounts\/(?<account>[^/]+)\/Calls(?:\/(?<call>[^/]+))?\.json$/u;
const CALLEE = /^\+[1-9]\d{6,14}$/u;
/** `0XXXXXXXXXX`, or E.164. */
const CALLER_ID = /^(?:0|\+)\d{7,15}$/u;
const MOST_STREAM_URL = 600;
/** Times are written as in India. */
const UTC_OFFSET_MS = 330 * 60_000;

const STATUSES: Readonly<Record<DialledState, string>> = {
  queued: 'queued',
  ringing: 'in-progress',
  answered: 'in-progress',
  completed: 'completed',
  busy: 'busy',
  'no-answer': 'no-answer',
  // A phone that says no is told apart by its cause alone.
  rejected: 'busy',
  failed: 'failed',
  cancelled: 'canceled',
};
const CAUSES: Partial<Record<DialledState, string>> = {
  busy: 'USER_BUSY',
  rejected: 'CALL_REJECTED',
  failed: 'NETWORK_OUT_OF_ORDER',
};
/** The phone is switched off. */
const UNAVAILABLE = 480;

/**
 * Exotel's `/v1/Accounts/{sid}/Calls` for simulated calls: orders over Connect Voice AI (`POST connect.json`), the list and single calls (`GET`). Calls
 * cannot be ended by it.
 */
export class SimulatedExotelApi extends SimulatedApi<ExotelDialled, StreamCall> {
  readonly #ids: ExotelAccountIds;

  constructor(ids: ExotelAccountIds, options: ApiOptions = {}) {
    super(options, { status: 403, code: 1010 });
    this.#ids = ids;
  }

  protected override async serve(request: IncomingMessage, reply: RestReply, drop: () => void): Promise<void> {
    const { accountSid, apiKey, apiToken } = this.#ids;
    if (request.headers.authorization !== basicOf(apiKey, apiToken))
      return this.refuse(reply, { status: 401, code: 1001, message: 'Authentication failed' });
    const url = new URL(request.url ?? '/', 'http://carrier');
    const { account, call } = PATH.exec(url.pathname)?.groups ?? {};
    if (account !== accountSid) return this.notFound(reply);
    if (request.method === 'POST' && call === 'connect')
      return this.#ordered(new URLSearchParams(await bodyOf(request)), reply, drop);
    if (request.method !== 'GET') return this.refuse(reply, { status: 405, code: 1005, message: 'Method not allowed' });
    if (call === undefined) return this.#list(url.searchParams, reply);
    return this.read(decodeURIComponent(call), reply);
  }

  async #ordered(fields: URLSearchParams, reply: RestReply, drop: () => void): Promise<void> {
    const field = (name: string): string => fields.get(name) ?? '';
    const streamUrl = field('StreamUrl');
    if (!CALLEE.test(field('From'))) return this.refuse(reply, { status: 400, code: 1011, message: 'From is no number' });
    if (!CALLER_ID.test(field('CallerId')))
      return this.refuse(reply, { status: 400, code: 1012, message: 'CallerId is no ExoPhone' });
    if (!/^wss?:\/\//u.test(streamUrl) || streamUrl.length > MOST_STREAM_URL)
      return this.refuse(reply, { status: 400, code: 1013, message: 'StreamUrl is not valid' });
    if (field('StreamType') !== 'bidirectional')
      return this.refuse(reply, { status: 400, code: 1014, message: 'StreamType is not valid' });
    if (field('CustomField').length > 128)
      return this.refuse(reply, { status: 400, code: 1015, message: 'CustomField is too long' });
    const asked: Omit<SimulatedOrder, 'index'> = {
      from: field('CallerId').replace(/^0/u, '+91'),
      to: field('From'),
      carrierCallId: randomBytes(16).toString('hex'),
      statusUrl: field('StatusCallback'),
      ringTimeoutMs: Number(fields.get('TimeOut') ?? 30) * 1000,
      maxDurationMs: Number(fields.get('TimeLimit') ?? 14_400) * 1000,
      detectMachine: false,
    };
    const events = fields.getAll('StatusCallbackEvents[]');
    const isJson = field('StatusCallbackContentType') === 'application/json';
    const about = { streamUrl, events, isJson, accountSid: this.#ids.accountSid, clock: this.clock };
    const sideOf = (order: SimulatedOrder) => new ExotelDialled({ ...about, order });
    return this.order(asked, sideOf, { reply, drop }, (call) => [200, { Call: { ...fieldsOf(call), Status: 'in-progress' } }]);
  }

  protected override refuse(reply: RestReply, { status, code = 1004, message }: Refusal): void {
    reply(status, { RestException: { Status: status, Code: code, Message: message } });
  }

  protected override resource(call: PlacedCall<ExotelDialled>): object {
    return { Call: fieldsOf(call) };
  }

  #list(query: URLSearchParams, reply: RestReply): void {
    const [, since = '', until = ''] = /^gte:([^;]*);lte:(.*)$/u.exec(query.get('DateCreated') ?? '') ?? [];
    const calls = this.dialled
      .list()
      .filter(({ phone: { order } }) => [order.to, null].includes(query.get('From')))
      .map(fieldsOf)
      .filter(({ DateCreated }) => DateCreated >= since && (until === '' || DateCreated <= until));
    reply(200, { Metadata: { Total: calls.length, PageSize: 50 }, Calls: calls.slice(0, Number(query.get('PageSize') ?? 50)) });
  }
}

interface ExotelDialledOptions {
  readonly order: SimulatedOrder;
  readonly streamUrl: string;
  readonly events: readonly string[];
  /** Else a callback is a form of several parts. */
  readonly isJson: boolean;
  readonly accountSid: string;
  readonly clock: Clock;
}

/** What Exotel does for a call that it dialled: status callbacks without a signature, and the media socket of the order. */
class ExotelDialled implements CarrierSide {
  readonly call = undefined;
  readonly ended: Promise<unknown>;
  readonly #options: ExotelDialledOptions;
  #end: () => void = () => undefined;
  #line: SimulatedExotelStream | undefined;

  constructor(options: ExotelDialledOptions) {
    this.#options = options;
    this.ended = new Promise<void>((resolve) => {
      this.#end = resolve;
    });
  }

  async report(news: DialledNews): Promise<void> {
    const { order, events, isJson, clock } = this.#options;
    if ('detected' in news || news.state === 'queued') return;
    const isProgress = news.state === 'ringing' || news.state === 'answered';
    const event = isProgress ? news.state : 'terminal';
    if (!events.includes(event)) return;
    const isOff = news.state === 'failed' && news.sip === UNAVAILABLE;
    const cause = news.code ?? (isOff ? 'SUBSCRIBER_ABSENT' : CAUSES[news.state]);
    const fields = {
      EventType: event,
      CallSid: order.carrierCallId,
      Status: isOff ? 'no-answer' : STATUSES[news.state],
      Direction: 'outbound-api',
      From: order.to,
      PhoneNumberSid: national(order.from),
      DateUpdated: localTime(clock.wallMs()),
    };
    const legs = isProgress
      ? []
      : [{ OnCallDuration: 0, Status: STATUSES[news.state], ...(cause === undefined ? {} : { CauseCode: cause }) }];
    if (isJson) {
      const body = JSON.stringify({ ...fields, Legs: legs });
      await fetch(order.statusUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      return;
    }
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    await fetch(order.statusUrl, { method: 'POST', body: form });
  }

  async open(fullMedia: boolean, stream: LineOptions = {}): Promise<CallerLine> {
    const { order, streamUrl: url, accountSid, clock } = this.#options;
    try {
      const numbers = { from: order.to, to: national(order.from) };
      const line = await SimulatedExotelStream.open({ url, callSid: order.carrierCallId, accountSid, ...numbers }, clock, {
        ...stream,
        light: !fullMedia,
      });
      this.#line = line;
      void line.ended.then(this.#end);
      return line;
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  hangUp(): Promise<void> {
    this.#line?.stop();
    this.#end();
    return Promise.resolve();
  }
}

function fieldsOf({ phone: { order, state, createdAtMs } }: PlacedCall<ExotelDialled>) {
  return {
    Sid: order.carrierCallId,
    Status: STATUSES[state],
    Direction: 'outbound-api',
    From: order.to,
    PhoneNumberSid: national(order.from),
    DateCreated: localTime(createdAtMs),
    RecordingUrl: null,
  };
}

function national(number: string): string {
  return number.replace(/^\+91/u, '0');
}

function localTime(wallMs: number): string {
  return new Date(wallMs + UTC_OFFSET_MS).toISOString().slice(0, 19).replace('T', ' ');
}

const IDS = { accountSid: 'simulated1', apiKey: 'key-of-the-simulated-account', apiToken: 'token-of-the-simulated-account' };
const USER = 'offhook';
const PASSWORD = 'of-the-simulated-account';

export const simulatedExotel: SimulatedCarrier = {
  name: 'exotel',
  async open(options) {
    const api = await new SimulatedExotelApi(IDS, options).listen();
    const env = {
      OFFHOOK_EXOTEL_STREAM_PASSWORD: PASSWORD,
      OFFHOOK_EXOTEL_ACCOUNT_SID: IDS.accountSid,
      OFFHOOK_EXOTEL_API_KEY: IDS.apiKey,
      OFFHOOK_EXOTEL_API_TOKEN: IDS.apiToken,
      OFFHOOK_EXOTEL_API_URL: api.url,
    };
    return api.account(env, (call) => place(call, { user: USER, password: PASSWORD, rateHz: 8_000 }));
  },
  place(options) {
    const { streamUser, sampleRateHz } = options.settings;
    const user = typeof streamUser === 'string' ? streamUser : USER;
    return place(options, { user, password: options.proof, rateHz: typeof sampleRateHz === 'number' ? sampleRateHz : 8_000 });
  },
};

interface VoicebotApplet {
  readonly user: string;
  readonly password: string;
  readonly rateHz: number;
}

/** A flow with one Voicebot applet and nothing behind it: the call ends with its media socket. */
async function place(options: PlaceOptions, { user, password, rateHz }: VoicebotApplet): Promise<StreamCall> {
  const { clock, from = '+919876543210', to = '08047491899', carrierCallId = randomBytes(16).toString('hex') } = options;
  const target = {
    url: mediaAddress('exotel', options, `?sample-rate=${rateHz}`),
    credentials: `${user}:${password}`,
    callSid: carrierCallId,
    accountSid: IDS.accountSid,
    from,
    to,
  };
  return new StreamCall(carrierCallId, await SimulatedExotelStream.open(target, clock, options.stream).catch(refusedSocket));
}
