import type { Secret } from '../../config/secrets.ts';
import { sleep } from '../../kernel/waiting.ts';
import { type BackoffPolicy, backoffDelayMs } from '../../kernel/backoff.ts';
import { traceHeaders } from '../../observability/trace-context.ts';
import type { Clock } from '../../kernel/clock.ts';
import { errorText } from '../../kernel/errors.ts';
import { amountOf } from '../../language/index.ts';
import type { DialogTurn } from '../port.ts';
import { DialogTimeoutError, AnswerDeadline, keyWithin, signedHeaders } from '../wire.ts';
import type { FlowState } from './flow-state.ts';
import type { Flow, Slot, StateDocument } from './schema.ts';

export type RequestDocument = NonNullable<StateDocument['request']>;

/** The server that gets a flow's requests. */
export interface FlowServer {
  readonly url: string;
  /** Signs the requests; unsigned without it. */
  readonly secret: Secret | undefined;
}

/** One request of a flow. */
export interface FlowRequest {
  readonly document: RequestDocument;
  readonly body: string;
  /** The same for the same request and values in every attempt at a turn, else unique. */
  readonly idempotencyKey: string;
  readonly traceHeaders: Readonly<Record<string, string>>;
}

/** `failure` is a key of `failed`; `why` is for the record, without words of caller or server. */
export type RequestOutcome =
  | { readonly ok: true; readonly values: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly failure: string; readonly why: string };

type Failure = Extract<RequestOutcome, { ok: false }>;

/** Waits between tries; short, as the caller waits. */
const RETRY: BackoffPolicy = { firstMs: 200, factor: 2, maxMs: 1_000, jitter: 0.5 };
/** Statuses worth a retry, which the idempotency key makes safe. */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);
const MOST_ANSWER_BYTES = 64 * 1024;
/** The longest value of a slot; a flow's `set` has the same limit. */
const LONGEST_VALUE = 500;

/** The request of the flow's current state. @throws RangeError for a state without one */
export function requestAt(flow: Flow, { at, slots }: FlowState, { call, index, idempotencyKey }: DialogTurn): FlowRequest {
  const document = flow.states[at]?.request;
  if (document === undefined) throw new RangeError(`the state ${at} has no request`);
  const known = Object.entries(slots).filter(([name, value]) => value !== '' && (document.send?.includes(name) ?? true));
  const body = JSON.stringify({ version: 1, call, request: at, variables: Object.fromEntries(known) });
  return {
    document,
    body,
    idempotencyKey: keyWithin(idempotencyKey, at, body),
    traceHeaders: traceHeaders(call.callId, index),
  };
}

/**
 * Sends a request, with retries as its state says; redirects are not followed.
 * @returns the answer's values by slot, or the reason for having none; never rejects
 */
export async function sendRequest(
  flow: Flow,
  server: FlowServer,
  request: FlowRequest,
  clock: Clock,
  random: () => number = Math.random,
): Promise<RequestOutcome> {
  const { tries } = request.document;
  for (let tried = 1; ; tried += 1) {
    const outcome = await attempt(flow, server, request, clock);
    const passing = !outcome.ok && 'passing' in outcome && outcome.passing;
    if (!passing || tried >= tries) {
      return outcome.ok ? outcome : { ok: false, failure: outcome.failure, why: `${outcome.why} (tries: ${tried})` };
    }
    await sleep(clock, backoffDelayMs(RETRY, tried - 1, random()));
  }
}

