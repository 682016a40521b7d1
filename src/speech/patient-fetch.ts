import { Agent } from 'undici';

/**
 * `fetch` on connections of its own, without limits of its own: the runtime's gives up when the head of an answer, or the
 * next piece of its body, takes 300 s, and an hour of audio takes longer. Every request here has a deadline, which decides.
 */
export class PatientFetch implements AsyncDisposable {
  readonly #agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  readonly fetch: typeof fetch;

  constructor() {
    // The runtime's types are of another release of the same library.
    const dispatcher = this.#agent as unknown as NonNullable<RequestInit['dispatcher']>;
    this.fetch = (input, init) => globalThis.fetch(input, { ...init, dispatcher });
  }

  /** Closes the connections, idle ones and those in use. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.destroy();
  }
}
