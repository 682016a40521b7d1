import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OffhookError } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';
import type { Logger } from '../observability/logger.ts';
import { redactUrl } from './public-addresses.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Kind of file the route takes: its body may take as long as an upload. */
    takesUploads?: 'recording' | 'contacts';
  }
}

interface RefusalParts extends Partial<Pick<RequestRefused, 'closes' | 'retryAfterS' | 'members'>> {
  readonly cause?: unknown;
}

/** A request refused with a text for the client. */
export class RequestRefused extends OffhookError {
  readonly code = 'OFFHOOK_REQUEST_REFUSED';
  readonly retryable = false;
  readonly status: number;
  /** Whether the connection ends with it: the rest of the body is not read. */
  readonly closes: boolean;
  /** Seconds until a retry. */
  readonly retryAfterS: number | undefined;
  /** Further members of the problem document. */
  readonly members: Readonly<Record<string, unknown>>;

  /** @param status 400 to 499, or 503 */
  constructor(status: number, detail: string, more: RefusalParts = {}) {
    super(detail, { cause: more.cause, facts: { status } });
    this.status = status;
    this.closes = more.closes ?? false;
    this.retryAfterS = more.retryAfterS;
    this.members = more.members ?? {};
  }
}

/** Answers in the form of RFC 9457. */
export function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  detail?: string,
  members: RequestRefused['members'] = {},
): FastifyReply {
  const title = STATUS_CODES[status] ?? 'Error';
  const told = { ...(detail === undefined ? {} : { detail }), ...members };
  const body = { type: 'about:blank', title, status, ...told, requestId: request.id };
  return reply.code(status).type('application/problem+json').send(JSON.stringify(body));
}

/** Turns every error of the application into a problem document; internal details are logged, never sent. */
export function useProblems(app: FastifyInstance, logger: Logger): void {
  app.setNotFoundHandler((request, reply) => sendProblem(request, reply, 404));
  app.setErrorHandler((error: unknown, request, reply) => {
    if (error instanceof RequestRefused) {
      if (error.closes) reply.header('connection', 'close');
      if (error.retryAfterS !== undefined) reply.header('retry-after', error.retryAfterS);
      return sendProblem(request, reply, error.status, error.message, error.members);
    }
    const status = clientStatus(error);
    if (status !== undefined) return sendProblem(request, reply, status, frameworkDetails[status]);
    logger.error({ error, requestId: request.id, method: request.method, path: redactUrl(request.url) }, 'request failed');
    // An unavailable store, queue or bucket: the client may retry.
    return sendProblem(request, reply, error instanceof OffhookError && error.retryable ? 503 : 500);
  });
}

const frameworkDetails: Readonly<Record<number, string>> = {
  400: 'The request could not be read.',
  413: 'The body is too large.',
  415: 'The content type is not accepted.',
};

/** The framework's own refusals have a 4xx status; their texts may quote input, so only the status is used. */
function clientStatus(error: unknown): number | undefined {
  const status = isFastifyError(error) ? error.statusCode : undefined;
  return status !== undefined && status >= 400 && status < 500 ? status : undefined;
}

function isFastifyError(error: unknown): error is FastifyError {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number';
}

const STATUS_BY_CODE: Readonly<Record<string, number>> = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 };
const BROKEN =
  'The request could not be read. Accepted is HTTP/1.1 whose body has exactly the bytes that Content-Length says, or ends as chunked bodies do.';

/** Answers requests that no route sees: invalid HTTP, broken off, or with a wrong body length. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  // The client is gone, or an answer has begun.
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = STATUS_BY_CODE[error.code ?? ''] ?? 400;
  endWithProblem(socket, status, status === 400 ? BROKEN : undefined);
}

/** Answers a request without a framework reply, and closes the connection. */
export function endWithProblem(socket: Socket, status: number, detail?: string): void {
  const title = STATUS_CODES[status] ?? 'Error';
  const told = detail === undefined ? {} : { detail };
  const body = JSON.stringify({ type: 'about:blank', title, status, ...told, requestId: newId('req') });
  const head = ['content-type: application/problem+json', `content-length: ${Buffer.byteLength(body)}`, 'connection: close'];
  socket.end(`HTTP/1.1 ${status} ${title}\r\n${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

/** Which bodies may take long, and the answer to those that exceed their time; see `limitBodyTime`. */
export const BODY_TIME = {
  isUpload: ({ routeOptions }: FastifyRequest): boolean => routeOptions.config.takesUploads !== undefined,
  answerLate: (request: FastifyRequest, reply: FastifyReply): void => void sendProblem(request, reply, 408),
};
