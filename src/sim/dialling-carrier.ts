import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../kernel/clock.ts';
import { sleep } from '../kernel/waiting.ts';
import { type CarrierSide, DialledPhone, type OnDial, type OrderAnswer, type SimulatedOrder } from './caller/callee.ts';

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
  | { readonly kind: 'refused'; readonly status: number; readonly code: number | string | undefined; readonly message: string }
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
