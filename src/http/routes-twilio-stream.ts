import type { WebSocket } from 'ws';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { acceptMediaSocket } from '../carriers/media-socket.ts';
import type { StreamGrant } from '../carriers/stream-token.ts';
import { twilioDialect } from '../carriers/twilio/dialect.ts';
import { PendingSockets } from './pending-sockets.ts';
import { sendProblem } from './problem.ts';
import { isLocal } from './public-addresses.ts';
import type { TwilioRoutesDeps } from './routes-twilio.ts';
import { upgradeSignature } from './twilio-access.ts';

export interface TwilioStreamDeps extends TwilioRoutesDeps {
  readonly startTimeoutMs: number;
  readonly pendingPerAddress: number;
  readonly requireUpgradeSignature: boolean;
}

/**
 * `WS /carriers/twilio/stream/<token>`. Refused before the upgrade: 404 for a plain request, 429 for too many sockets
 * that wait, 403 for a token that is forged, expired or spent, or a missing signature where one is required.
 */
export function twilioStreamRoute(app: FastifyInstance, deps: TwilioStreamDeps): void {
  const grants = new WeakMap<FastifyRequest, StreamGrant>();
  const pending = new PendingSockets(deps.pendingPerAddress);

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
    const signature = upgradeSignature(deps, request);
    // The token is not spent on an upgrade that is refused for its signature.
    if (signature !== 'good' && deps.requireUpgradeSignature) return refuse(403, `signature-${signature}`);
    const claimed = await deps.tokens.claim(request.params.token, 'twilio');
    if ('refused' in claimed) return refuse(403, claimed.refused);
    const { grant } = claimed;
    if (signature === 'wrong') {
      deps.logger.warn(
        { carrier: 'twilio', callId: grant.callId, address: request.ip },
        'upgrade signature does not match, token does',
      );
    }
    grants.set(request, grant);
    return undefined;
  };

  const serve = (socket: WebSocket, request: FastifyRequest): void => {
    const grant = grants.get(request);
    if (grant === undefined) {
      socket.close(1011, 'not admitted');
      return;
    }
    const { carrierCallId, callId, attachmentId } = grant;
    const leave = pending.enter(request.ip);
    acceptMediaSocket({
      socket,
      dialect: twilioDialect,
      clock: deps.clock,
      events: deps.events,
      callId,
      attachmentId,
      carrierCallId,
      startTimeoutMs: deps.startTimeoutMs,
      onStarted(attachment) {
        leave();
        if (!deps.expected.arrived(attachmentId)) {
          attachment.close('no longer expected');
          return;
        }
        deps.events.attached({ carrier: 'twilio', callId, attachmentId, streamId: attachment.started.streamId });
        deps.intake.attach(callId, attachment);
      },
      // A fault in one call ends that call alone.
      onFault: (error) => deps.logger.error({ error, carrier: 'twilio', callId, attachmentId }, 'call failed on a media event'),
      onAbandoned(reason) {
        leave();
        deps.events.streamRefused({ carrier: 'twilio', reason: 'not-started', status: 101, callId, address: request.ip });
        deps.expected.abandon(attachmentId, reason);
      },
    });
  };

  app.get<{ Params: { token: string } }>('/carriers/twilio/stream/:token', { websocket: true, preHandler: admit }, serve);
}
