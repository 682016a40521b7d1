import { OrderRefusedError } from '../call/control/supervision.ts';
import { CarrierControlError } from '../carriers/errors.ts';
import { errorText, OffhookError } from '../kernel/errors.ts';
import type { MediaProcessError, PeerError } from './errors.ts';
import { type Given, type OrderName, ORDERS, type Report } from './protocol.ts';

type Answer = Extract<Report, { readonly type: 'given' | 'refused' }>;

/** Answers a question that failed. */
export function refusedReport(id: number, error: unknown): Answer {
  const code = error instanceof OffhookError ? error.code : 'failed';
  return { type: 'refused', id, code, message: errorText(error) };
}

interface Pending {
  /** Closes what is left here of the socket that went with it. */
  readonly closeSocket: () => void;
  readonly resolve: (given: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Questions to a media process or another machine that are not answered yet. */
export class PendingAsks {
  readonly #pending = new Map<number, Pending>();
  readonly #Failure: typeof MediaProcessError | typeof PeerError;
  #nextId = 0;

  /** @param Failure stands for errors of the other side that callers do not handle by their class */
  constructor(Failure: typeof MediaProcessError | typeof PeerError) {
    this.#Failure = Failure;
  }

  /** @returns the number of the question, and its answer: the error of the other side where it failed there */
  add<Name extends OrderName>(
    name: Name,
    closeSocket: () => void = () => undefined,
  ): { id: number; answered: Promise<Given<Name>> } {
    const id = this.#nextId++;
    const answered = new Promise<unknown>((resolve, reject) => this.#pending.set(id, { closeSocket, resolve, reject }));
    return { id, answered: answered.then((given) => ORDERS[name].given.parse(given) as Given<Name>) };
  }

  settle(answer: Answer): void {
    const pending = this.#take(answer.id);
    if (answer.type === 'given') pending?.resolve(answer.given);
    else pending?.reject(this.#errorOf(answer.code, answer.message));
  }

  fail(id: number, error: Error): void {
    this.#take(id)?.reject(error);
  }

  /** The other side is gone. */
  failAll(error: Error): void {
    for (const { closeSocket, reject } of this.#pending.values()) {
      closeSocket();
      reject(error);
    }
    this.#pending.clear();
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  #errorOf(code: string, message: string): OffhookError {
    if (code === 'OFFHOOK_ORDER_REFUSED') return new OrderRefusedError(message);
    if (code === 'OFFHOOK_CARRIER_CONTROL') return new CarrierControlError(message, { retryable: false });
    return new this.#Failure(message, { facts: { reason: code } });
  }
}
