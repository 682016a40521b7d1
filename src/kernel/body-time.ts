import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock, Timer } from './clock.ts';

export interface BodyTime {
  readonly clock: Clock;
  /** Time limit of a body; for an upload, of the part that is still to come once the request was answered. */
  readonly withinMs: number;
  /** Uploads have the server's own `requestTimeout` until they are answered. */
  readonly isUpload: (request: FastifyRequest) => boolean;
  /** Answers a request whose body is late; the connection is closed after the answer. */
  readonly answerLate: (request: FastifyRequest, reply: FastifyReply) => void;
}

/**
 * Ends requests whose bodies do not arrive in time. A request that was answered before its body was read loses its connection:
 * Node would read the rest for as long as the longest upload may take.
 */
export function limitBodyTime(app: FastifyInstance, { clock, withinMs, isUpload, answerLate }: BodyTime): void {
  app.addHook('onRequest', async (request, reply) => {
    const { headers, raw } = request;
    // An upgraded socket has no body, whatever its headers say.
    if (headers.upgrade !== undefined && request.ws) return;
    if (headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0') return;
    let timer: Timer | undefined;
    const begin = (): void => {
      timer?.cancel();
      timer = clock.after(withinMs, () => {
        // A request whose connection is closed has no socket.
        if (raw.complete || raw.destroyed) return;
        if (reply.sent) raw.socket.destroy();
        else answerLate(request, reply.header('connection', 'close'));
      });
    };
    if (!isUpload(request)) begin();
    else reply.raw.once('finish', begin);
    raw.once('end', () => timer?.cancel());
    raw.once('close', () => timer?.cancel());
  });
}
