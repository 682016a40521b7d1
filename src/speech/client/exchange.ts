import { stayAwake } from '../../kernel/clock.ts';
import type { MaskSecret } from '../../kernel/mask-secret.ts';

/** One HTTP request and its answer, until the answer is read or closed. */
export class Exchange implements Disposable {
  readonly #onClose: () => void;
  /** Masks the request's credential in the server's texts. */
  readonly mask: MaskSecret;
  #response: Response | undefined;
  #isKept = false;
  #isClosed = false;

  /** @param onClose called at the first close */
  constructor(onClose: () => void, mask: MaskSecret) {
    this.#onClose = onClose;
    this.mask = mask;
  }

  begin(response: Response): void {
    this.#response = response;
  }

  get response(): Response {
    if (this.#response === undefined) throw new TypeError('there is no answer yet');
    return this.#response;
  }

  get requestId(): string | undefined {
    const id = this.#response?.headers.get('x-request-id') ?? undefined;
    return id === undefined ? undefined : this.mask(id);
  }

  /** Whether the reader of the body closes it. */
  get isKept(): boolean {
    return this.#isKept;
  }

  keep(): this {
    this.#isKept = true;
    return this;
  }

  /** The body as it arrives; leaving the loop ends the transfer. Closes the exchange at the end. */
  async *body(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      const reader = this.#response?.body?.getReader();
      if (reader === undefined) return;
      try {
        for (;;) {
          const { done, value } = await stayAwake(reader.read());
          if (done) return;
          yield value;
        }
      } finally {
        // The reader left early: the platform must stop its work.
        await reader.cancel().catch(() => undefined);
      }
    } finally {
      this.close();
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onClose();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
