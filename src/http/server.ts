import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import websocket from '@fastify/websocket';
import { fastify, type FastifyInstance } from 'fastify';
import type { TcpMedia } from '../carriers/carrier.ts';
import { maxMessageBytes } from '../carriers/media-codec.ts';
import type { OpenCarriers } from '../carriers/open-carriers.ts';
import type { Settings } from '../config/schema.ts';
import { limitBodyTime } from '../kernel/body-time.ts';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import type { BusinessEvents } from '../observability/events.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { SharedRates, SpentIds } from '../hosts/shared-state/port.ts';
import { PasswordGuesses } from './admin/admin-login.ts';
import type { BoardParts } from './admin/queue-board.ts';
import { apiRoutes } from './api/api.ts';
import type { ApiDeps } from './api/api-app.ts';
import { JwtBearers } from './api/jwt-bearers.ts';
import { BrowserCalls } from './browser-calls.ts';
import { embedRoutes } from './embed/embed-routes.ts';
import { type CallIntake, ExpectedMedia, type MediaElsewhere } from './intake.ts';
import { lookupRoute, type MediaRoutesDeps, PendingSockets, socketRoute, streamRoute } from './media-routes.ts';
import { answerBrokenRequest, BODY_TIME, sendProblem, useProblems } from './problem.ts';
import { publicAddresses, redactUrl, TrustedProxies } from './public-addresses.ts';
import { PAGES_PACE, publicPace, STATE_PACE } from './rate-limit.ts';
import { healthRoutes, type Readiness, stateRoutes, secretRoutes, type SecretRoutesDeps } from './routes-health.ts';
import { StreamAddresses } from './stream-addresses.ts';
import { listenForTcpMedia, type TcpMediaDeps } from './tcp-media.ts';
import { bytesOf, UnreadAnswers } from './unread-answers.ts';
import { reportRoutes, webhookRoutes } from './webhook-routes.ts';
import { GivenSockets } from './given-sockets.ts';
import { sessionRoutes } from './session/session-routes.ts';
import { Sessions, type SessionsParts } from './session/sessions.ts';

export interface HttpServerDeps {
  readonly settings: Pick<Settings, 'console' | 'http' | 'jwt' | 'publicUrl'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: BusinessEvents;
  readonly metrics: Metrics;
  readonly intake: CallIntake;
  readonly carriers: OpenCarriers;
  readonly ready: () => Promise<Readiness>;
  readonly redeem: SecretRoutesDeps['redeem'];
  /** What the API serves under `/api`; no API when absent. */
  readonly api?: ApiDeps;
  /** What console sessions need; no console when absent. */
  readonly console?: Pick<SessionsParts, 'settings' | 'key' | 'links' | 'password' | 'openid' | 'members' | 'audit'> | undefined;
  /** What the queue dashboard needs; no dashboard when absent. */
  readonly board?: Pick<BoardParts, 'password' | 'queue'> | undefined;
  /** The processes that serve media; this one when absent. */
  readonly media?: MediaElsewhere;
  /** Expected media and issued addresses; made here without a dialler. */
  readonly expected?: ExpectedMedia;
  readonly streams?: StreamAddresses;
  /** Shared paces and spent ids, where there are several machines. */
  readonly rates?: SharedRates | undefined;
  readonly spent?: SpentIds | undefined;
}

/** Longest path segment; a stream token has about 300 characters. */
const maxParamLength = 1024;
/** Time for sockets at a shutdown: media sockets to answer the close, requests to be answered. */
const socketCloseMs = 2000;

/**
 * The gateway's HTTP application, not yet listening: `await app.listen({ host, port })` starts it, `await app.close()` closes media sockets with code
 * 1001, then everything else.
 */
