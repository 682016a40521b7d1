import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { StreamGrant } from '../carriers/stream-token.ts';
import type { ExpectedMedia } from './expected-media.ts';
import type { MediaElsewhere } from './media-elsewhere.ts';
import { PendingSockets } from './pending-sockets.ts';
import { sendProblem } from './problem.ts';
import { isLocal } from './public-addresses.ts';
import type { TwilioRoutesDeps } from './routes-twilio.ts';
import { serveMediaSocket } from './serve-media-socket.ts';
import { upgradeSignature } from './twilio-access.ts';

export interface TwilioStreamDeps extends Omit<TwilioRoutesDeps, 'expected' | 'formBytes'> {
  readonly expected: ExpectedMedia;
  /** The processes that serve media; this one when absent. */
  readonly elsewhere: MediaElsewhere | undefined;
  /** What a client sent behind the request of its upgrade. */
  readonly earlyBytes: (upgrade: IncomingMessage) => Uint8Array;
  readonly startTimeoutMs: number;
  readonly pendingPerAddress: number;
  readonly requireUpgradeSignature: boolean;
}

/** Calls that are remembered for a signed socket: as many as there may be live ones. */
const MOST_SIGNED = 10_000;

/**
 * `WS /carriers/twilio/stream/<token>`. Refused before the upgrade: 404 for a plain request, 429 for too many sockets
 * that wait, 403 for a token that is forged, expired or spent, or a missing signature where one is required.
 */
export function twilioStreamRoute(app: FastifyInstance, deps: TwilioStreamDeps): void {
  const grants = new WeakMap<FastifyRequest, StreamGrant>();
  const pending = new PendingSockets(deps.pendingPerAddress);
  const signedCalls = new Set<string>();

  const admit = async (
    request: FastifyRequest<{ Params: { token: string } }>,
    reply: FastifyReply,
  ): Promise<FastifyReply | undefined> => {
    if (!request.ws) return sendProblem(request, reply, 404);
    const refuse = (status: number, reason: string, callId?: string): FastifyReply => {
      const known = callId === undefined ? {} : { callId };
      deps.events.streamRefused({ carrier: 'twilio', reason, status, address: request.ip, ...known });
      return sendProblem(request, reply, status);
    };
    if (deps.credentials.loopbackOnly && !isLocal(request.socket.remoteAddress, request.headers)) return refuse(403, 'not-local');
    if (pending.isFull(request.ip)) return refuse(429, 'too-many-pending');
    // The token is not spent on an upgrade that is refused for its signature.
    const required = deps.requireUpgradeSignature ? upgradeSignature(deps, request) : 'good';
    if (required !== 'good') return refuse(403, `signature-${required}`);
    const claimed = await deps.tokens.claim(request.params.token, 'twilio');
    if ('refused' in claimed) return refuse(403, claimed.refused);
    const { grant } = claimed;
    const signature = upgradeSignature(deps, request);
    // A carrier that signed the first socket of a call signs all of them: another is by somebody who replayed its webhook.
    if (signature !== 'good' && signedCalls.has(grant.callId)) {
      (deps.elsewhere ?? deps.expected).abandon(grant.attachmentId, 'its socket was not signed, and an earlier one was');
      return refuse(403, `signature-${signature}`, grant.callId);
    }
    if (signature === 'good') {
      signedCalls.delete(grant.callId);
      signedCalls.add(grant.callId);
      const [oldest] = signedCalls;
      if (signedCalls.size > MOST_SIGNED && oldest !== undefined) signedCalls.delete(oldest);
    }
    if (signature === 'wrong') {
      deps.logger.warn(
        { carrier: 'twilio', callId: grant.callId, address: request.ip },
        'media socket accepted by its token; its upgrade signature does not match',
      );
    }
    const { elsewhere } = deps;
    if (elsewhere === undefined) {
      grants.set(request, grant);
      return undefined;
    }
    const leave = pending.enter(request.ip);
    const early = deps.earlyBytes(request.raw);
    reply.hijack();
    reply.raw.detachSocket(request.raw.socket);
    elsewhere
      .take(grant, { socket: request.raw.socket, headers: singleHeaders(request), early, address: request.ip })
      .catch((error: unknown) => deps.logger.warn({ callId: grant.callId, error }, 'media socket handover failed'))
      .finally(leave);
    return reply;
  };

  const serve = (socket: WebSocket, request: FastifyRequest): void => {
    const grant = grants.get(request);
    if (grant === undefined) {
      socket.close(1011, 'not admitted');
      return;
    }
    serveMediaSocket(deps, {
      socket,
      stream: request.raw.socket,
      grant,
      address: request.ip,
      settled: pending.enter(request.ip),
    });
  };

  app.get<{ Params: { token: string } }>('/carriers/twilio/stream/:token', { websocket: true, preHandler: admit }, serve);
}

function singleHeaders({ headers }: FastifyRequest): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}
