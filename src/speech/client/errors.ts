import { z } from 'zod';
import { OffhookError } from '../../kernel/errors.ts';

/** Longest raw body on an error, and longest server text in its message. */
const MOST_BODY_CHARACTERS = 2_000;
const MOST_MESSAGE_CHARACTERS = 500;

/** Facts of a refused request; `body` is its raw text, cut at 2,000 characters. */
export interface SpeechErrorFacts {
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly body?: string | undefined;
  readonly platformCode?: string | undefined;
  /** 1 when absent. */
  readonly attempts?: number | undefined;
  /** The wait that the server asked for (Retry-After). */
  readonly waitMs?: number | undefined;
  readonly cause?: unknown;
}

/** Base of all refusals and failures of the speech platform, and of other vendors of speech. */
export abstract class SpeechError extends OffhookError {
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly body: string | undefined;
  /** The platform's own error code; only Variant B has one (ASR doc, errors). */
  readonly platformCode: string | undefined;
  /** The wait that the server asked for; undefined where it named none. */
  readonly waitMs: number | undefined;
  /** Requests that were sent, retries included. */
  attempts: number;

  constructor(message: string, { status, requestId, body, platformCode, attempts = 1, waitMs, cause }: SpeechErrorFacts = {}) {
    super(message, { cause, facts: { status, requestId } });
    this.status = status;
    this.requestId = requestId;
    this.body = body?.slice(0, MOST_BODY_CHARACTERS);
    this.platformCode = platformCode;
    this.waitMs = waitMs;
    this.attempts = attempts;
  }

  /** Appends a note to the message, and to its copy in the stack. */
  addNote(note: string): void {
    const said = `${this.message}; ${note}`;
    this.stack = this.stack?.replace(this.message, () => said) ?? said;
    this.message = said;
  }
}

/** The API key or the token was refused, or the account has no balance. A retry does not help. */
export class SpeechAuthError extends SpeechError {
  readonly code = 'OFFHOOK_SPEECH_AUTH';
  readonly retryable = false;
}

/** The request is wrong (400, 404, 413, 415, 422). */
export class SpeechRequestError extends SpeechError {
  readonly code = 'OFFHOOK_SPEECH_REQUEST';
  readonly retryable = false;
}

/** Too many requests (429). */
export class SpeechBusyError extends SpeechError {
  readonly code = 'OFFHOOK_SPEECH_BUSY';
  readonly retryable = true;
}

/** No slot is free for a live session, or too many requests wait for one in this process; nothing was sent. */
export class SpeechOverloadedError extends SpeechError {
  readonly code = 'OFFHOOK_SPEECH_OVERLOADED';
  readonly retryable = true;
}

/** The platform reported a failure on a socket, without a status: whether a retry helps is unknown. */
export class SpeechFailedError extends SpeechError {
  readonly code = 'OFFHOOK_SPEECH_FAILED';
  readonly retryable = false;
}

/** The platform failed or could not be reached (5xx, a reset, a timeout). */
export class SpeechUnavailableError extends SpeechError {
  readonly code = 'OFFHOOK_SPEECH_UNAVAILABLE';
  readonly retryable = true;
}

/** The platform sent something that its documents do not allow. */
export class SpeechProtocolError extends SpeechError {
  readonly code = 'OFFHOOK_SPEECH_PROTOCOL';
  readonly retryable = false;
}

const issue = z.union([
  z.string(),
  z.looseObject({ msg: z.string(), loc: z.array(z.union([z.string(), z.number()])).optional() }),
]);
// Each field is read by itself: a malformed one must not hide the message in another.
const body = z.looseObject({
  detail: z
    .union([z.string(), z.array(issue), z.looseObject({ message: z.string() })])
    .optional()
    .catch(undefined),
  err_msg: z.string().optional().catch(undefined),
  message: z.string().optional().catch(undefined),
  error: z
    .union([z.string(), z.looseObject({ message: z.string().nullish(), code: z.string().nullish() })])
    .optional()
    .catch(undefined),
});

/** The message in an error body, in any shape that the platform or a proxy is known to send. */
export function errorMessage(text: string): string | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return proxyText(text);
  }
  if (typeof parsed === 'string') return cut(parsed);
  const known = body.safeParse(parsed);
  if (!known.success) return undefined;
  const { detail, message, error, err_msg: errorText } = known.data;
  if (typeof detail === 'string') return cut(detail);
  if (Array.isArray(detail)) return cut(detail.map(issueText).join('; '));
  if (detail !== undefined) return cut(detail.message);
  if (typeof error === 'string') return cut(error);
  return cut(error?.message ?? message ?? errorText ?? error?.code ?? undefined);
}