export function createHttpServer(deps: HttpServerDeps): FastifyInstance {
  const { http, publicUrl } = deps.settings;
  const unread = new UnreadAnswers(deps.clock, deps.logger);
  const proxies = new TrustedProxies(http.trustedProxies, deps);
  const app = fastify({
    logger: false,
    bodyLimit: http.bodyLimitBytes,
    serverFactory: (handle) => serverFor(deps, unread, handle),
    // Makes `request.ip` the visitor's address. The gateway's own address comes from the settings alone.
    trustProxy: (address) => proxies.trusts(address),
    requestIdHeader: false,
    genReqId: () => newId('req'),
    routerOptions: { maxParamLength, ignoreTrailingSlash: true },
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (_error, request, reply) => void sendProblem(request, reply, 400),
  });
  useProblems(app, deps.logger);
  // Each scope says which bodies it takes; others are refused with 415 instead of being parsed.
  app.removeContentTypeParser(['application/json', 'text/plain']);

  const expected = deps.expected ?? new ExpectedMedia(deps.clock, deps.intake);
  const baseUrl = (): string => publicAddresses(publicUrl, app.server.address())[0] ?? '';
  const streams = deps.streams ?? new StreamAddresses({ ...deps, baseUrl, media: deps.media ?? expected });
  const given = new GivenSockets();
  const early = new WeakMap<IncomingMessage, Uint8Array>();
  app.server.on('upgrade', (request, _socket, head) => void early.set(request, head));
  takeWebSockets(app, { deps, expected, given });
  app.addHook('onRequest', async (request, reply) => {
    proxies.note(request.raw);
    reply.header('x-request-id', request.id);
  });
  app.addHook('onSend', async ({ raw }, reply, payload) => unread.note(raw, reply.raw, bytesOf(payload)));
  app.addHook('onResponse', async (request, reply) => {
    const { method, id: requestId } = request;
    const elapsedMs = Math.round(reply.elapsedTime);
    deps.logger.debug({ requestId, method, path: redactUrl(request.url), status: reply.statusCode, elapsedMs }, 'request served');
  });

  limitBodyTime(app, { ...BODY_TIME, clock: deps.clock, withinMs: http.requestTimeoutMs });
  const tokens = JwtBearers.from({ settings: deps.settings.jwt, clock: deps.clock });
  // Inside a plugin, so that the WebSocket plugin adds its hooks before the routes.
  app.register(async (scope) => {
    healthRoutes(scope);
    const pagesPace = publicPace(deps.clock, PAGES_PACE);
    const openToAll = (add: (inner: FastifyInstance) => Promise<void> | void, pace = pagesPace): void =>
      void scope.register(async (inner) => {
        inner.addHook('onRequest', pace);
        await add(inner);
      });
    openToAll((inner) => stateRoutes(inner, deps), publicPace(deps.clock, STATE_PACE));
    scope.register(async (inner) => secretRoutes(inner, deps));
    const { api } = deps;
    const passwords = new PasswordGuesses(deps);
    const consoleParts = deps.console && {
      ...deps.console,
      passwords,
      publicUrl,
      clock: deps.clock,
      rates: deps.rates,
      logger: deps.logger,
    };
    const sessions = consoleParts && new Sessions(consoleParts);
    const browserCalls = BrowserCalls.from({ ...deps, expected: deps.media ?? expected, streams });
    if (api !== undefined)
      scope.register(async (inner) =>
        apiRoutes(
          inner,
          { ...api, rates: deps.rates, browserCalls },
          { maxUploadBytes: http.uploadLimitBytes, tokens, sessions },
        ),
      );
    const { live } = api ?? {};
    if (browserCalls !== undefined && live !== undefined)
      openToAll((inner) => embedRoutes(inner, { ...deps, settings: deps.settings.console.embed, browserCalls, live }));
    if (consoleParts !== undefined && sessions !== undefined) {
      openToAll((inner) => sessionRoutes(inner, sessions, consoleParts));
      openToAll(async (inner) => {
        // Loaded only when needed, like the dashboard.
        const { consolePage } = await import('./session/console-page.ts');
        consolePage(inner, { publicUrl });
      });
    }
    const { board } = deps;
    if (board !== undefined)
      scope.register(async (inner) => {
        // Loaded only when needed: its packages slow a start more than all routes together.
        const { queueBoardRoutes } = await import('./admin/queue-board.ts');
        await queueBoardRoutes(inner, { ...board, publicUrl, clock: deps.clock, guesses: passwords, logger: deps.logger });
      });
    carrierRoutes(app, scope, { deps, expected, streams, given, early });
  });
  return app;
}

/** Node's server with its time limits, which refuses new requests while earlier answers are unread. */
function serverFor({ settings: { http }, api }: HttpServerDeps, unread: UnreadAnswers, handle: RequestListener): Server {
  const server = createServer(
    {
      headersTimeout: http.headersTimeoutMs,
      maxHeaderSize: 16_384,
      // How often node checks connections against those limits; its default is 30 s.
      connectionsCheckingInterval: Math.min(1000, http.headersTimeoutMs),
    },
    (request, response) => unread.admit(request, response, () => handle(request, response)),
  );
  // For uploads; other bodies have a shorter time, see `limitBodyTime`.
  server.requestTimeout = Math.max(http.requestTimeoutMs, api === undefined ? 0 : http.uploadTimeoutMs);
  server.keepAliveTimeout = http.keepAliveTimeoutMs;
  // For idle connections outside keep-alive.
  return server.setTimeout(Math.max(http.requestTimeoutMs, http.keepAliveTimeoutMs));
}

