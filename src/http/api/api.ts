import cookies from '@fastify/cookie';
import multipart from '@fastify/multipart';
import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { OffhookError } from '../../kernel/errors.ts';
import { isStorable } from '../../records/record.ts';
import { RequestRefused } from '../problem.ts';
import { compressed, type PublicDocument, sendDocument } from '../public-documents.ts';
import { DOCUMENTS_PACE, publicPace } from '../rate-limit.ts';
import { analysisRoutes } from './calls/analysis-routes.ts';
import type { ApiApp, ApiDeps } from './api-app.ts';
import { ApiGate } from './api-gate.ts';
import { auditRoutes, deliveryRoutes, jobRoutes } from './system/operation-routes.ts';
import { Looks, noteLooks } from './looks.ts';
import { botChatRoutes } from './bots/bot-chat-routes.ts';
import { botCountRoutes } from './bots/bot-count-routes.ts';
import { botEvalRoutes } from './bots/bot-eval-routes.ts';
import { botEditRoutes } from './bots/bot-edit-routes.ts';
import { botRoutes } from './bots/bot-routes.ts';
import { browsePage, PAGE_POLICY, OPENAPI } from './openapi.ts';
import { browserCallRoute, listenRoute, liveCallRoutes } from './calls/live-call-routes.ts';
import { campaignProgressRoutes } from './campaigns/campaign-progress-routes.ts';
import { campaignRoutes } from './campaigns/campaign-routes.ts';
import { callRoutes } from './calls/call-routes.ts';
import { dialListRoutes } from './campaigns/dial-list-routes.ts';
import { dialRoutes } from './calls/dial-routes.ts';
import { evalRoutes } from './evals/eval-routes.ts';
import { erasureRoutes } from './system/erasure-routes.ts';
import { servedOnce } from './idempotency.ts';
import type { Sessions } from '../session/sessions.ts';
import type { JwtBearers } from './jwt-bearers.ts';
import { peaksRoute, voicemailRoute } from './calls/sound-routes.ts';
import { replayRoutes } from './calls/replay-routes.ts';
import { alertRoutes } from './alerts/alert-routes.ts';
import { costRoutes } from './costs/cost-routes.ts';
import { reviewRoutes } from './calls/review-routes.ts';
import { statisticsRoutes } from './calls/statistics-routes.ts';
import { endpointRoutes } from './settings/endpoint-routes.ts';
import { keyRoutes } from './settings/key-routes.ts';
import { memberRoutes } from './settings/member-routes.ts';
import { settingRoutes } from './settings/setting-routes.ts';
import { speechRoutes } from './settings/speech-routes.ts';
import { systemRoutes } from './system/system-routes.ts';
import { submissionRoutes } from './calls/submission-routes.ts';
import { watchRoutes } from './calls/watch-routes.ts';
import { readUpload, UploadedFile } from './calls/upload.ts';

const BODY_BYTES = 65_536;
/** The description changes with Offhook's version. */
const DOCUMENTS_CACHED = 'public, max-age=300';
/** Marks a body of CSV or JSON Lines that is still to be read. */
const CSV = Symbol('csv');
const aboutCall = z.looseObject({ callId: z.string() });

interface ApiOptions {
  readonly maxUploadBytes: number;
  /** Accepted beside the API's own keys. */
  readonly tokens?: JwtBearers | undefined;
  /** Console sessions, accepted for requests without key or token. */
  readonly sessions?: Sessions | undefined;
}

/**
 * The API under `/api`. Every route requires a key or token with its scope before its body is read, except the API's description. Register it in a
 * separate scope, since bodies are JSON here.
 */
