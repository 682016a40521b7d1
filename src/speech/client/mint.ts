import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { headerSafe } from './credentials.ts';
import { withDeadline } from './deadline.ts';
import {
  errorMessage,
  errorOfAnswer,
  SpeechAuthError,
  type SpeechError,
  SpeechProtocolError,
  SpeechRequestError,
  SpeechUnavailableError,
} from './errors.ts';
import { maskSecret } from '../../kernel/mask-secret.ts';
import { readText } from '../../kernel/bounded-reading.ts';
import { parseJson } from '../../kernel/json.ts';
import { type Refusal, retryAfterMs } from './retry-after.ts';
import { serviceUrl } from './settings.ts';

export interface MintOptions {
  readonly authUrl: string;
  readonly apiKey: string;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  /** Lifetime to ask for, in whole seconds. */
  readonly lifeSeconds: number;
  readonly closing: AbortSignal | undefined;
}

/** A new token, and its lifetime from the moment of the request. */
export interface Minted {
  readonly token: string;
  readonly askedAtMs: number;
  readonly lifeMs: number;
}

const answer = z.looseObject({
  token: z.string().regex(headerSafe),
  expires_in: z.number().positive().optional().catch(undefined),
  expires_at: z.union([z.string(), z.number()]).optional().catch(undefined),
});

/** Lifetime when the answer states none (document 1, limits). */
const DEFAULT_LIFE_MS = 900_000;
/** No token lives longer (document 1, limits). */
const MOST_LIFE_MS = 86_400_000;
const TIMEOUT_MS = 10_000;
const MOST_ANSWER_BYTES = 64 * 1024;

/**
 * One request for a token: `POST {auth_url}/api/auth/token`, the key in the `api-key` header and nowhere else (document 1).
 * @throws SpeechProtocolError for an answer without a token; the reason of `closing` when it aborts
 */
export async function mintToken(options: MintOptions): Promise<Minted | Refusal> {
  const { authUrl, apiKey, clock, closing, lifeSeconds } = options;
  if (!headerSafe.test(apiKey)) {
    const message = 'the API key is empty or has a space, a line break or another odd character; check that it is whole';
    return { error: new SpeechRequestError(message), waitMs: undefined };
  }
  const url = serviceUrl(authUrl, '/api/auth/token');
  url.searchParams.set('expires_in', String(lifeSeconds));
  const askedAtMs = clock.nowMs();
  let response: Response;
  let text: string;
  try {
    [response, text] = await withDeadline(clock, TIMEOUT_MS, [closing], async (signal) => {
      const headers = { 'api-key': apiKey, accept: 'application/json' };
      const given = await options.fetch(url, { method: 'POST', headers, redirect: 'manual', signal });
      return [given, await readText(given, MOST_ANSWER_BYTES)];
    });
  } catch (cause) {
    closing?.throwIfAborted();
    return {
      error: new SpeechUnavailableError(`${url.origin} gives no token: ${reasonOf(cause)}`, { cause }),
      waitMs: undefined,
    };
  }
  if (!response.ok) {
    const waitMs = retryAfterMs(response.headers.get('retry-after'), clock.wallMs());
    return { error: refusal(response.status, maskSecret(apiKey, '[key]')(text)), waitMs };
  }
  const parsed = answer.safeParse(parseJson(text));
  if (!parsed.success) throw new SpeechProtocolError('the token service answered without a token', { status: response.status });
  return { token: parsed.data.token, askedAtMs, lifeMs: lifeMs(parsed.data, clock.wallMs()) };
}

/** From `expires_in`, or else `expires_at` (ISO 8601; Unix seconds from older services). */
function lifeMs({ expires_in: seconds, expires_at: at }: z.output<typeof answer>, wallMs: number): number {
  if (seconds !== undefined) return Math.min(MOST_LIFE_MS, seconds * 1000);
  const epochMs = typeof at === 'number' ? at * 1000 : Date.parse(at ?? '');
  return Number.isNaN(epochMs) ? DEFAULT_LIFE_MS : Math.min(MOST_LIFE_MS, Math.max(1_000, epochMs - wallMs));
}

function refusal(status: number, text: string): SpeechError {
  const facts = { status, body: text };
  const said = `token request: ${errorMessage(text) ?? 'no reason given'} (HTTP ${status})`;
  if (status === 400) return new SpeechRequestError(`${said}; check that the API key is whole`, facts);
  if (status === 401 || status === 402 || status === 403)
    return new SpeechAuthError(`${said}; the API key is wrong, revoked, or its account has no balance`, facts);
  return errorOfAnswer('token request', status, text, undefined);
}

/** Why there is no answer, and what to do. */
function reasonOf(cause: unknown): string {
  return cause instanceof SpeechUnavailableError ? cause.message : 'it cannot be reached; check the address and the network';
}
