import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { z } from 'zod';
import { errorText } from '../../kernel/errors.ts';
import type { Clock } from '../../kernel/clock.ts';
import { parseJson } from '../../kernel/json.ts';
import { SimulatedAudioSocket, SimulatedWebSocketChannel } from './streams.ts';
import type { DialledNews, DialledState, OnDial, SimulatedOrder } from '../caller/callee.ts';
import type { CallerLine } from '../caller/caller.ts';
import { reachedAddress } from '../carrier-wire.ts';
import { gatewayPath, mediaAddress } from '../carrier-call.ts';
import {
  basicOf,
  bodyOf,
  DialledSide,
  type PlacedCall,
  type Refusal,
  type RestReply,
  SimulatedApi,
} from '../dialling-carrier.ts';
import { CallRefused } from '../errors.ts';
import type {
  AccountOptions,
  PlaceAtOptions,
  PlaceOptions,
  SimulatedAccount,
  SimulatedCarrier,
  SimulatedCarrierCall,
} from '../simulated-carrier.ts';

/*
 * An Asterisk of ours with the dialplan of examples/asterisk, from its own side: calls that it connects to the gateway by chan_websocket or AudioSocket, and its
 * REST interface, as Asterisk 22.10.1 was seen to answer.
 */

/** How the dialplan reaches the gateway. */
export type MediaTarget =
  | { readonly way: 'websocket'; readonly password: string; readonly form: 'words' | 'json' }
  | { readonly way: 'audiosocket'; readonly password: string; readonly port: number };

/** A call that the dialplan has connected to the gateway, or is about to. */
export class SimulatedAsteriskCall implements SimulatedCarrierCall {
  readonly carrierCallId: string;
  readonly said: string[] = [];
  readonly digits: string[] = [];
  readonly ended: Promise<void>;
  /** Whom it was sent to; `line` has ended then. */
  dialled: string | undefined;
  /** Where the dialplan has it. */
  context = 'offhook';
  joinedWith: SimulatedAsteriskCall | undefined;
  isOver = false;
  readonly #target: MediaTarget;
  #line: SimulatedWebSocketChannel | SimulatedAudioSocket | undefined;
  #end: () => void = () => undefined;

  constructor(carrierCallId: string, target: MediaTarget) {
    this.carrierCallId = carrierCallId;
    this.#target = target;
    this.ended = new Promise((resolve) => {
      this.#end = () => {
        this.isOver = true;
        resolve();
      };
    });
  }

  get line(): SimulatedWebSocketChannel | SimulatedAudioSocket {
    if (this.#line === undefined) throw new Error('the call has no media stream');
    return this.#line;
  }

  /** @param token of a call that the gateway dialled. @throws CallRefused; the call is over then */
  async connect(options: PlaceOptions, token?: string): Promise<CallerLine> {
    const line = await this.#open(options, token).catch((error: unknown) => {
      // The dialplan plays that somebody else should be called, and hangs up.
      this.#end();
      throw error instanceof CallRefused ? error : new CallRefused(`the media was refused: ${errorText(error)}`, [], error);
    });
    this.#line = line;
    void line.ended.then(() => {
      if (this.context === 'offhook') this.#end();
    });
    return line;
  }

  async #open(options: PlaceOptions, token: string | undefined): Promise<SimulatedWebSocketChannel | SimulatedAudioSocket> {
    const { clock, stream, from = '+15550100001', to = '+15550100002', url } = options;
    const target = this.#target;
    const authorization = basicOf('offhook', target.password);
    const body = new URLSearchParams(token === undefined ? { call: this.carrierCallId, from, to } : { token });
    if (target.way === 'websocket') {
      const about = { authorization, channelId: `${this.carrierCallId}-m`, form: target.form };
      const channel = { ...about, url: mediaAddress('asterisk', options, `?${body.toString()}`) };
      return SimulatedWebSocketChannel.open(channel, clock, stream);
    }
    const asked = reachedAddress(url + gatewayPath('audiosocket', 'voice', options), options);
    const signal = AbortSignal.timeout(10_000);
    const response = await fetch(asked, { method: 'POST', headers: { authorization }, body, signal });
    const uuid = await response.text();
    if (!response.ok || !/^[0-9a-f-]{36}$/u.test(uuid)) throw new CallRefused(`no UUID but ${response.status} ${uuid}`, []);
    return SimulatedAudioSocket.open({ host: new URL(asked).hostname, port: target.port, uuid }, clock, stream);
  }

  /** The dialplan takes the call out of what it is doing. */
  redirect(context: string, extension: string): void {
    this.context = context;
    if (context === 'offhook-transfer') this.dialled = extension;
    this.#line?.stop();
  }

  join(other: SimulatedAsteriskCall): void {
    this.joinedWith = other;
    other.joinedWith = this;
    other.redirect('offhook-join', '');
  }

  async hangUp(): Promise<void> {
    this.#line?.stop();
    await this.#line?.ended;
    this.#end();
  }
}

