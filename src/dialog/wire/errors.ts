import { maskSecret } from '../../kernel/mask-secret.ts';
import type { Secret } from '../../config/secrets.ts';
import type { DialogTurn } from '../port.ts';
import { partiesOf } from '../../kernel/call-parties.ts';
import { OffhookError } from '../../kernel/errors.ts';

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
