import { maskSecret } from '../kernel/mask-secret.ts';
import type { Secret } from '../config/secrets.ts';
import type { DialogTurn, DialogAction } from './port.ts';
import { partiesOf } from '../kernel/call-parties.ts';
import { OffhookError } from '../kernel/errors.ts';
import { createHash } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { Clock, Timer } from '../kernel/clock.ts';

/** A bot's server could not be reached, refused, or broke off. The message never holds words of the bot or the caller. */
export class DialogServerError extends OffhookError {
  readonly code = 'OFFHOOK_DIALOG_SERVER';
  readonly retryable: boolean;

  constructor(message: string, options: { readonly retryable: boolean; readonly cause?: unknown }) {
    super(message, options);
    this.retryable = options.retryable;
  }
}

/** A bot's server did not answer in time. */
export class DialogTimeoutError extends OffhookError {
  readonly code = 'OFFHOOK_DIALOG_TIMEOUT';
  readonly retryable = true;
}

const MOST_CHARACTERS = 300;
/** Shorter texts are not masked: they occur by chance. */
const LEAST_HIDDEN = 3;

/**
 * The text of a server's refusal for logs and terminals: one short line with the key, the person's number and the words of the
 * call masked.
 */
export function serverWords(text: string, { input, history, call }: DialogTurn, secret: Secret | undefined): string {
  const key = secret === undefined ? text : maskSecret(secret.reveal(), '[key]')(text);
  const heard = input.kind === 'spoken' ? [input.text] : input.kind === 'keyed' ? [input.digits] : [];
  const personal = [...heard, ...history.map((entry) => entry.text), partiesOf(call).person].map((each) => each.trim());
  const hidden = personal
    .filter((each) => each.length >= LEAST_HIDDEN)
    .reduce((said, each) => maskSecret(each, '[…]')(said), key);
  const words = hidden.replaceAll(/\s+/gu, ' ').trim();
  return words.length > MOST_CHARACTERS ? `${words.slice(0, MOST_CHARACTERS)}…` : words;
}

const PREFIX = 'whsec_';

/**
 * Headers that prove to a server that a request is from this gateway, in the Standard Webhooks format.
 * @param secret `whsec_` and base64 as in the format; the bytes of any other text are the key themselves
 */
export function signedHeaders(secret: string, id: string, atWallMs: number, body: string): Record<string, string> {
  const webhook = secret.startsWith(PREFIX) ? new Webhook(secret) : new Webhook(secret, { format: 'raw' });
  const at = new Date(atWallMs);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(atWallMs / 1000)),
    'webhook-signature': webhook.sign(id, at, body),
  };
}

/**
 * The idempotency key of one request within a turn: the same for the same content in every attempt at the turn, else unique.
 * @param turnKey the turn's own idempotency key
 * @param name of the request, such as a tool's name
 */
export function keyWithin(turnKey: string, name: string, content: string): string {
  return `${turnKey}.${name}.${createHash('sha256').update(content).digest('hex').slice(0, 16)}`;
}

/**
 * A deadline for a server that streams its answer: it restarts with everything the server sends, and all waits together have a
 * limit. It is paused while an action is being spoken, since that takes longer than a server may be silent.
 */
export class AnswerDeadline implements Disposable {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #whom: string;
  readonly #totalMs: number;
  readonly #expired = new AbortController();
  #timer: Timer | undefined;
  #sinceMs = 0;
  /** The length of this wait, and what remains of it. */
  #waitMs = 0;
  #waitLeftMs = 0;
  #totalLeftMs: number;

  /**
   * @param whom the server's name in errors, for example `the bot's server`
   * @param totalMs limit of all waits together
   */
  constructor(clock: Clock, limitMs: number, whom: string, totalMs = Infinity) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#whom = whom;
    this.#totalMs = totalMs;
    this.#totalLeftMs = totalMs;
    this.renew();
  }

  /** Aborts with a DialogTimeoutError when a limit has passed. */
  get signal(): AbortSignal {
    return this.#expired.signal;
  }

  /** Starts a new wait. @param limitMs for this wait only */
  renew(limitMs = this.#limitMs): void {
    this.pause();
    this.#waitMs = limitMs;
    this.#waitLeftMs = limitMs;
    this.resume();
  }

  /** Stops the clock until `resume` or `renew`. */
  pause(): void {
    if (this.#timer === undefined) return;
    this.#timer.cancel();
    this.#timer = undefined;
    const waitedMs = this.#clock.nowMs() - this.#sinceMs;
    this.#waitLeftMs -= waitedMs;
    this.#totalLeftMs -= waitedMs;
  }

  /** Continues a paused wait. */
  resume(): void {
    this.#sinceMs = this.#clock.nowMs();
    this.#timer ??= this.#clock.after(Math.max(0, Math.min(this.#waitLeftMs, this.#totalLeftMs)), () => {
      const isTotal = this.#totalLeftMs < this.#waitLeftMs;
      const said = isTotal ? `took ${this.#totalMs} ms for one turn, all waits together` : `said nothing for ${this.#waitMs} ms`;
      this.#expired.abort(new DialogTimeoutError(`${this.#whom} ${said}`));
    });
  }

  /** Yields the actions of an answer, with a new wait after each one; an empty `say` and a count of usage do not restart it. */
  async *deliver(actions: AsyncIterable<DialogAction>): AsyncGenerator<DialogAction> {
    for await (const action of actions) {
      this.pause();
      yield action;
      if (action.type === 'usage' || (action.type === 'say' && action.text.trim() === '')) this.resume();
      else this.renew();
    }
  }

  [Symbol.dispose](): void {
    this.pause();
  }
}
