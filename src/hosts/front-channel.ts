import type { Socket } from 'node:net';
import type { NumberedNews } from '../call/log/followed-news.ts';
import type { LegAddresses, LegDoor, OpenLeg } from '../call/transfer/agent-legs.ts';
import { MediaProcessError } from './errors.ts';
import { refusedReport } from './answers.ts';
import { ask, type Assignment, assignment, type Handlers, obey, type ProcessOrderName, type Report } from './protocol.ts';

type OrderName = Exclude<ProcessOrderName, 'assign'>;

/** What a media process does when it is asked. */
export type OrderHandlers = Handlers<OrderName>;

/** News of followed calls that the channel has not taken, since the front does not read. */
const MOST_UNSENT_NEWS = 500;

/** The part of `process` that a child talks to its parent with. */
interface ParentPort {
  readonly connected: boolean;
  send?: ((message: Report, done: (error: Error | null) => void) => boolean) | undefined;
  on(event: 'message', listener: (message: unknown, socket: unknown) => void): unknown;
}

interface Order {
  readonly id: number;
  readonly name: OrderName;
  readonly asked: unknown;
  readonly socket: Socket | undefined;
}

/** The way from a media process to its front: obeys orders, and reports. */
export class FrontChannel {
  /** What this process is to do; the front says so first. */
  readonly assigned: Promise<Assignment>;
  readonly #port: ParentPort;
  #unsentNews = 0;
  #handlers: OrderHandlers | undefined;
  /** Orders that came before `serve`. */
  #waiting: Order[] = [];

  constructor(port: ParentPort) {
    this.#port = port;
    this.assigned = new Promise((resolve) => {
      port.on('message', (message, handle) => {
        const { id, name, asked } = ask.parse(message);
        if (name === 'assign') {
          resolve(assignment.parse(asked));
          this.report({ type: 'given', id, given: null });
          return;
        }
        const order = { id, name, asked, socket: isSocket(handle) ? handle : undefined };
        if (this.#handlers === undefined) this.#waiting.push(order);
        else this.#obey(this.#handlers, order);
      });
    });
  }

  /** A front that is gone hears nothing; the process ends for that by itself. */
  report(report: Report): void {
    // The callback takes the error of a channel that closes under the message, which would be an uncaught one.
    if (this.#port.connected) this.#port.send?.(report, () => undefined);
  }

  /** News that a front would read too late is dropped, which it sees by the numbers; the end of a call is told always. */
  tellNews(news: NumberedNews): void {
    if (this.#unsentNews >= MOST_UNSENT_NEWS && news.news.type !== 'ended') return;
    if (!this.#port.connected) return;
    this.#unsentNews += 1;
    this.#port.send?.({ type: 'news', ...news }, () => (this.#unsentNews -= 1));
  }

  /** Obeys from now on; what fails is told and ends nothing. */
  serve(handlers: OrderHandlers): void {
    this.#handlers = handlers;
    for (const order of this.#waiting) this.#obey(handlers, order);
    this.#waiting = [];
  }

  #obey(handlers: OrderHandlers, { id, name, asked, socket }: Order): void {
    obey(handlers, name, asked, socket).then(
      (given) => this.report({ type: 'given', id, given }),
      (error: unknown) => {
        socket?.destroy();
        this.report(refusedReport(id, error));
      },
    );
  }
}

interface WaitingLeg {
  readonly resolve: (addresses: LegAddresses) => void;
  readonly reject: (error: MediaProcessError) => void;
}

/** Asks the front, which has the port, for the addresses of agents' legs. */
export class LegsAtFront implements LegDoor {
  readonly #channel: Pick<FrontChannel, 'report'>;
  readonly #waiting = new Map<string, WaitingLeg>();

  constructor(channel: Pick<FrontChannel, 'report'>) {
    this.#channel = channel;
  }

  /** @throws MediaProcessError when the leg is closed before the front has answered, or the front has none */
  addresses(leg: OpenLeg, ringMs: number): Promise<LegAddresses> {
    const given = new Promise<LegAddresses>((resolve, reject) => this.#waiting.set(leg.legId, { resolve, reject }));
    this.#channel.report({ type: 'leg', ...leg, ringMs });
    return given;
  }

  placed({ legId, carrier }: OpenLeg, carrierCallId: string): void {
    this.#channel.report({ type: 'leg-placed', legId, carrier, carrierCallId });
  }

  closed({ legId }: OpenLeg): void {
    // A call that waits for the addresses would wait for ever, and hold up a process that ends.
    this.refused(legId, "the agent's leg was closed before it had addresses");
    this.#channel.report({ type: 'leg-over', legId });
  }

  given({ legId, ...addresses }: LegAddresses & { readonly legId: string }): void {
    this.#waiting.get(legId)?.resolve(addresses);
    this.#waiting.delete(legId);
  }

  refused(legId: string, problem: string): void {
    this.#waiting.get(legId)?.reject(new MediaProcessError(problem));
    this.#waiting.delete(legId);
  }
}

function isSocket(handle: unknown): handle is Socket {
  return typeof handle === 'object' && handle !== null && 'destroy' in handle;
}
