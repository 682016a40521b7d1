import { z } from 'zod';
import { OffhookError } from '../kernel/errors.ts';

/** What a refused request told; `body` is its raw text, cut at 2,000 characters. */
export interface SpeechErrorFacts {
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly body?: string | undefined;
  readonly cause?: unknown;
}

/** Base of everything that the speech platform refused or failed at. */
export abstract class SpeechError extends OffhookError {
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly body: string | undefined;

  constructor(message: string, { status, requestId, body, cause }: SpeechErrorFacts = {}) {
    super(message, { cause, facts: { status, requestId } });
    this.status = status;
    this.requestId = requestId;
    this.body = body?.slice(0, MOST_BODY_CHARACTERS);
  }
}

/** The API key or the token was refused, or the account has no balance: the same request will be refused again. */
export class SpeechAuthError extends SpeechError {
  readonly code = 'OFFHOOK_SPEECH_AUTH';
  readonly retryable = false;
}

/** The request itself is wrong (400, 404, 413, 415, 422): it must be changed. */
export class SpeechRequestError extends SpeechError {
  readonly code = 'OFFHOOK_SPEECH_REQUEST';
  readonly retryable = false;
}

/** Too many requests (429). */
export class SpeechBusyError extends SpeechError {
  readonly code = 'OFFHOOK_SPEECH_BUSY';
  readonly retryable = true;
}

/** The platform failed or could not be reached (5xx, a reset, a timeout). */
export class SpeechUnavailableError extends SpeechError {
  readonly code = 'OFFHOOK_SPEECH_UNAVAILABLE';
  readonly retryable = true;
}

/** The platform sent something its documents do not allow. */
export class SpeechProtocolError extends SpeechError {
  readonly code = 'OFFHOOK_SPEECH_PROTOCOL';
  readonly retryable = false;
}

const MOST_BODY_CHARACTERS = 2_000;

const issue = z.looseObject({ msg: z.string(), loc: z.array(z.union([z.string(), z.number()])).optional() });
const body = z.looseObject({
  detail: z.union([z.string(), z.array(issue)]).optional(),
  message: z.string().optional(),
  error: z.union([z.string(), z.looseObject({ message: z.string() })]).optional(),
});

/** The sentence inside an error body of any shape that the platform or a proxy before it is known to send. */
export function errorMessage(text: string): string | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return text.trim() === ''
      ? undefined
      : text
          .replaceAll(/<[^>]*>/gu, ' ')
          .replaceAll(/\s+/gu, ' ')
          .trim()
          .slice(0, 200);
  }
  const known = body.safeParse(parsed);
  if (!known.success) return undefined;
  const { detail, message, error } = known.data;
  if (typeof detail === 'string') return detail;
  if (detail !== undefined)
    return detail.map(({ loc, msg }) => (loc === undefined ? msg : `${loc.join('.')}: ${msg}`)).join('; ');
  if (typeof error === 'string') return error;
  return error?.message ?? message;
}

/** The typed error of an HTTP answer. @param what names the request, for example `transcription` */
export function errorOfAnswer(what: string, status: number, text: string, requestId: string | undefined): SpeechError {
  const message = `${what}: ${errorMessage(text) ?? 'no reason given'} (HTTP ${status})`;
  const facts = { status, requestId, body: text };
  if (status === 401 || status === 402 || status === 403) return new SpeechAuthError(message, facts);
  if (status === 429) return new SpeechBusyError(message, facts);
  if (status >= 500) return new SpeechUnavailableError(message, facts);
  return new SpeechRequestError(message, facts);
}
