import { errorOf, type MediaProcessError, type PeerError } from './errors.ts';
import { type Given, type OrderName, ORDERS, type Report } from './protocol.ts';

interface Pending {
  /** Closes what is left here of the socket that went with it. */
  readonly closeSocket: () => void;
  readonly resolve: (given: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** What somebody else was asked and has not answered: a media process, or another machine. */
export class PendingAsks {
  readonly #pending = new Map<number, Pending>();
  readonly #Failure: typeof MediaProcessError | typeof PeerError;
  #nextId = 0;

  /** @param Failure what an error is here that has no class of its own on this side */
  constructor(Failure: typeof MediaProcessError | typeof PeerError) {
    this.#Failure = Failure;
  }

  /** @returns the number of the question, and what it is answered with: the error of whoever obeyed, where it failed there */
  add<Name extends OrderName>(
    name: Name,
    closeSocket: () => void = () => undefined,
  ): { id: number; answered: Promise<Given<Name>> } {
    const id = this.#nextId++;
    const answered = new Promise<unknown>((resolve, reject) => this.#pending.set(id, { closeSocket, resolve, reject }));
    return { id, answered: answered.then((given) => ORDERS[name].given.parse(given) as Given<Name>) };
  }

  settle(answer: Extract<Report, { readonly type: 'given' | 'refused' }>): void {
    const pending = this.#take(answer.id);
    if (answer.type === 'given') pending?.resolve(answer.given);
    else pending?.reject(errorOf(answer.code, answer.message, this.#Failure));
  }

  fail(id: number, error: Error): void {
    this.#take(id)?.reject(error);
  }

  /** Whoever was asked is gone. */
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
}
