import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { sleep } from '../kernel/waiting.ts';
import {
  type CarrierSide,
  type DialledNews,
  DialledPhone,
  type OnDial,
  type OrderAnswer,
  type SimulatedOrder,
} from './caller/callee.ts';
import type { CallerLine } from './caller/caller.ts';
import type { LineOptions } from './carrier-line.ts';
import type { PlaceOptions, SimulatedAccount, SimulatedCarrierCall } from './simulated-carrier.ts';

export interface DialledCallsOptions {
  readonly clock: Clock;
  /** Who is at the other end of each order. */
  readonly onDial: OnDial;
  /** How long the carrier's list of calls lags behind. */
  readonly listLagMs?: number;
}

/** What a carrier answers an order with: a call, a refusal, or nothing, when the connection is to be closed. */
export type Ordered<Side extends CarrierSide> =
  | { readonly kind: 'placed'; readonly call: PlacedCall<Side>; readonly queueMs: number }
  | ({ readonly kind: 'refused' } & Refusal)
  | { readonly kind: 'lost' };

export interface PlacedCall<Side extends CarrierSide> {
  readonly phone: DialledPhone;
  readonly side: Side;
}

/** The calls that one simulated carrier dialled, whatever its REST interface looks like. */
export class DialledCalls<Side extends CarrierSide> {
  /** Every order that came, refused ones too, oldest first. */
  readonly orders: SimulatedOrder[] = [];
  readonly #options: DialledCallsOptions;
  readonly #calls = new Map<string, PlacedCall<Side>>();

  constructor(options: DialledCallsOptions) {
    this.#options = options;
  }

