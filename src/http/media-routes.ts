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
  /** Prefix of the carrier's addresses: `/carriers/<name>`. */
  readonly route: string;
  /** Base addresses, without a trailing slash. */
  readonly addresses: () => readonly string[];
  /** Bytes a client sent after its upgrade request. */
  readonly earlyBytes: (upgrade: IncomingMessage) => Uint8Array;
  /** Media sockets without a start so far, over all carriers. */
  readonly pending: PendingSockets;
}

type Refuse = (status: number, reason: string, callId?: string) => FastifyReply;
/** @returns the socket's grant, what is known of a call whose first messages must name it, or the refusal */
type Admission = (request: FastifyRequest, refuse: Refuse) => Promise<StreamGrant | AtStart | FastifyReply>;

/** The socket's first messages name the call; `known` has the rest. */
interface AtStart {
  readonly atStart: AtStartSocket['known'];
}

function atStartOf({ botName, from, to }: ListenGrant): AtStart {
  return { atStart: { botName, from, to, mode: 'listen' } };
}

/**
 * `WS /carriers/<name>/stream/<token>`, for carriers that got the token by webhook or dial order. Refused before the upgrade: 404 for a plain
 * request, 429 for too many waiting sockets, 403 for a forged, expired or spent token, or a missing required signature.
 */
export function streamRoute(app: FastifyInstance, door: CarrierDoor, streams: StreamAddresses, deps: MediaRoutesDeps): void {
  const upgrade = door.kind === 'webhook' ? door.upgrade : undefined;
  const upgradeSignature = (request: FastifyRequest) => upgrade?.check(carrierRequest(request, deps.addresses())) ?? 'missing';
  mediaRoute(app, `${deps.route}/stream/:token`, deps, async (request, refuse) => {
    const { token = '' } = request.params as { readonly token?: string };
    // An upgrade refused for its signature does not spend the token.
    const required = upgrade?.required === true ? upgradeSignature(request) : 'good';
    if (required !== 'good') return refuse(403, `signature-${required}`);
    const claimed = await streams.claim(token, deps.carrier);
    if ('refused' in claimed) return refuse(403, claimed.refused);
    if ('listen' in claimed) return atStartOf(claimed.listen);
    const { grant } = claimed;
    const { callId } = grant;
    const signature = upgradeSignature(request);
    // A carrier that signed a call's first socket signs all: an unsigned one comes from a replayed webhook.
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
 * `WS /carriers/<name>/media/<bot>`, for carriers whose call is only a socket. Refused before the upgrade: 401 without valid proof, 400 without a
 * call, 503 for a refused call, 409 for a call that has its socket.
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
 * `GET /carriers/<name>/voice/<bot>`, for carriers that ask where a call's media goes. Refused like a media socket of the carrier; 409 for a call
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

/** A media socket address: each socket is admitted before its upgrade, here or in the process with its call. */
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

/** Limits media sockets without a start, by address. */
export class PendingSockets {
  readonly #counts = new Map<string, number>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  isFull(address: string): boolean {
    return (this.#counts.get(address) ?? 0) >= this.#limit;
  }

  /** @returns releases the place; further calls have no effect */
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