/** Upgrades media sockets, and closes them before the server stops. */
function takeWebSockets(app: FastifyInstance, parts: Pick<CarrierRouteParts, 'deps' | 'expected' | 'given'>): void {
  const { expected, given } = parts;
  const { logger, clock } = parts.deps;
  app.register(websocket, {
    options: { maxPayload: maxMessageBytes, perMessageDeflate: false, clientTracking: true },
    errorHandler(error, socket, request) {
      logger.warn({ error, requestId: request.id }, 'media socket failed');
      // For an unreadable frame `ws` sends its own close code; other errors have none.
      if (socket.readyState === socket.OPEN) socket.close(1011);
    },
    preClose(done) {
      expected.abandonAll('gateway stops');
      const { clients } = app.websocketServer;
      for (const client of clients) client.close(1001, 'gateway stops');
      given.close('gateway stops', clock, socketCloseMs);
      clock.after(socketCloseMs, () => {
        for (const client of clients) client.terminate();
        app.server.closeAllConnections();
      });
      app.websocketServer.close(() => done());
    },
  });
}

interface CarrierRouteParts {
  readonly deps: HttpServerDeps;
  readonly expected: ExpectedMedia;
  readonly streams: StreamAddresses;
  readonly given: GivenSockets;
  /** Bytes that came with the request for an upgrade. */
  readonly early: WeakMap<IncomingMessage, Uint8Array>;
}

/** Every carrier's routes: its streams, webhooks, sockets and reports. */
function carrierRoutes(app: FastifyInstance, scope: FastifyInstance, parts: CarrierRouteParts): void {
  const { deps, expected, streams, given, early } = parts;
  const { http, publicUrl } = deps.settings;
  const pending = new PendingSockets(http.pendingStreamsPerAddress);
  for (const { carrier, door, loopbackOnly, route, publicUrl: own } of deps.carriers.values()) {
    const tokenMs = (door.kind === 'socket' ? door.lookup : door)?.streamTokenMs ?? 0;
    const shared = {
      carrier: carrier.name,
      loopbackOnly,
      route,
      addresses: () => publicAddresses(own ?? publicUrl, app.server.address()),
      mediaWithinMs: streams.mediaWithinMs(carrier.name, tokenMs),
      events: deps.events,
      logger: deps.logger,
      clock: deps.clock,
      spent: deps.spent,
    };
    const media: MediaRoutesDeps = {
      ...shared,
      intake: deps.intake,
      expected,
      carriers: deps.carriers,
      elsewhere: deps.media,
      earlyBytes: (upgrade) => early.get(upgrade) ?? new Uint8Array(),
      pending,
      given,
    };
    streamRoute(scope, door, streams, media);
    if (door.kind === 'page') continue;
    const reports = { ...shared, intake: deps.intake, streams, bodyBytes: http.bodyLimitBytes };
    if (door.kind === 'webhook') {
      const webhooks = { ...reports, door, expected: deps.media ?? expected };
      scope.register(async (inner) => webhookRoutes(inner, webhooks));
      const { tcp } = door;
      if (tcp?.listen !== undefined) takeTcpMedia(app, { ...media, streams, media: tcp }, tcp.listen);
      continue;
    }
    socketRoute(scope, door, streams, media);
    if (door.lookup !== undefined) lookupRoute(scope, door.lookup, streams, media);
    const { reports: reported } = door;
    if (reported !== undefined) scope.register(async (inner) => void reportRoutes(inner, { ...reports, door: reported }));
  }
}

/** Listens from before the application is ready until it closes. */
function takeTcpMedia(app: FastifyInstance, deps: TcpMediaDeps, at: NonNullable<TcpMedia['listen']>): void {
  let listening: Awaited<ReturnType<typeof listenForTcpMedia>> | undefined;
  app.addHook('onReady', async () => {
    listening = await listenForTcpMedia(deps, at);
    deps.logger.info({ carrier: deps.carrier, host: at.host, port: listening.port }, 'listening for media over TCP');
  });
  app.addHook('onClose', async () => listening?.close());
}