  /** Calls that were placed, oldest first. */
  get calls(): readonly PlacedCall<Side>[] {
    return [...this.#calls.values()];
  }

  find(carrierCallId: string): PlacedCall<Side> | undefined {
    return this.#calls.get(carrierCallId);
  }

  /** Calls that the carrier's list shows by now, newest first. */
  list(): readonly PlacedCall<Side>[] {
    const { clock, listLagMs = 0 } = this.#options;
    const untilMs = clock.wallMs() - listLagMs;
    return this.calls.filter(({ phone }) => phone.createdAtMs <= untilMs).toReversed();
  }

  /** Takes an order, or does whatever its callee's script says. @param sideOf makes the carrier's part of the call */
  async order(asked: Omit<SimulatedOrder, 'index'>, sideOf: (order: SimulatedOrder) => Side): Promise<Ordered<Side>> {
    const { clock, onDial } = this.#options;
    const order: SimulatedOrder = { ...asked, index: this.orders.length };
    this.orders.push(order);
    const callee = onDial(order);
    const answer: OrderAnswer = callee.order ?? { kind: 'taken' };
    if (answer.kind === 'refused') {
      const { status, code, message = 'The order was refused.' } = answer;
      return { kind: 'refused', status, code, message };
    }
    const isPlaced = answer.kind === 'taken' || answer.placed;
    const side = isPlaced ? sideOf(order) : undefined;
    const call = side && { side, phone: new DialledPhone(order, callee, clock, side) };
    if (call !== undefined) this.#calls.set(order.carrierCallId, call);
    if (answer.kind !== 'fault' && answer.afterMs !== undefined) await sleep(clock, answer.afterMs);
    if (answer.kind === 'fault') return { kind: 'refused', status: answer.status, code: undefined, message: 'Internal error' };
    if (answer.kind === 'lost' || call === undefined) return { kind: 'lost' };
    return { kind: 'placed', call, queueMs: answer.queueMs ?? 0 };
  }

  /** Ends every call there is. */
  async close(): Promise<void> {
    for (const { phone } of this.#calls.values()) phone.cancel();
    await Promise.all(this.calls.map(({ phone }) => phone.over));
  }
}

/** What the interface of a simulated account may be given. */
export interface ApiOptions {
  /** The system's when absent. */
  readonly clock?: Clock;
  /** Who is at the other end of each call that is ordered; nobody can be called when absent. */
  readonly onDial?: OnDial | undefined;
  /** How long the list of calls lags behind. */
  readonly listLagMs?: number;
}

/** Why a request is refused. */
export interface Refusal {
  readonly status: number;
  readonly code?: number | string | undefined;
  readonly message: string;
}

/**
 * The REST interface of one simulated account, on a free loopback port after `listen`: the calls that came in (`register`) and those
 * that were ordered (`dialled`). A carrier adds `serve`, its paths and fields, and the words of its answers.
 */
export abstract class SimulatedApi<
  Side extends CarrierSide & { readonly call?: Call | undefined },
  Call extends SimulatedCarrierCall = SimulatedCarrierCall,
> implements AsyncDisposable {
  readonly dialled: DialledCalls<Side>;
  protected readonly clock: Clock;
  /** Calls that came in. */
  protected readonly calls = new Map<string, Call>();
  #rest: SimulatedRest | undefined;

  /** @param nobody how an order is refused where nobody can be called */
  constructor(options: ApiOptions, nobody: { readonly status: number; readonly code?: number | string }) {
    this.clock = options.clock ?? systemClock;
    const refuses: OnDial = () => ({
      order: { kind: 'refused', message: 'Nobody can be called here', ...nobody },
      outcome: { kind: 'no-answer' },
    });
    this.dialled = new DialledCalls({ ...options, clock: this.clock, onDial: options.onDial ?? refuses });
  }

  /** Answers one request. @param drop closes its connection without an answer */
  protected abstract serve(request: IncomingMessage, reply: RestReply, drop: () => void): Promise<void> | void;

  /** A refusal in the carrier's words. */
  protected abstract refuse(reply: RestReply, refusal: Refusal): void;

  /** A call that was ordered, as the interface shows it. */
  protected abstract resource(call: PlacedCall<Side>): object;

  protected notFound(reply: RestReply): void {
    this.refuse(reply, { status: 404, message: 'The requested resource was not found' });
  }

  /** Shows one call that was ordered. */
  protected read(id: string, reply: RestReply): void {
    const call = this.dialled.find(id);
    if (call === undefined) this.notFound(reply);
    else reply(200, this.resource(call));
  }

  async listen(): Promise<this> {
    this.#rest = await SimulatedRest.start(
      () => this.clock.wallMs(),
      async (request, reply, response) => this.serve(request, reply, () => response.destroy()),
    );
    return this;
  }

  get url(): string {
    return this.#rest?.url ?? '';
  }

  /** Makes a call that came in known to the interface. @returns the call */
  register(call: Call): Call {
    this.calls.set(call.carrierCallId, call);
    return call;
  }

  /** A call that is not over, with its phone where it was dialled. */
  protected live(id: string): { readonly call: Call; readonly phone: DialledPhone | undefined } | undefined {
    const { side, phone } = this.dialled.find(id) ?? {};
    const call = side?.call ?? this.calls.get(id);
    return call === undefined || phone?.isOver === true ? undefined : { call, phone };
  }

  /** Takes an order and answers it. @param words of an order that was placed */
  protected async order(
    asked: Omit<SimulatedOrder, 'index'>,
    sideOf: (order: SimulatedOrder) => Side,
    { reply, drop }: { readonly reply: RestReply; readonly drop: () => void },
    words: (call: PlacedCall<Side>, queueMs: number) => readonly [status: number, body: object],
  ): Promise<void> {
    const ordered = await this.dialled.order(asked, sideOf);
    switch (ordered.kind) {
      case 'lost':
        return drop();
      case 'refused':
        return this.refuse(reply, ordered);
      case 'placed':
        return reply(...words(ordered.call, ordered.queueMs));
    }
  }

  /** The account with this interface. @param dial has a call come in; it is registered */
  account(env: SimulatedAccount['env'], dial: (options: PlaceOptions) => Promise<Call>): SimulatedAccount {
    return {
      env,
      place: async (options) => this.register(await dial(options)),
      [Symbol.asyncDispose]: () => this[Symbol.asyncDispose](),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dialled.close();
    await this.#rest?.[Symbol.asyncDispose]();
  }
}

/** What a carrier does for a call that it dialled. A carrier adds its reports, and what it does at the answer. */
export abstract class DialledSide<Call extends Pick<SimulatedCarrierCall, 'ended' | 'hangUp'>> implements CarrierSide {
  readonly call: Call;
  readonly ended: Promise<unknown>;
  /** Of the call's media stream; `light` is known at the answer. */
  protected readonly stream: LineOptions & { light: boolean };

  /** @param callOf makes the call; its `tellEnd` tells nothing, as the phone reports the end with whatever came before it */
  constructor(callOf: (about: { readonly stream: LineOptions; readonly tellEnd: () => Promise<unknown> }) => Call) {
    this.stream = { light: true };
    this.call = callOf({ stream: this.stream, tellEnd: () => Promise.resolve() });
    this.ended = this.call.ended;
  }

  abstract report(news: DialledNews): Promise<unknown>;
  /** Opens the media stream of the order. */
  protected abstract answer(): Promise<CallerLine>;

  open(fullMedia: boolean, stream: LineOptions = {}): Promise<CallerLine> {
    Object.assign(this.stream, stream, { light: !fullMedia });
    return this.answer();
  }

  hangUp(): Promise<void> {
    return this.call.hangUp();
  }
}

/** A REST interface on a free loopback port. Its answers are dated by the carrier's clock. */
export class SimulatedRest implements AsyncDisposable {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(
    wallMs: () => number,
    serve: (request: IncomingMessage, answer: RestReply, response: ServerResponse) => Promise<void>,
  ): Promise<SimulatedRest> {
    const server = createServer((request, response) => {
      const reply: RestReply = (status, body) => {
        response.sendDate = false;
        const headers = { 'content-type': 'application/json', date: new Date(wallMs()).toUTCString() };
        response.writeHead(status, headers).end(body === undefined ? '' : JSON.stringify(body));
      };
      serve(request, reply, response).catch(() => request.socket.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new SimulatedRest(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export type RestReply = (status: number, body?: object) => void;

const MOST_BODY_BYTES = 100_000;

export async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const part of request.setEncoding('utf8')) {
    body += part as string;
    if (body.length > MOST_BODY_BYTES) throw new RangeError('the body is too large');
  }
  return body;
}

/** The value of an `authorization` header with Basic credentials. */
export function basicOf(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}
