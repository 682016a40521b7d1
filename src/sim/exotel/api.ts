import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../kernel/clock.ts';
import { errorText } from '../../kernel/errors.ts';
import type { CarrierSide, DialledNews, DialledState, SimulatedOrder } from '../caller/callee.ts';
import type { CallerLine } from '../caller/caller.ts';
import { reachedAddress } from '../carrier-wire.ts';
import { type ApiOptions, basicOf, bodyOf, type PlacedCall, type RestReply, SimulatedApi } from '../dialling-carrier.ts';
import { CallRefused } from '../errors.ts';
import type { PlaceOptions, SimulatedCarrier, SimulatedCarrierCall } from '../simulated-carrier.ts';
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
export class SimulatedExotelApi extends SimulatedApi<ExotelDialled> {
  readonly #ids: ExotelAccountIds;

  private constructor(ids: ExotelAccountIds, options: ApiOptions) {
    super(options, { status: 403, code: 1010 });
    this.#ids = ids;
  }

  /** Listens on a free loopback port. */
  static start(ids: ExotelAccountIds, options: ApiOptions = {}): Promise<SimulatedExotelApi> {
    return new SimulatedExotelApi(ids, options).listen();
  }

  protected override async serve(request: IncomingMessage, reply: RestReply, drop: () => void): Promise<void> {
    const { accountSid, apiKey, apiToken } = this.#ids;
    if (request.headers.authorization !== basicOf(apiKey, apiToken)) return refuse(reply, 401, 1001, 'Authentication failed');
    const url = new URL(request.url ?? '/', 'http://carrier');
    const { account, call } = PATH.exec(url.pathname)?.groups ?? {};
    if (account !== accountSid) return refuse(reply, 404, 1004, 'Not found');
    if (request.method === 'POST' && call === 'connect')
      return this.#ordered(new URLSearchParams(await bodyOf(request)), reply, drop);
    if (request.method !== 'GET') return refuse(reply, 405, 1005, 'Method not allowed');
    if (call === undefined) return this.#list(url.searchParams, reply);
    const found = this.dialled.find(decodeURIComponent(call));
    return found === undefined ? refuse(reply, 404, 1004, 'Not found') : reply(200, { Call: resource(found) });
  }

  async #ordered(fields: URLSearchParams, reply: RestReply, drop: () => void): Promise<void> {
    const field = (name: string): string => fields.get(name) ?? '';
    const streamUrl = field('StreamUrl');
    if (!CALLEE.test(field('From'))) return refuse(reply, 400, 1011, 'From is no number');
    if (!CALLER_ID.test(field('CallerId'))) return refuse(reply, 400, 1012, 'CallerId is no ExoPhone');
    if (!/^wss?:\/\//u.test(streamUrl) || streamUrl.length > MOST_STREAM_URL)
      return refuse(reply, 400, 1013, 'StreamUrl is not valid');
    if (field('StreamType') !== 'bidirectional') return refuse(reply, 400, 1014, 'StreamType is not valid');
    if (field('CustomField').length > 128) return refuse(reply, 400, 1015, 'CustomField is too long');
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
    return this.order(asked, (order) => new ExotelDialled({ ...about, order }), drop, {
      refused: ({ status, code, message }) => refuse(reply, status, code, message),
      placed: (call) => reply(200, { Call: { ...resource(call), Status: 'in-progress' } }),
    });
  }

  #list(query: URLSearchParams, reply: RestReply): void {
    const [, since = '', until = ''] = /^gte:([^;]*);lte:(.*)$/u.exec(query.get('DateCreated') ?? '') ?? [];
    const calls = this.dialled
      .list()
      .filter(({ phone: { order } }) => [order.to, null].includes(query.get('From')))
      .map(resource)
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

  async open(fullMedia: boolean): Promise<CallerLine> {
    const { order, streamUrl: url, accountSid, clock } = this.#options;
    try {
      const numbers = { from: order.to, to: national(order.from) };
      const line = await SimulatedExotelStream.open({ url, callSid: order.carrierCallId, accountSid, ...numbers }, clock, {
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

function resource({ phone: { order, state, createdAtMs } }: PlacedCall<ExotelDialled>) {
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

function refuse(reply: RestReply, status: number, code: number | string | undefined, message: string): void {
  reply(status, { RestException: { Status: status, Code: code, Message: message } });
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
    const api = await SimulatedExotelApi.start(IDS, options);
    return {
      env: {
        OFFHOOK_EXOTEL_STREAM_PASSWORD: PASSWORD,
        OFFHOOK_EXOTEL_ACCOUNT_SID: IDS.accountSid,
        OFFHOOK_EXOTEL_API_KEY: IDS.apiKey,
        OFFHOOK_EXOTEL_API_TOKEN: IDS.apiToken,
        OFFHOOK_EXOTEL_API_URL: api.url,
      },
      place: (call) => place(call, { user: USER, password: PASSWORD, rateHz: 8_000 }),
      [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
    };
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
async function place(options: PlaceOptions, { user, password, rateHz }: VoicebotApplet): Promise<SimulatedCarrierCall> {
  const {
    url,
    bot,
    clock,
    from = '+919876543210',
    to = '08047491899',
    carrierCallId = randomBytes(16).toString('hex'),
  } = options;
  const path = `/carriers/exotel/media${bot === undefined ? '' : `/${encodeURIComponent(bot)}`}?sample-rate=${rateHz}`;
  const target = {
    url: reachedAddress(url.replace(/^http/iu, 'ws') + path, options),
    credentials: `${user}:${password}`,
    callSid: carrierCallId,
    accountSid: IDS.accountSid,
    from,
    to,
  };
  const line = await SimulatedExotelStream.open(target, clock, options.stream).catch((error: unknown) => {
    throw new CallRefused(`the media socket was refused: ${errorText(error)}`, [], error);
  });
  return {
    carrierCallId,
    line,
    said: [],
    digits: [],
    dialled: undefined,
    ended: line.ended,
    hangUp() {
      line.stop();
      return line.ended.then(() => undefined);
    },
  };
}
