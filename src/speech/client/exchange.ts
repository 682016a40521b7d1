import { stayAwake } from '../../kernel/clock.ts';
import type { MaskSecret } from '../../kernel/mask-secret.ts';

/** One request and its answer, as long as somebody reads it. */
export class Exchange implements Disposable {
  readonly #onClose: () => void;
  /** Hides the credential of the request in what the server says. */
  readonly mask: MaskSecret;
  #response: Response | undefined;
  #isKept = false;
  #isClosed = false;

  /** @param onClose called once, however often it is closed */
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

  /** Whether whoever reads the body closes it. */
  get isKept(): boolean {
    return this.#isKept;
  }

  keep(): this {
    this.#isKept = true;
    return this;
  }

  /** The body as it arrives; leaving the loop breaks the transfer off. The exchange is closed at the end. */
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
        // Left in the middle, the platform must not go on making what nobody hears.
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
