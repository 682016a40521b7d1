import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../kernel/clock.ts';
import { errorText } from '../../kernel/errors.ts';
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
import { dialTwilio, newCallSid, signedForm, signedWebhook, SimulatedCall } from './carrier.ts';
import { readTwiml, type Verb } from './twiml.ts';

export interface TwilioApiOptions extends ApiOptions {
  /** The interface is SignalWire's: its path, and documents that are fetched; reports are signed with this key, in its header. */
  readonly signalwire?: { readonly signingKey: string };
}

/** What SignalWire signs in. */
const SIGNALWIRE_HEADER = 'x-signalwire-signature';

const PATH = /^(?:\/api\/laml)?\/2010-04-01\/Accounts\/(?<account>[^/]+)\/Calls(?:\/(?<call>[^/]+))?\.json$/u;
const NUMBER = /^\+[1-9]\d{6,14}$/u;
const MOST_TWIML = 4000;

/**
 * The carrier's Call resource for simulated calls: orders (`POST Calls.json`), the list and single calls (`GET`), and updates of a
 * live call: `Status=completed` or `canceled` ends one, `Twiml` gives it another document. Whoever is called acts as
 * `onDial` says.
 */
export class SimulatedTwilioApi extends SimulatedApi<TwilioDialled, SimulatedCall> {
  readonly #accountSid: string;
  readonly #authToken: string;
  readonly #signalwire: TwilioApiOptions['signalwire'];

  constructor(accountSid: string, authToken: string, options: TwilioApiOptions = {}) {
    super(options, { status: 400, code: 21_211 });
    this.#accountSid = accountSid;
    this.#authToken = authToken;
    this.#signalwire = options.signalwire;
  }

