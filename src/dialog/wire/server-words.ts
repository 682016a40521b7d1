import { maskSecret } from '../../kernel/mask-secret.ts';
import type { Secret } from '../../config/secrets.ts';
import type { DialogTurn } from '../port.ts';

const MOST_CHARACTERS = 300;
/** A shorter text occurs by chance. */
const LEAST_HIDDEN = 3;

/**
 * What a server said of its refusal, for logs and people at a terminal: on one line, short, without the key, the caller's number and
 * what was said in the call.
 */
export function serverWords(text: string, { input, history, call }: DialogTurn, secret: Secret | undefined): string {
  const key = secret === undefined ? text : maskSecret(secret.reveal(), '[key]')(text);
  const heard = input.kind === 'spoken' ? [input.text] : input.kind === 'keyed' ? [input.digits] : [];
  const personal = [...heard, ...history.map((entry) => entry.text), call.from].map((each) => each.trim());
  const hidden = personal
    .filter((each) => each.length >= LEAST_HIDDEN)
    .reduce((said, each) => maskSecret(each, '[…]')(said), key);
  const words = hidden.replaceAll(/\s+/gu, ' ').trim();
  return words.length > MOST_CHARACTERS ? `${words.slice(0, MOST_CHARACTERS)}…` : words;
}
