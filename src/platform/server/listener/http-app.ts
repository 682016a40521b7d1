import { type FastifyInstance, fastify, type FastifyError, type HTTPMethods } from 'fastify';
import { randomUUID } from 'node:crypto';
import { sleep } from '../../../kernel/waiting.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { clientSignal } from './limits.ts';
import { Refusal } from './refusal.ts';
import type { FaultDice } from '../faults/faults.ts';
import { limitBodyTime } from '../../../kernel/body-time.ts';
import { OffhookError, errorText } from '../../../kernel/errors.ts';
import type { Logger } from '../../../observability/logger.ts';
import { portOwner } from '../../../kernel/port-owner.ts';

export interface HttpAppOptions {
  /** The listener's name in logs. */
  readonly service: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Largest body other than multipart. */
  readonly bodyLimitBytes: number;
  /** Time a whole request may take to arrive. */
  readonly requestTimeoutMs: number;
  /** The same for a body other than multipart, and for the rest of any body after the answer. */
  readonly bodyTimeoutMs: number;
  /** The body of an error; `{detail}` when absent (ASR doc, errors). */
  readonly errorBody?: (refusal: Refusal) => unknown;
}

const methods: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Creates the Fastify application of a listener: request ids, documented errors, 404 and 405, one log line per request without
 * credentials. It does not listen yet.
 */
export function createHttpApp(options: HttpAppOptions): FastifyInstance {
  const { clock, logger } = options;
  const errorBody = options.errorBody ?? ((refusal: Refusal) => ({ detail: refusal.detail }));
  const app = fastify({
    logger: false,
    genReqId: () => randomUUID(),
    bodyLimit: options.bodyLimitBytes,
    requestTimeout: options.requestTimeoutMs,
    keepAliveTimeout: 65_000,
    connectionTimeout: 0,
    // A request refused early leaves its body unread: the connection is closed instead of drained.
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 200 },
    // The target of a request that reaches no route may contain a token, so it is not shown.
    frameworkErrors: (error, request, reply) => {
      const text = JSON.stringify(errorBody(new Refusal(400, 'The request target is malformed', { cause: error })));
      reply.raw.writeHead(400, { 'content-type': 'application/json', 'x-request-id': request.id }).end(text);
    },
  });
  const startedMs = new WeakMap<object, number>();

  app.addHook('onRequest', async (request, reply) => {
    startedMs.set(request, clock.nowMs());
    reply.header('x-request-id', request.id);
  });
  app.addHook('onResponse', async (request, reply) => {
    logger.debug(
      {
        service: options.service,
        requestId: request.id,
        method: request.method,
        target: redactTarget(request.url),
        status: reply.statusCode,
        durationMs: Math.round(clock.nowMs() - (startedMs.get(request) ?? clock.nowMs())),
      },
      'request answered',
    );
  });
  limitBodyTime(app, {
    clock,
    withinMs: options.bodyTimeoutMs,
    isUpload: ({ headers }) => /^multipart\/form-data\b/iu.test(headers['content-type'] ?? ''),
    answerLate: (_request, reply) => void reply.code(408).send(errorBody(new Refusal(408, 'The body did not come in time'))),
  });
  answerProblems(app, options, errorBody);
  return app;
}

/** Answers requests for nothing, with a wrong method, and whatever a route throws. */
function answerProblems(
  app: FastifyInstance,
  { service, logger }: Pick<HttpAppOptions, 'service' | 'logger'>,
  errorBody: (refusal: Refusal) => unknown,
): void {
  app.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const allowed = methods.filter((method) => app.hasRoute({ method, url: path }));
    const refusal =
      allowed.length === 0
        ? new Refusal(404, `There is nothing at ${redactTarget(path)}`)
        : new Refusal(405, `${request.method} is not allowed here`, { headers: { allow: allowed.join(', ') } });
    await reply.code(refusal.status).headers(refusal.headers).send(errorBody(refusal));
  });
  app.setErrorHandler(async (error: unknown, request, reply) => {
    const refusal = refusalOf(error);
    if (refusal.status >= 500) {
      logger.error({ service, requestId: request.id, status: refusal.status, error }, 'request failed');
    } else if (refusal.cause !== undefined) {
      const { status, cause } = refusal;
      // At debug level only: a parser's message may quote the body.
      logger.debug({ service, requestId: request.id, status, error: cause }, 'request refused');
    }
    await reply.code(refusal.status).headers(refusal.headers).send(errorBody(refusal));
  });
}