export function apiRoutes(app: FastifyInstance, deps: ApiDeps, { maxUploadBytes, tokens, sessions }: ApiOptions): void {
  app.setValidatorCompiler<z.ZodType>(({ schema }) => (data) => {
    const { success, data: value, error } = schema.safeParse(data);
    if (success) return { value };
    const issues = error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
    return { error: new RequestRefused(400, z.prettifyError(error), { members: { issues } }) };
  });
  // Types check answers; data of older versions passes unchanged.
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer));
  app.addContentTypeParser('application/json', { parseAs: 'string', bodyLimit: BODY_BYTES }, (_request, body, done) => {
    try {
      done(null, JSON.parse(String(body)));
    } catch {
      done(new RequestRefused(400, 'The body is not JSON.'));
    }
  });
  // Uploads are written to disk, not parsed here.
  app.addContentTypeParser(['text/csv', 'application/jsonl', 'application/x-ndjson'], async (request: FastifyRequest) => {
    if (request.routeOptions.config.takesUploads !== 'contacts')
      throw new RequestRefused(415, 'No CSV and no JSON Lines are accepted here.');
    return CSV;
  });
  app.setErrorHandler((error) => {
    // A malformed cursor is the client's mistake.
    if (error instanceof OffhookError && error.code === 'OFFHOOK_STORE_RECORD') throw new RequestRefused(400, error.message);
    throw error;
  });
  app.register(cookies);
  app.register(multipart, { throwFileSizeLimit: false });
  app.register(swagger, OPENAPI);
  app.register(
    async (scope: FastifyInstance) => {
      const gate = new ApiGate({ ...deps, tokens, sessions });
      const looks = deps.audit && new Looks({ ...deps, audit: deps.audit, logger: deps.live?.logger });
      if (looks !== undefined) noteLooks(scope, looks);
      addHooks(scope, deps, gate, { folder: deps.uploadFolder, maxBytes: maxUploadBytes });
      const routes: ApiApp = scope.withTypeProvider<ZodTypeProvider>();
      for (const add of [
        callRoutes,
        dialRoutes,
        liveCallRoutes,
        listenRoute,
        browserCallRoute,
        watchRoutes,
        statisticsRoutes,
        reviewRoutes,
        analysisRoutes,
        submissionRoutes,
        botRoutes,
        botCountRoutes,
        alertRoutes,
        costRoutes,
        botChatRoutes,
        botEditRoutes,
        botEvalRoutes,
        evalRoutes,
        campaignRoutes,
        campaignProgressRoutes,
        dialListRoutes,
        erasureRoutes,
        peaksRoute,
        voicemailRoute,
        replayRoutes,
        deliveryRoutes,
        jobRoutes,
        systemRoutes,
        auditRoutes,
        keyRoutes,
        endpointRoutes,
        settingRoutes,
        memberRoutes,
        speechRoutes,
      ])
        add(routes, deps, gate, looks);
    },
    { prefix: '/api' },
  );
  // Public: each is made once, at the first request.
  const onRequest = publicPace(deps.clock, DOCUMENTS_PACE);
  let document: Promise<PublicDocument> | undefined;
  app.get('/api/openapi.json', { onRequest }, async (request, reply) => {
    document ??= compressed('application/json; charset=utf-8', JSON.stringify(app.swagger()));
    return sendDocument(request, reply, await document, DOCUMENTS_CACHED);
  });
  let page: Promise<PublicDocument> | undefined;
  app.get('/api', { onRequest }, async (request, reply) => {
    page ??= compressed('text/html; charset=utf-8', browsePage(app.swagger()));
    return sendDocument(request, reply.header('content-security-policy', PAGE_POLICY), await page, DOCUMENTS_CACHED);
  });
}

/** Steps before and after the handler of every API route. */
function addHooks(app: FastifyInstance, deps: ApiDeps, gate: ApiGate, uploads: Parameters<typeof readUpload>[2]): void {
  app.decorateRequest('principal');
  app.decorateRequest('sent');
  app.addHook('onRoute', (route) => {
    if (route.config?.scope === undefined) throw new TypeError(`${route.url} needs a scope`);
    route.schema = { querystring: z.strictObject({}), ...route.schema };
    if (route.method === 'POST' || route.method === 'PUT' || route.method === 'DELETE') serveOnce(route, deps);
  });
  app.addHook('onRequest', (request, reply) => {
    const { scope } = request.routeOptions.config;
    if (scope === undefined) throw new TypeError('a route without a scope');
    return gate.admit(request, reply, scope);
  });
  app.addHook('preValidation', async (request) => {
    const { takesUploads } = request.routeOptions.config;
    const isFile = takesUploads !== undefined && (request.isMultipart() || request.body === CSV);
    const { fields = request.body ?? {}, file } = isFile ? await readUpload(request, takesUploads, uploads) : {};
    request.sent = [fields, file?.sha256];
    request.body = file === undefined ? fields : { ...fields, file };
  });
  app.addHook('preHandler', async ({ params, query, body }) => refuseUnstorable({ params, query, body }));
  // Also for requests refused before their handler.
  app.addHook('onSend', async ({ body }) => {
    if (typeof body === 'object' && body !== null && 'file' in body && body.file instanceof UploadedFile)
      await body.file[Symbol.asyncDispose]();
  });
}

/** Gives a changing route the status in its schema, and serves it once for each idempotency key. */
function serveOnce(route: RouteOptions, deps: ApiDeps): void {
  const { handler } = route;
  const { response = {} } = route.schema as { response?: object };
  const [status = 200] = Object.keys(response).map(Number);
  route.handler = async function handlerOnce(request, reply) {
    const { principal, params, method, url, sent, headers } = request;
    const key = headers['idempotency-key'];
    const keyed = {
      by: principal,
      key: Array.isArray(key) ? key[0] : key,
      method,
      url,
      body: sent,
      callId: aboutCall.safeParse(params).data?.callId,
      servesAgain: route.config?.servesAgain ?? false,
      keptOf: route.config?.stored ?? ((answer: unknown) => answer),
    };
    const served = await servedOnce(deps, keyed, async () => {
      const answer: unknown = await handler.call(this, request, reply);
      return { status, location: reply.getHeader('location')?.toString(), answer };
    });
    if (served.location !== undefined) reply.header('location', served.location);
    if (served.isReplay) reply.header('idempotent-replayed', 'true');
    return reply.code(served.status).send(served.answer);
  };
}

/**
 * Refuses text that PostgreSQL cannot store: zero characters and lone surrogates.
 * @throws RequestRefused 400 with the place
 */
function refuseUnstorable(request: object): void {
  const left: [where: string, value: unknown][] = [['', request]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [where, value] = next;
    if (typeof value === 'object' && value !== null)
      for (const [name, part] of Object.entries(value))
        left.push([where === '' ? name : `${where}.${name}`, part], ['a name', name]);
    else if (typeof value === 'string' && !isStorable(value))
      throw new RequestRefused(
        400,
        `${where} has a zero character (U+0000) or half of a surrogate pair, which no text may have.`,
      );
  }
}