export interface AsteriskOptions {
  readonly clock: Clock;
  readonly username: string;
  readonly ariPassword: string;
  readonly target: MediaTarget;
  readonly onDial?: OnDial | undefined;
}

const creation = z.object({
  endpoint: z.string(),
  context: z.string(),
  extension: z.string(),
  callerId: z.string().default(''),
  channelId: z.string().default(''),
  variables: z.record(z.string(), z.string()),
});
const STATES: Partial<Record<DialledState, string>> = { queued: 'Down', ringing: 'Ringing', answered: 'Up' };

/** ARI of that Asterisk, on a free loopback port. */
export class SimulatedAsterisk extends SimulatedApi<AsteriskDialled, SimulatedAsteriskCall> {
  readonly #options: AsteriskOptions;

  constructor(options: AsteriskOptions) {
    super(options, { status: 400, code: 'Unable to create channel' });
    this.#options = options;
  }

  /** A call comes in, and the dialplan connects it to the gateway. @throws CallRefused */
  async place(options: PlaceOptions): Promise<SimulatedAsteriskCall> {
    const id = options.carrierCallId ?? newChannelId(options.clock);
    const call = this.register(new SimulatedAsteriskCall(id, this.#options.target));
    await call.connect(options);
    return call;
  }

  protected override async serve(request: IncomingMessage, reply: RestReply, drop: () => void): Promise<void> {
    const { username, ariPassword } = this.#options;
    if (request.headers.authorization !== basicOf(username, ariPassword))
      return this.refuse(reply, { status: 401, message: 'Authentication required' });
    const { pathname } = new URL(request.url ?? '/', 'http://asterisk');
    if (request.method === 'GET' && pathname === '/ari/bridges') return reply(200, this.#bridges);
    if (request.method === 'POST' && pathname === '/ari/channels') return this.#create(await bodyOf(request), reply, drop);
    const id = /^\/ari\/channels\/([^/]+)$/u.exec(pathname)?.[1];
    const found = id === undefined ? undefined : this.#channel(decodeURIComponent(id));
    if (found === undefined) return this.notFound(reply);
    if (request.method === 'DELETE') {
      found.end();
      return reply(204);
    }
    const { call, state } = found;
    return reply(200, { id, name: `PJSIP/phone-${id}`, state, dialplan: { context: call.context, exten: 's', priority: 1 } });
  }

  get #bridges(): object[] {
    const joined = [...this.calls.values(), ...this.dialled.calls.map(({ side }) => side.call)];
    return joined.flatMap(({ carrierCallId, joinedWith }) =>
      joinedWith === undefined ? [] : [{ id: randomUUID(), channels: [carrierCallId, joinedWith.carrierCallId] }],
    );
  }

  #channel(id: string): { readonly call: SimulatedAsteriskCall; readonly state: string; readonly end: () => void } | undefined {
    const dialled = this.dialled.find(id);
    if (dialled !== undefined) {
      const { phone, side } = dialled;
      return phone.isOver ? undefined : { call: side.call, state: STATES[phone.state] ?? 'Up', end: () => phone.cancel() };
    }
    const call = this.calls.get(id);
    return call === undefined || call.isOver ? undefined : { call, state: 'Up', end: () => void call.hangUp() };
  }

  async #create(text: string, reply: RestReply, drop: () => void): Promise<void> {
    const parsed = creation.safeParse(parseJson(text));
    if (!parsed.success) return this.refuse(reply, { status: 400, message: 'Invalid parameters' });
    const { endpoint, variables } = parsed.data;
    const local = /^Local\/(?<extension>.+)@(?<context>[\w-]+)(?:\/n)?$/u.exec(endpoint)?.groups;
    if (local === undefined) return reply(500, { error: 'Allocation failed' });
    if (local['context'] === 'offhook-dial') return this.#dial(parsed.data, local['extension'] ?? '', reply, drop);
    const call = this.#channel(variables['OFFHOOK_CHANNEL'] ?? '')?.call;
    if (local['extension'] === 'keys') call?.digits.push(variables['OFFHOOK_DIGITS'] ?? '');
    if (local['extension'] === 'redirect') {
      const { OFFHOOK_CONTEXT: context = '', OFFHOOK_EXTEN: extension = '' } = variables;
      call?.redirect(context, extension);
      const other = context === 'offhook-join' ? this.#channel(extension)?.call : undefined;
      if (other !== undefined) call?.join(other);
    }
    reply(200, { id: newChannelId(this.#options.clock), name: `${endpoint};1`, state: 'Down' });
  }

  async #dial(asked: z.output<typeof creation>, to: string, reply: RestReply, drop: () => void): Promise<void> {
    const { callerId: from, channelId: carrierCallId, variables } = asked;
    if (this.#channel(carrierCallId) !== undefined)
      return this.refuse(reply, { status: 409, message: 'Channel with given unique ID already exists' });
    const { OFFHOOK_STATUS_URL: statusUrl = '', OFFHOOK_TOKEN: token = '' } = variables;
    const order: Omit<SimulatedOrder, 'index'> = {
      from,
      to,
      carrierCallId,
      statusUrl,
      ringTimeoutMs: Number(variables['OFFHOOK_RING_SECONDS']) * 1000,
      maxDurationMs: Number(variables['OFFHOOK_MOST_SECONDS']) * 1000,
      detectMachine: false,
    };
    const { clock, target } = this.#options;
    const sideOf = (placed: SimulatedOrder) => new AsteriskDialled(placed, { clock, target, token });
    return this.order(order, sideOf, { reply, drop }, (call) => [200, this.resource(call)]);
  }

  protected override refuse(reply: RestReply, { status, code, message }: Refusal): void {
    reply(status, { message, error: code });
  }

  protected override resource({ phone: { order } }: PlacedCall<AsteriskDialled>): object {
    return { id: order.carrierCallId, name: `Local/${order.to}@offhook-dial;1`, state: 'Down' };
  }
}

/** What the dialplan says of each step: `DIALSTATUS`, the Q.850 cause. That a phone rings, it does not say. */
const REPORTS: Partial<Record<DialledState, readonly [status: string, cause: string]>> = {
  queued: ['DIALING', ''],
  answered: ['UP', ''],
  completed: ['ANSWER', '16'],
  busy: ['BUSY', '17'],
  'no-answer': ['NOANSWER', '19'],
  rejected: ['BUSY', '21'],
  failed: ['CONGESTION', '34'],
  cancelled: ['CANCEL', '0'],
};

interface AsteriskDialledOptions {
  readonly clock: Clock;
  readonly target: MediaTarget;
  readonly token: string;
}

class AsteriskDialled extends DialledSide<SimulatedAsteriskCall> {
  readonly #order: SimulatedOrder;
  readonly #options: AsteriskDialledOptions;

  constructor(order: SimulatedOrder, options: AsteriskDialledOptions) {
    super(() => new SimulatedAsteriskCall(order.carrierCallId, options.target));
    this.#order = order;
    this.#options = options;
  }

  async report(news: DialledNews): Promise<void> {
    const [status, cause] = 'state' in news ? (REPORTS[news.state] ?? []) : [];
    if (status === undefined || !('state' in news)) return;
    const authorization = basicOf('offhook', this.#options.target.password);
    const tech = news.sip === undefined ? '' : `SIP ${news.sip} Some Words`;
    const body = new URLSearchParams({ call: this.#order.carrierCallId, status, cause: cause ?? '', tech });
    const signal = AbortSignal.timeout(15_000);
    await fetch(this.#order.statusUrl, { method: 'POST', headers: { authorization }, body, signal });
  }

  protected override answer(): Promise<CallerLine> {
    const { clock, token } = this.#options;
    const { statusUrl, from, to } = this.#order;
    return this.call.connect({ url: new URL(statusUrl).origin, clock, from, to, stream: this.stream }, token);
  }
}

let channels = 0;

/** The second of a channel's birth and a number, as Asterisk has them. */
function newChannelId(clock: Clock): string {
  channels += 1;
  return `${Math.floor(clock.wallMs() / 1000)}.${channels}`;
}

const PASSWORD = 'of-the-simulated-asterisk';
const ARI_PASSWORD = 'of-its-rest-interface';

export const simulatedAsterisk: SimulatedCarrier = {
  name: 'asterisk',
  open: (options) => account('ASTERISK', options, { way: 'websocket', password: PASSWORD, form: 'words' }),
  place: (options) => placeAt(options, { way: 'websocket', password: options.proof, form: 'json' }),
};

export const simulatedAudiosocket: SimulatedCarrier = {
  name: 'audiosocket',
  async open(options) {
    const port = await freePort();
    return account(
      'AUDIOSOCKET',
      options,
      { way: 'audiosocket', password: PASSWORD, port },
      { OFFHOOK_AUDIOSOCKET_PORT: `${port}` },
    );
  },
  place: (options) => placeAt(options, { way: 'audiosocket', password: options.proof, port: Number(options.settings['port']) }),
};

async function account(
  name: string,
  { clock, onDial }: AccountOptions,
  target: MediaTarget,
  more: Readonly<Record<string, string>> = {},
): Promise<SimulatedAccount> {
  const account = { username: 'offhook', ariPassword: ARI_PASSWORD, target };
  const asterisk = await new SimulatedAsterisk({ clock, onDial, ...account }).listen();
  const env = {
    [`OFFHOOK_${name}_PASSWORD`]: PASSWORD,
    [`OFFHOOK_${name}_ARI_URL`]: asterisk.url,
    [`OFFHOOK_${name}_ARI_PASSWORD`]: ARI_PASSWORD,
    ...more,
  };
  return asterisk.account(env, (call) => asterisk.place(call));
}

async function placeAt(options: PlaceAtOptions, target: MediaTarget): Promise<SimulatedAsteriskCall> {
  const id = options.carrierCallId ?? `${Math.floor(options.clock.wallMs() / 1000)}.1`;
  const call = new SimulatedAsteriskCall(id, target);
  await call.connect(options);
  return call;
}

/** The gateway listens there later: nobody else is given the same one soon. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
