import type { IncomingMessage } from 'node:http';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import type { OnDial, SimulatedOrder } from '../caller/callee.ts';
import { bodyOf, DialledCalls, type PlacedCall, type RestReply, SimulatedRest } from '../dialling-carrier.ts';
import { newCallSid, type SimulatedCall } from './carrier.ts';
import { resourceStatus, TwilioDialled } from './dialled.ts';
import { readTwiml, type Verb } from './twiml.ts';

export interface TwilioApiOptions {
  readonly clock?: Clock;
  /** Who is at the other end of each call that is ordered; nobody can be called when absent. */
  readonly onDial?: OnDial;
  /** How long the list of calls lags behind. */
  readonly listLagMs?: number;
  /** The interface is SignalWire's: its path, and documents that are fetched; reports are signed with this key, in its header. */
  readonly signalwire?: { readonly signingKey: string };
}

/** What SignalWire signs in. */
export const SIGNALWIRE_HEADER = 'x-signalwire-signature';

const PATH = /^(?:\/api\/laml)?\/2010-04-01\/Accounts\/(?<account>[^/]+)\/Calls(?:\/(?<call>[^/]+))?\.json$/u;
const NUMBER = /^\+[1-9]\d{6,14}$/u;
const MOST_TWIML = 4000;

/**
 * The carrier's Call resource for simulated calls: orders (`POST Calls.json`), the list and single calls (`GET`), and updates of a
 * live call: `Status=completed` or `canceled` ends one, `Twiml` gives it another document. Whoever is called acts as
 * `onDial` says.
 */
export class SimulatedTwilioApi implements AsyncDisposable {
  readonly dialled: DialledCalls<TwilioDialled>;
  readonly #accountSid: string;
  readonly #authToken: string;
  readonly #clock: Clock;
  readonly #signalwire: TwilioApiOptions['signalwire'];
  readonly #calls = new Map<string, SimulatedCall>();
  #rest: SimulatedRest | undefined;

  private constructor(accountSid: string, authToken: string, options: TwilioApiOptions) {
    this.#accountSid = accountSid;
    this.#authToken = authToken;
    this.#clock = options.clock ?? systemClock;
    this.#signalwire = options.signalwire;
    const nobody: OnDial = () => ({
      order: { kind: 'refused', status: 400, code: 21_211, message: 'Nobody can be called here' },
      outcome: { kind: 'no-answer' },
    });
    this.dialled = new DialledCalls({ onDial: nobody, ...options, clock: this.#clock });
  }

  /** Listens on a free loopback port. */
  static async start(accountSid: string, authToken: string, options: TwilioApiOptions = {}): Promise<SimulatedTwilioApi> {
    const api = new SimulatedTwilioApi(accountSid, authToken, options);
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
  register(call: SimulatedCall): void {
    this.#calls.set(call.callSid, call);
  }

  async #serve(request: IncomingMessage, reply: RestReply, drop: () => void): Promise<void> {
    const authorization = `Basic ${Buffer.from(`${this.#accountSid}:${this.#authToken}`).toString('base64')}`;
    if (request.headers.authorization !== authorization) return reply(401, { code: 20_003, message: 'Authenticate' });
    const url = new URL(request.url ?? '/', 'http://carrier');
    const { account, call } = PATH.exec(url.pathname)?.groups ?? {};
    if (account !== this.#accountSid) return notFound(reply);
    const sid = call === undefined ? undefined : decodeURIComponent(call);
    if (request.method === 'GET') return sid === undefined ? this.#list(url.searchParams, reply) : this.#read(sid, reply);
    if (request.method !== 'POST') return notFound(reply);
    const fields = new URLSearchParams(await bodyOf(request));
    return sid === undefined ? this.#order(fields, reply, drop) : this.#update(sid, fields, reply);
  }

  async #order(fields: URLSearchParams, reply: RestReply, drop: () => void): Promise<void> {
    const field = (name: string): string => fields.get(name) ?? '';
    const refuse = (code: number, message: string): void => reply(400, { code, message, status: 400 });
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
      return refuse(12_100, error instanceof Error ? error.message : 'Document parse failure');
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
    const ordered = await this.dialled.order(asked, (order) => {
      const signed = { authToken: this.#signalwire?.signingKey ?? this.#authToken };
      const about = { clock: this.#clock, accountSid: this.#accountSid, ...signed, isSignalwire: this.#signalwire !== undefined };
      const events = fields.getAll('StatusCallbackEvent');
      return new TwilioDialled({
        ...about,
        order,
        document,
        events,
        detectionUrl: fields.get('AsyncAmdStatusCallback') ?? undefined,
      });
    });
    switch (ordered.kind) {
      case 'lost':
        return drop();
      case 'refused':
        return reply(ordered.status, { code: ordered.code, message: ordered.message, status: ordered.status });
      case 'placed':
        return reply(201, { ...this.#resource(ordered.call), status: 'queued', queue_time: String(ordered.queueMs) });
    }
  }

  #list(query: URLSearchParams, reply: RestReply): void {
    const isWanted = ({ phone: { order } }: PlacedCall<TwilioDialled>): boolean =>
      [order.to, null].includes(query.get('To')) && [order.from, null].includes(query.get('From'));
    const calls = this.dialled
      .list()
      .filter(isWanted)
      .slice(0, Number(query.get('PageSize') ?? 50));
    reply(200, { calls: calls.map((call) => this.#resource(call)), page: 0, next_page_uri: null });
  }

  #read(sid: string, reply: RestReply): void {
    const call = this.dialled.find(sid);
    if (call === undefined) notFound(reply);
    else reply(200, this.#resource(call));
  }

  #update(sid: string, fields: URLSearchParams, reply: RestReply): void {
    const dialled = this.dialled.find(sid);
    const call = dialled?.side.call ?? this.#calls.get(sid);
    if (call === undefined || dialled?.phone.isOver === true) return notFound(reply);
    try {
      if (['completed', 'canceled'].includes(fields.get('Status') ?? '')) {
        if (dialled === undefined) void call.update([{ verb: 'hang-up' }]);
        else dialled.phone.cancel();
      } else if (this.#signalwire === undefined) void call.update(readTwiml(fields.get('Twiml') ?? ''));
      else void call.updateFrom(new URL(fields.get('Url') ?? '').href);
    } catch (error) {
      return reply(400, { code: 12_100, message: error instanceof Error ? error.message : 'Document parse failure' });
    }
    return reply(200, { sid, status: dialled === undefined ? 'in-progress' : resourceStatus(dialled.phone.state) });
  }

  #resource({ phone }: PlacedCall<TwilioDialled>): object {
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dialled.close();
    await this.#rest?.[Symbol.asyncDispose]();
  }
}

function notFound(reply: RestReply): void {
  reply(404, { code: 20_404, message: 'The requested resource was not found', status: 404 });
}