/**
 * Maps an error to an answer: refusals unchanged, the framework's errors with their status, an unavailable engine as 503, anything else
 * as a plain 500.
 */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof OffhookError && error.retryable) {
    return new Refusal(503, 'An internal dependency is temporarily unavailable', { cause: error });
  }
  if (isFrameworkError(error) && error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
    // @fastify/multipart answers a wrong content type with 415; the documents want 400.
    const status = error.code === 'FST_INVALID_MULTIPART_CONTENT_TYPE' ? 400 : error.statusCode;
    return new Refusal(status, error.message, { cause: error });
  }
  return new Refusal(500, 'Internal server error', { cause: error });
}

function isFrameworkError(error: unknown): error is FastifyError {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('FST_');
}

const hidden = '[removed]';

/**
 * A request target for the log, with the values of most query parameters removed: they may be credentials (platform doc, authentication
 * rule 3) or the client's text.
 * @param target path and query as received
 */
export function redactTarget(target: string): string {
  const at = target.indexOf('?');
  if (at === -1) return target.slice(0, 200);
  const shown = target
    .slice(at + 1)
    .split('&')
    .slice(0, 20)
    .map((pair) => {
      const name = pair.split('=', 1)[0] ?? '';
      return harmless.has(name) ? pair.slice(0, 100) : `${name.slice(0, 40)}=${hidden}`;
    });
  return `${target.slice(0, Math.min(at, 200))}?${shown.join('&')}`;
}

const harmless = new Set(['expires_in', 'model', 'voice', 'encoding', 'response_format', 'speed', 'language', 'sm-sdk']);

/**
 * Delays and refuses a request or the opening of a socket, as the injected faults say.
 * @throws Refusal with the status drawn, or the signal's reason
 */
export async function passFaults(faults: FaultDice, clock: Clock, signal: AbortSignal): Promise<void> {
  const latencyMs = faults.latencyMs();
  if (latencyMs > 0) await sleep(clock, latencyMs, signal);
  const status = faults.errorStatus();
  if (status === undefined) return;
  const headers: Record<string, string> = status === 429 ? { 'retry-after': '1' } : {};
  throw new Refusal(status, 'Injected fault: this request fails', { headers });
}

/** Applies injected faults to all requests except for GET, so that health checks work. */
export function addRequestFaults(app: FastifyInstance, faults: FaultDice, clock: Clock): void {
  app.addHook('onRequest', async (request, reply) => {
    if (request.method !== 'GET') await passFaults(faults, clock, clientSignal(reply));
  });
}

/** The platform cannot listen on a port; the message names it. */
export class PlatformPortError extends OffhookError {
  readonly code = 'OFFHOOK_PLATFORM_PORT';
  readonly retryable = false;
}

/** The five listeners, in the order of their ports from the base port. */
export const listenerNames = ['auth', 'asr', 'asrAlt', 'med', 'tts'] as const;
export type ListenerName = (typeof listenerNames)[number];
/** 0 is a free port. */
export type ListenerPorts = Readonly<Record<ListenerName, number>>;

/** @param basePort 0 for five free ports */
export function portsFrom(basePort: number): ListenerPorts {
  const port = (offset: number): number => (basePort === 0 ? 0 : basePort + offset);
  return { auth: port(0), asr: port(1), asrAlt: port(2), med: port(3), tts: port(4) };
}

/** @returns the address, for example `http://127.0.0.1:7101`; @throws PlatformPortError */
export async function listenOn(app: FastifyInstance, name: ListenerName, host: string, port: number): Promise<string> {
  try {
    await app.listen({ host, port, listenTextResolver: () => '' });
  } catch (error) {
    const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    const owner = taken ? portOwner(port) : undefined;
    const by = owner === undefined ? '' : ` by process ${owner.pid} (${owner.command})`;
    const advice = 'choose another first port with platform.port (OFFHOOK_PLATFORM_PORT; 0 takes free ones)';
    const why = taken ? `is taken${by}; ${advice}` : `cannot be listened on: ${errorText(error)}`;
    throw new PlatformPortError(`port ${port} on ${host}, for the platform's ${name} service, ${why}`, {
      cause: error,
      facts: { port, host, service: name },
    });
  }
  const address = app.server.address();
  if (address === null || typeof address === 'string') throw new TypeError('a listener without a port');
  const shownHost = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${shownHost}:${address.port}`;
}
