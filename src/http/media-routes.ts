import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AddressLookup, CarrierDoor, SocketDoor } from '../carriers/carrier.ts';
import { WebSocketConnection } from '../carriers/media-connection.ts';
import type { ListenGrant, StreamGrant } from '../carriers/stream-token.ts';
import { answerCall, endRefused } from './answer-call.ts';
import { sendProblem } from './problem.ts';
import { isLocal } from './public-addresses.ts';
import { serveMediaSocket } from './serve-media-socket.ts';
import { type AtStartDeps, type AtStartSocket, serveAtStart } from './serve-at-start.ts';
import type { StreamAddresses } from './stream-addresses.ts';
import { carrierRequest, singleHeaders } from './webhook-access.ts';
import { botNameOf, singleParameters } from './webhook-routes.ts';

export interface MediaRoutesDeps extends AtStartDeps {
  readonly loopbackOnly: boolean;
  /** Where the carrier's addresses begin: `/carriers/<name>`. */
  readonly route: string;
  /** Base addresses, without a trailing slash. */
  readonly addresses: () => readonly string[];
  /** What a client sent behind the request of its upgrade. */
  readonly earlyBytes: (upgrade: IncomingMessage) => Uint8Array;
  /** Media sockets that have not started, of all carriers together. */
  readonly pending: PendingSockets;
}

type Refuse = (status: number, reason: string, callId?: string) => FastifyReply;
/** @returns the grant of this socket, what is known of its call where its first messages say which call it is, or the answer that refuses it */
type Admission = (request: FastifyRequest, refuse: Refuse) => Promise<StreamGrant | AtStart | FastifyReply>;

/** The first messages of the socket say which call it is, beside what is known. */
interface AtStart {
  readonly atStart: AtStartSocket['known'];
}

function atStartOf({ botName, from, to }: ListenGrant): AtStart {
  return { atStart: { botName, from, to, mode: 'listen' } };
}

/**
 * `WS /carriers/<name>/stream/<token>`, for carriers whose webhook, or whose order of a call, got the token. Refused before the upgrade: 404 for a plain request,
 * 429 for too many sockets that wait, 403 for a token that is forged, expired or spent, or a missing signature where one is required.
 */
export function streamRoute(app: FastifyInstance, door: CarrierDoor, streams: StreamAddresses, deps: MediaRoutesDeps): void {
  const upgrade = door.kind === 'webhook' ? door.upgrade : undefined;
  const upgradeSignature = (request: FastifyRequest) => upgrade?.check(carrierRequest(request, deps.addresses())) ?? 'missing';
  mediaRoute(app, `${deps.route}/stream/:token`, deps, async (request, refuse) => {
    const { token = '' } = request.params as { readonly token?: string };
    // The token is not spent on an upgrade that is refused for its signature.
    const required = upgrade?.required === true ? upgradeSignature(request) : 'good';
    if (required !== 'good') return refuse(403, `signature-${required}`);
    const claimed = await streams.claim(token, deps.carrier);
    if ('refused' in claimed) return refuse(403, claimed.refused);
    if ('listen' in claimed) return atStartOf(claimed.listen);
    const { grant } = claimed;
    const { callId } = grant;
    const signature = upgradeSignature(request);
    // A carrier that signed the first socket of a call signs all of them: another is by somebody who replayed its webhook.
    if (signature !== 'good' && (await streams.wasSigned(callId))) {
      (deps.elsewhere ?? deps.expected).abandon(
        grant.attachmentId,
        'its media socket was unsigned, unlike an earlier one of this call',
      );
      return refuse(403, `signature-${signature}`, callId);
    }
    if (signature === 'good') await streams.signed(callId);
    if (signature === 'wrong') {
      const { carrier } = deps;
      deps.logger.warn(
        { carrier, callId, address: request.ip },
        'media socket accepted by its token; its upgrade signature does not match',
      );
    }
    return grant;
  });
}

/**
 * `WS /carriers/<name>/media/<bot>`, for carriers whose socket is all that comes of a call. Refused before the upgrade: 401 without a right
 * proof, 400 without a call, 503 for a call that is not taken, 409 for one that has its socket.
 */