const coded = z.looseObject({ error: z.looseObject({ code: z.string().min(1) }) });

/** The code inside an error body of Variant B: `{success: false, error: {code, message}}`. */
function platformCode(text: string): string | undefined {
  try {
    return coded.safeParse(JSON.parse(text)).data?.error.code.slice(0, 80);
  } catch {
    return undefined;
  }
}

const AUTH_CODES: ReadonlySet<string> = new Set(['authentication_error', 'AUTH_FAILED']);

/** What a failure is that has no HTTP status. */
export type FailureKind = 'auth' | 'request' | 'busy' | 'unavailable' | 'protocol' | 'failed';

/** The typed error of a failure on a socket, which has no status. @param kind found from the code when absent */
export function failureOf(
  what: string,
  { error, code, kind }: { readonly error: string; readonly code: string | undefined; readonly kind?: FailureKind | undefined },
): SpeechError {
  const message = `${what}: ${error}`;
  const facts = { platformCode: code };
  switch (kind ?? (code !== undefined && AUTH_CODES.has(code) ? 'auth' : 'failed')) {
    case 'auth':
      return new SpeechAuthError(`${message}; the API key is wrong, revoked, or its account has no balance`, facts);
    case 'request':
      return new SpeechRequestError(message, facts);
    case 'busy':
      return new SpeechBusyError(message, facts);
    case 'unavailable':
      return new SpeechUnavailableError(message, facts);
    case 'protocol':
      return new SpeechProtocolError(message, facts);
    case 'failed':
      return new SpeechFailedError(message, facts);
  }
}

/** The first words of a proxy's HTML page or of a plain text. */
function proxyText(text: string): string | undefined {
  const words = text
    .slice(0, MOST_BODY_CHARACTERS)
    .replaceAll(/<(script|style)\b.*?<\/\1>|<[^>]*>/gisu, ' ')
    .replaceAll(/\s+/gu, ' ')
    .trim();
  return words === '' ? undefined : words.slice(0, 200);
}

function issueText(problem: z.output<typeof issue>): string {
  if (typeof problem === 'string') return problem;
  const { loc = [], msg } = problem;
  return loc.length === 0 ? msg : `${loc.join('.')}: ${msg}`;
}

function cut(text: string | undefined): string | undefined {
  const words = text?.trim();
  return words === undefined || words === '' ? undefined : words.slice(0, MOST_MESSAGE_CHARACTERS);
}

/** What is known of a refused request beside its answer's body. */
export interface AnswerFacts {
  /** As `retryAfterMs` reads it. */
  readonly waitMs?: number | undefined;
  /** What to do about a refused credential; the platform's advice when absent. */
  readonly keyAdvice?: string | undefined;
}

/** The typed error of an HTTP answer. @param what names the request, for example `transcription` */
export function errorOfAnswer(
  what: string,
  status: number,
  text: string,
  requestId: string | undefined,
  { waitMs, keyAdvice }: AnswerFacts = {},
): SpeechError {
  const message = `${what}: ${errorMessage(text) ?? 'no reason given'} (HTTP ${status})`;
  const facts = { status, requestId, body: text, platformCode: platformCode(text), waitMs };
  if (status >= 300 && status < 400)
    return new SpeechRequestError(`${message}; redirects are not followed: give the address it points to`, facts);
  switch (status) {
    case 401:
      return new SpeechAuthError(
        `${message}; ${keyAdvice ?? 'the access token is missing, malformed or expired; check that the addresses belong together'}`,
        facts,
      );
    case 402:
    case 403:
      return new SpeechAuthError(
        `${message}; ${keyAdvice ?? 'the credential is wrong, revoked, lacks the permission or has no balance'}`,
        facts,
      );
    case 413:
      return new SpeechRequestError(`${message}; send a smaller file`, facts);
    case 415:
      return new SpeechRequestError(`${message}; send wav, mp3, flac, ogg, m4a, mp4 or webm`, facts);
    case 429:
      return new SpeechBusyError(`${message}; lower the number of calls or ask for a higher tier`, facts);
    default:
      return status >= 500 ? new SpeechUnavailableError(message, facts) : new SpeechRequestError(message, facts);
  }
}
