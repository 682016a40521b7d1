import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { newId } from '../kernel/ids.ts';
import { sendProblem } from './problem.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether its body may take as long as an upload takes. */
    takesUploads?: boolean;
  }
}

const STATUS_BY_CODE: Readonly<Record<string, number>> = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 };
const BROKEN =
  'The request could not be read. Accepted is HTTP/1.1 whose body has exactly the bytes that Content-Length says, or ends as chunked bodies do.';

/** Answers what no route sees: a request that is no HTTP, breaks off, or whose body is not as long as it says. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  // Nobody is left to read it, or an answer has begun already.
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = STATUS_BY_CODE[error.code ?? ''] ?? 400;
  const title = STATUS_CODES[status] ?? 'Error';
  const detail = status === 400 ? { detail: BROKEN } : {};
  const body = JSON.stringify({ type: 'about:blank', title, status, ...detail, requestId: newId('req') });
  const head = ['content-type: application/problem+json', `content-length: ${Buffer.byteLength(body)}`, 'connection: close'];
  socket.end(`HTTP/1.1 ${status} ${title}\r\n${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

/** Which bodies may take long, and what those are answered that take too long; see `limitBodyTime`. */
export const BODY_TIME = {
  isUpload: ({ routeOptions }: FastifyRequest): boolean => routeOptions.config.takesUploads === true,
  answerLate: (request: FastifyRequest, reply: FastifyReply): void => void sendProblem(request, reply, 408),
};