async function attempt(
  flow: Flow,
  { url, secret }: FlowServer,
  { document, body, idempotencyKey, traceHeaders: trace }: FlowRequest,
  clock: Clock,
): Promise<RequestOutcome | (Failure & { passing: boolean })> {
  using deadline = new AnswerDeadline(clock, document.timeoutMs, 'the server');
  try {
    const response = await fetch(url.replace(/\/+$/u, '') + document.path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'idempotency-key': idempotencyKey,
        ...trace,
        ...(secret === undefined ? {} : signedHeaders(secret.reveal(), idempotencyKey, clock.wallMs(), body)),
      },
      body,
      signal: deadline.signal,
      redirect: 'manual',
    });
    if (!response.ok) {
      await response.body?.cancel();
      const { status } = response;
      return { ok: false, failure: String(status), why: `HTTP ${status}`, passing: PASSING.has(status) };
    }
    if (Object.keys(document.answer).length === 0) {
      await response.body?.cancel();
      return { ok: true, values: {} };
    }
    const text = await bounded(response);
    return text === undefined
      ? { ok: false, failure: 'answer', why: `the answer has more than ${MOST_ANSWER_BYTES} bytes` }
      : valuesOf(flow, document, text);
  } catch (error) {
    if (deadline.signal.reason instanceof DialogTimeoutError)
      return { ok: false, failure: 'timeout', why: `no answer within ${document.timeoutMs} ms`, passing: true };
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    return { ok: false, failure: 'unreachable', why: `cannot be reached: ${errorText(cause)}`, passing: true };
  }
}

async function bounded(response: Response): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const part of response.body ?? []) {
    const piece = part as Uint8Array;
    bytes += piece.length;
    if (bytes > MOST_ANSWER_BYTES) return undefined;
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

/** Reads an answer's fields into slots. A null field clears its slot; a missing one is a failure. */
function valuesOf(flow: Flow, { answer }: RequestDocument, text: string): RequestOutcome {
  const failure = (why: string): Failure => ({ ok: false, failure: 'answer', why: `the answer ${why}` });
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return failure('is not readable as JSON');
  }
  const values: Record<string, string> = {};
  for (const [name, field] of Object.entries(answer)) {
    const raw = field.split('.').reduce<unknown>(fieldOf, parsed);
    if (raw === undefined) return failure(`has no field ${field}`);
    const slot = flow.slots[name];
    const value = slot === undefined ? undefined : valueFor(slot, raw);
    if (value === undefined) return failure(`has a field ${field} that is no ${slot?.kind ?? 'value'}`);
    values[name] = value;
  }
  return { ok: true, values };
}

function fieldOf(node: unknown, name: string): unknown {
  if (typeof node !== 'object' || node === null || !Object.hasOwn(node, name)) return undefined;
  return (node as Record<string, unknown>)[name]; // Own properties only.
}

/** A field of an answer in its slot's form; undefined when it does not fit. */
function valueFor(slot: Slot, raw: unknown): string | undefined {
  if (raw === null) return '';
  if (typeof raw === 'boolean')
    return slot.kind === 'yes-no' ? (raw ? 'yes' : 'no') : slot.kind === 'text' ? String(raw) : undefined;
  const value = typeof raw === 'number' ? String(raw) : typeof raw === 'string' ? raw.trim() : undefined;
  if (value === undefined || value.length > LONGEST_VALUE) return undefined;
  // Numbers may have floating-point digits.
  if (slot.kind === 'money') return typeof raw === 'number' || formOf(slot).test(value) ? amountOf(value) : undefined;
  return formOf(slot).test(value) && (slot.kind !== 'choice' || Object.hasOwn(slot.options, value)) ? value : undefined;
}

function formOf(slot: Slot): RegExp {
  switch (slot.kind) {
    case 'day':
      return /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/u;
    case 'time':
      return /^(?:[01]\d|2[0-3]):[0-5]\d$/u;
    case 'digits':
      return /^\d+$/u;
    case 'yes-no':
      return /^(?:yes|no)$/u;
    case 'phone':
      return /^\+\d{7,15}$/u;
    case 'money':
      return /^-?\d+(?:\.\d{1,2})?$/u;
    case 'choice':
    case 'code':
    case 'email':
    case 'name':
    case 'text':
      return /./su;
  }
}
