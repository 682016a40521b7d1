import type { Clock } from '../../kernel/clock.ts';
import type { Secret } from '../../config/secrets.ts';
import { errorText } from '../../kernel/errors.ts';
import type { DialogTurn } from '../port.ts';
import { Patience } from '../wire/patience.ts';
import { keyWithin, signedHeaders } from '../wire/signature.ts';

export interface WebTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly url: string;
}

/** What is told to a model of an answer. */
export const MOST_CHARACTERS = 8_000;

/**
 * Calls a bot's own tool: a POST of `{call, arguments}`. The same call in another attempt at the turn has the same idempotency
 * key; another call of the same tool has another one. Never rejects but for the signal: a tool that fails is told to
 * the model as a text, so that it can say so to the caller, and so is one that takes longer than `timeoutMs`.
 */
export async function callWebTool(
  tool: WebTool,
  args: unknown,
  { call, idempotencyKey }: DialogTurn,
  {
    clock,
    secret,
    timeoutMs,
    signal,
  }: { readonly clock: Clock; readonly secret: Secret | undefined; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<string> {
  const body = JSON.stringify({ call, arguments: args });
  const id = keyWithin(idempotencyKey, tool.name, JSON.stringify(args));
  const signed = secret === undefined ? {} : signedHeaders(secret.reveal(), id, clock.wallMs(), body);
  using patience = new Patience(clock, timeoutMs, 'the tool');
  try {
    const headers = { 'content-type': 'application/json', 'idempotency-key': id, ...signed };
    const response = await fetch(tool.url, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.any([signal, patience.signal]),
      redirect: 'error',
    });
    const text = await bounded(response);
    return response.ok ? text : `error: HTTP ${response.status} ${text}`;
  } catch (error) {
    if (signal.aborted) throw error;
    return `error: ${errorText(patience.signal.aborted ? patience.signal.reason : error)}`;
  }
}

async function bounded(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes as Uint8Array, { stream: true });
    if (text.length > MOST_CHARACTERS) return text.slice(0, MOST_CHARACTERS);
  }
  return text + decoder.decode();
}