  protected override async serve(request: IncomingMessage, reply: RestReply, drop: () => void): Promise<void> {
    if (request.headers.authorization !== basicOf(this.#accountSid, this.#authToken))
      return this.refuse(reply, { status: 401, code: 20_003, message: 'Authenticate' });
    const url = new URL(request.url ?? '/', 'http://carrier');
    const { account, call } = PATH.exec(url.pathname)?.groups ?? {};
    if (account !== this.#accountSid) return this.notFound(reply);
    const sid = call === undefined ? undefined : decodeURIComponent(call);
    if (request.method === 'GET') return sid === undefined ? this.#list(url.searchParams, reply) : this.read(sid, reply);
    if (request.method !== 'POST') return this.notFound(reply);
    const fields = new URLSearchParams(await bodyOf(request));
    return sid === undefined ? this.#ordered(fields, reply, drop) : this.#update(sid, fields, reply);
  }

  async #ordered(fields: URLSearchParams, reply: RestReply, drop: () => void): Promise<void> {
    const field = (name: string): string => fields.get(name) ?? '';
    const refuse = (code: number, message: string): void => this.refuse(reply, { status: 400, code, message });
    if (!NUMBER.test(field('To'))) return refuse(21_211, `The 'To' number ${field('To')} is not a valid phone number.`);
    if (!NUMBER.test(field('From'))) return refuse(21_212, `The 'From' number ${field('From')} is not a valid phone number.`);
    let document: readonly Verb[] | URL;
    try {
      if (this.#signalwire !== undefined) document = new URL(field('Url'));
      else {
        if (field('Twiml').length > MOST_TWIML) throw new SyntaxError('TwiML of more than 4000 characters');
        document = readTwiml(field('Twiml'));
      }
    } catch (error) {
      return refuse(12_100, errorText(error));
    }
    const asked: Omit<SimulatedOrder, 'index'> = {
      from: field('From'),
      to: field('To'),
      carrierCallId: newCallSid(),
      statusUrl: field('StatusCallback'),
      ringTimeoutMs: Number(fields.get('Timeout') ?? 60) * 1000,
      maxDurationMs: Number(fields.get('TimeLimit') ?? 14_400) * 1000,
      detectMachine: fields.has('MachineDetection'),
    };
    const about = {
      clock: this.clock,
      accountSid: this.#accountSid,
      authToken: this.#signalwire?.signingKey ?? this.#authToken,
      isSignalwire: this.#signalwire !== undefined,
      document,
      events: fields.getAll('StatusCallbackEvent'),
      detectionUrl: fields.get('AsyncAmdStatusCallback') ?? undefined,
    };
    const sideOf = (order: SimulatedOrder) => new TwilioDialled({ ...about, order });
    return this.order(asked, sideOf, { reply, drop }, (call, queueMs) => [
      201,
      { ...this.resource(call), status: 'queued', queue_time: String(queueMs) },
    ]);
  }

  #list(query: URLSearchParams, reply: RestReply): void {
    const isWanted = ({ phone: { order } }: PlacedCall<TwilioDialled>): boolean =>
      [order.to, null].includes(query.get('To')) && [order.from, null].includes(query.get('From'));
    const calls = this.dialled
      .list()
      .filter(isWanted)
      .slice(0, Number(query.get('PageSize') ?? 50));
    reply(200, { calls: calls.map((call) => this.resource(call)), page: 0, next_page_uri: null });
  }

  #update(sid: string, fields: URLSearchParams, reply: RestReply): void {
    const { call, phone } = this.live(sid) ?? {};
    if (call === undefined) return this.notFound(reply);
    try {
      if (['completed', 'canceled'].includes(fields.get('Status') ?? '')) {
        if (phone === undefined) void call.update([{ verb: 'hang-up' }]);
        else phone.cancel();
      } else if (this.#signalwire === undefined) void call.update(readTwiml(fields.get('Twiml') ?? ''));
      else void call.updateFrom(new URL(fields.get('Url') ?? '').href);
    } catch (error) {
      return this.refuse(reply, { status: 400, code: 12_100, message: errorText(error) });
    }
    return reply(200, { sid, status: phone === undefined ? 'in-progress' : resourceStatus(phone.state) });
  }

  protected override refuse(reply: RestReply, { status, code = 20_404, message }: Refusal): void {
    reply(status, { code, message, status });
  }

  protected override resource({ phone }: PlacedCall<TwilioDialled>): object {
    const { order, state, createdAtMs, answeredAtMs } = phone;
    const rfc2822 = (ms: number): string => new Date(ms).toUTCString().replace('GMT', '+0000');
    return {
      sid: order.carrierCallId,
      account_sid: this.#accountSid,
      from: order.from,
      to: order.to,
      direction: 'outbound-api',
      status: resourceStatus(state),
      date_created: rfc2822(createdAtMs),
      start_time: answeredAtMs === undefined ? null : rfc2822(answeredAtMs),
    };
  }
}

interface TwilioDialledOptions {
  readonly clock: Clock;
  readonly accountSid: string;
  readonly authToken: string;
  readonly order: SimulatedOrder;
  /** Or where it is fetched. */
  readonly document: readonly Verb[] | URL;
  readonly isSignalwire: boolean;
  /** `StatusCallbackEvent`s that the order asks for. */
  readonly events: readonly string[];
  /** Where detection is reported, if it is. */
  readonly detectionUrl: string | undefined;
}

/** `CallStatus`, and the event that asks for it. */
const STATUSES: Readonly<Record<DialledState, readonly [status: string, event: string]>> = {
  queued: ['initiated', 'initiated'],
  ringing: ['ringing', 'ringing'],
  answered: ['in-progress', 'answered'],
  completed: ['completed', 'completed'],
  busy: ['busy', 'completed'],
  'no-answer': ['no-answer', 'completed'],
  // A phone that declines is told from one that is busy by its SIP answer alone.
  rejected: ['busy', 'completed'],
  failed: ['failed', 'completed'],
  cancelled: ['canceled', 'completed'],
};
const DETECTED: Readonly<Record<Detection, string>> = {
  person: 'human',
  machine: 'machine_start',
  'machine-done': 'machine_end_beep',
  fax: 'fax',
  unknown: 'unknown',
};

/** A status as the Call resource has it. */
function resourceStatus(state: DialledState): string {
  return state === 'queued' ? 'queued' : STATUSES[state][0];
}

/** What Twilio does for a call that it dialled: signed callbacks, the media stream of the document, updates of the live call. */
class TwilioDialled extends DialledSide<SimulatedCall> {
  readonly #options: TwilioDialledOptions;
  readonly #header: string | undefined;
  #sequence = 0;

  constructor(options: TwilioDialledOptions) {
    const { clock, accountSid, authToken, order, isSignalwire: signalwire } = options;
    const { from, to, carrierCallId, statusUrl } = order;
    const header = signalwire ? SIGNALWIRE_HEADER : undefined;
    const about = { url: new URL(statusUrl).origin, authToken, clock, from, to, carrierCallId, accountSid, header };
    const carrier = signalwire ? 'signalwire' : 'twilio';
    super(
      ({ stream, tellEnd }) =>
        new SimulatedCall({
          ...about,
          carrier,
          direction: 'outbound-api',
          stream: Object.assign(stream, { signalwire }),
          tellEnd,
        }),
    );
    this.#options = options;
    this.#header = header;
  }

  async report(news: DialledNews): Promise<void> {
    const { authToken, accountSid, order, events, detectionUrl, clock } = this.#options;
    const { from, to, carrierCallId: callSid, statusUrl } = order;
    if ('detected' in news) {
      if (detectionUrl === undefined) return;
      const fields = {
        CallSid: callSid,
        AccountSid: accountSid,
        AnsweredBy: DETECTED[news.detected],
        MachineDetectionDuration: '2400',
      };
      await post(detectionUrl, signedForm(detectionUrl, authToken, fields, this.#header));
      return;
    }
    const [status, event] = STATUSES[news.state];
    if (!events.includes(event)) return;
    const more = {
      Direction: 'outbound-api',
      CallStatus: status,
      CallbackSource: 'call-progress-events',
      SequenceNumber: String(this.#sequence++),
      Timestamp: new Date(clock.wallMs()).toUTCString(),
      ...(news.sip === undefined ? {} : { SipResponseCode: String(news.sip) }),
      ...(news.code === undefined ? {} : { ErrorCode: news.code }),
    };
    await post(statusUrl, signedWebhook(statusUrl, authToken, { callSid, accountSid, from, to }, more, this.#header));
  }

  protected override answer(): Promise<CallerLine> {
    const { document } = this.#options;
    return document instanceof URL ? this.call.answerFrom(document.href) : this.call.answer(document);
  }
}

async function post(address: string, request: RequestInit): Promise<void> {
  const response = await fetch(address, { ...request, signal: AbortSignal.timeout(15_000) });
  await response.arrayBuffer();
}

const ACCOUNT = `AC${'5'.repeat(32)}`;
const AUTH_TOKEN = 'of-the-simulated-account';

export const simulatedTwilio: SimulatedCarrier = {
  name: 'twilio',
  newCallId: newCallSid,
  async open(options) {
    const api = await new SimulatedTwilioApi(ACCOUNT, AUTH_TOKEN, options).listen();
    const env = {
      OFFHOOK_TWILIO_ACCOUNT_SID: ACCOUNT,
      OFFHOOK_TWILIO_AUTH_TOKEN: AUTH_TOKEN,
      OFFHOOK_TWILIO_API_URL: api.url,
    };
    return api.account(env, (call) => dialTwilio({ ...call, authToken: AUTH_TOKEN, accountSid: ACCOUNT }));
  },
  place: ({ proof: authToken, ...call }) => dialTwilio({ ...call, authToken, accountSid: ACCOUNT }),
};

const PROJECT = 'f4d1c1a0-8f0e-4a3b-9c63-1d6c1f7f2a11';
const API_TOKEN = 'PT-of-the-simulated-project';
const SIGNING_KEY = 'PSK-of-the-simulated-project';

/** SignalWire looks like Twilio from outside: other ids, header, host and codecs, and a stream that is named in its start alone. */
export const simulatedSignalwire: SimulatedCarrier = {
  name: 'signalwire',
  newCallId: randomUUID,
  async open(options) {
    const signalwire = { signingKey: SIGNING_KEY };
    const api = await new SimulatedTwilioApi(PROJECT, API_TOKEN, { ...options, signalwire }).listen();
    const env = {
      OFFHOOK_SIGNALWIRE_SIGNING_KEY: SIGNING_KEY,
      OFFHOOK_SIGNALWIRE_PROJECT_ID: PROJECT,
      OFFHOOK_SIGNALWIRE_API_TOKEN: API_TOKEN,
      OFFHOOK_SIGNALWIRE_SPACE_URL: api.url,
    };
    return api.account(env, (call) => dialSignalwire(call, SIGNING_KEY));
  },
  place: (options) => dialSignalwire(options, options.proof),
};

function dialSignalwire(
  { carrierCallId = randomUUID(), stream, ...rest }: PlaceOptions,
  authToken: string,
): Promise<SimulatedCall> {
  const own = { carrier: 'signalwire', header: SIGNALWIRE_HEADER, accountSid: PROJECT, stream: { ...stream, signalwire: true } };
  return dialTwilio({ ...rest, ...own, carrierCallId, authToken });
}