export function socketRoute(app: FastifyInstance, door: SocketDoor, streams: StreamAddresses, deps: MediaRoutesDeps): void {
  const { carrier } = deps;
  const answering = { ...deps, expected: deps.elsewhere ?? deps.expected };
  mediaRoute(app, `${deps.route}/media/:bot?`, deps, async (request, refuse) => {
    const brought = door.readCall(carrierRequest(request, deps.addresses()), botNameOf(request));
    if (brought === 400) return refuse(400, 'no-call');
    if (brought === 401) return refuse(401, 'unsigned');
    if (brought === 'at-start') return { atStart: { botName: botNameOf(request) } };
    if ('token' in brought) {
      const claimed = await streams.claim(brought.token, carrier);
      if ('refused' in claimed) return refuse(403, claimed.refused);
      return 'listen' in claimed ? atStartOf(claimed.listen) : claimed.grant;
    }
    const answer = await answerCall(answering, { ...brought, carrier }, request.id, (grant) => grant);
    if (answer.kind === 'attached') return refuse(409, 'attached');
    if (answer.kind === 'refused') endRefused(deps, { ...brought, carrier });
    return answer.kind === 'taken' ? answer.made : refuse(503, 'call-refused');
  });
}

/**
 * `GET /carriers/<name>/voice/<bot>`, for carriers that ask where the media of a call goes. Refused as a media socket of the carrier is; 409 for a call
 * that has its socket.
 */
export function lookupRoute(app: FastifyInstance, lookup: AddressLookup, streams: StreamAddresses, deps: MediaRoutesDeps): void {
  const { carrier, events } = deps;
  const answering = { ...deps, expected: deps.elsewhere ?? deps.expected };
  app.get(`${deps.route}/voice/:bot?`, async (request, reply) => {
    const refuse = (status: number, reason: string): FastifyReply => {
      events.webhookRefused({ carrier, reason, status, address: request.ip });
      return sendProblem(request, reply, status);
    };
    if (deps.loopbackOnly && !isLocal(request.socket.remoteAddress, request.headers)) return refuse(403, 'not-local');
    const asked = carrierRequest(request, deps.addresses());
    const inbound = lookup.readCall(asked, singleParameters(request), botNameOf(request));
    if (inbound === 400) return refuse(400, 'no-call');
    if (inbound === 401) return refuse(401, 'unsigned');
    const answer = await answerCall(answering, { ...inbound, carrier }, request.id, async (grant) => {
      const bound = lookup.hasOtherIds === true ? { ...grant, carrierCallId: undefined } : grant;
      const { streamUrl: url, statusUrl } = await streams.forAnswer(bound, lookup.streamTokenMs);
      return { url, statusUrl, callId: grant.callId, carrierCallId: grant.carrierCallId };
    });
    if (answer.kind === 'attached') return refuse(409, 'attached');
    if (answer.kind !== 'taken') return refuse(503, 'call-refused');
    const { contentType, text } = lookup.answer(answer.made);
    return reply.type(contentType).send(text);
  });
}

/** One address of media sockets: each is admitted before it is upgraded, here or in the process that has its call. */
function mediaRoute(app: FastifyInstance, path: string, deps: MediaRoutesDeps, admission: Admission): void {
  const { carrier, pending, elsewhere } = deps;
  const grants = new WeakMap<FastifyRequest, StreamGrant>();
  const admit = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    if (!request.ws) return sendProblem(request, reply, 404);
    const refuse: Refuse = (status, reason, callId) => {
      const known = callId === undefined ? {} : { callId };
      deps.events.streamRefused({ carrier, reason, status, address: request.ip, ...known });
      return sendProblem(request, reply, status);
    };
    if (deps.loopbackOnly && !isLocal(request.socket.remoteAddress, request.headers)) return refuse(403, 'not-local');
    if (pending.isFull(request.ip)) return refuse(429, 'too-many-pending');
    const grant = await admission(request, refuse);
    if ('atStart' in grant) {
      const early = deps.earlyBytes(request.raw);
      reply.hijack();
      reply.raw.detachSocket(request.raw.socket);
      const upgrade = { socket: request.raw.socket, headers: singleHeaders(request), early, address: request.ip };
      const settled = pending.enter(request.ip);
      void serveAtStart(deps, { ...upgrade, known: grant.atStart, requestId: request.id, settled });
      return reply;
    }
    if (!('callId' in grant)) return grant;
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
    const { ip: address, raw } = request;
    const connection = new WebSocketConnection(socket, raw.socket);
    serveMediaSocket(deps, { connection, grant, address, settled: pending.enter(address) });
  };
  app.get(path, { websocket: true, preHandler: admit }, serve);
}

/** Counts media sockets that have not started, by address, so that one address cannot hold many open. */
export class PendingSockets {
  readonly #counts = new Map<string, number>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  isFull(address: string): boolean {
    return (this.#counts.get(address) ?? 0) >= this.#limit;
  }

  /** @returns gives the place back; further calls of it do nothing */
  enter(address: string): () => void {
    this.#counts.set(address, (this.#counts.get(address) ?? 0) + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const left = (this.#counts.get(address) ?? 1) - 1;
      if (left === 0) this.#counts.delete(address);
      else this.#counts.set(address, left);
    };
  }
}
