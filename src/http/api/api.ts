import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { OffhookError } from '../../kernel/errors.ts';
import { isStorable } from '../../store/storable.ts';
import { RequestRefused } from '../problem.ts';
import { analysisRoutes } from './analysis-routes.ts';
import type { ApiDeps } from './api-deps.ts';
import { ApiGate } from './api-gate.ts';
import type { ApiRoute, Principal } from './api-route.ts';
import { browsePage, PAGE_POLICY } from './browse-page.ts';
import { callRoutes } from './call-routes.ts';
import type { JwtBearers } from './jwt-bearers.ts';
import { servedOnce } from './idempotency.ts';
import { jobRoutes } from './job-routes.ts';
import { openApiDocument } from './open-api.ts';
import { submissionRoutes } from './submission-routes.ts';
import { readUpload, type UploadLimits } from './upload.ts';

const BODY_BYTES = 65_536;
const aboutCall = z.looseObject({ callId: z.string() });

interface ApiOptions {
  readonly maxUploadBytes: number;
  /** Believed beside the API's own keys. */
  readonly tokens?: JwtBearers | undefined;
}

/**
 * The API under `/api`: every route wants a key or a token with its scope, before any of its body is read, except the
 * description of the API itself. For a scope of its own, since bodies are JSON here.
 */
export function apiRoutes(app: FastifyInstance, deps: ApiDeps, { maxUploadBytes, tokens }: ApiOptions): void {
  const routes = [...callRoutes(deps), ...analysisRoutes(deps), ...submissionRoutes(deps), ...jobRoutes(deps)];
  const gate = new ApiGate({ ...deps, tokens });
  const uploads = { folder: deps.uploadFolder, maxBytes: maxUploadBytes };
  app.addContentTypeParser('application/json', { parseAs: 'string', bodyLimit: BODY_BYTES }, (_request, body, done) => {
    try {
      done(null, JSON.parse(String(body)));
    } catch {
      done(new RequestRefused(400, 'The body is not JSON.'));
    }
  });
  app.register(multipart, { throwFileSizeLimit: false });
  // Anybody may ask for these: each is made once, when it is asked for first.
  let document: string | undefined;
  app.get('/api/openapi.json', (_request, reply) =>
    reply.type('application/json; charset=utf-8').send((document ??= JSON.stringify(openApiDocument(routes, '/api')))),
  );
  let page: string | undefined;
  app.get('/api', (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', PAGE_POLICY)
      .send((page ??= browsePage(routes))),
  );
  for (const route of routes) {
    app.route({
      method: route.method,
      url: `/api${route.path}`,
      ...(route.bodyBytes === undefined ? {} : { bodyLimit: route.bodyBytes }),
      config: { takesUploads: route.form !== undefined },
      onRequest: (request, reply) => gate.admit(request, reply, route.scope),
      handler: (request, reply) => serve(route, deps, uploads, gate.admitted(request), request, reply),
    });
  }
}

/**
 * PostgreSQL stores neither zero characters nor halves of surrogate pairs.
 * @throws RequestRefused 400 naming where one stands
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

async function serve(
  route: ApiRoute,
  deps: ApiDeps,
  limits: UploadLimits,
  key: Principal,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort(new Error('the client has gone')));
  const { params, query, method, url } = request;
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  );
  const form = route.form !== undefined && request.isMultipart() ? await readUpload(request, limits) : undefined;
  try {
    const body = form?.fields ?? request.body ?? {};
    refuseUnstorable({ params, query, body, file: form?.file.name });
    const asked = { key, params, query, body, upload: form?.file, requestId: request.id, headers, signal: gone.signal };
    if (method === 'GET') {
      const answer = await route.serve(asked, reply);
      return reply.sent || answer === reply ? reply : await reply.code(route.status).send(answer);
    }
    const keyed = {
      by: key,
      key: headers['idempotency-key'],
      method,
      url,
      body: [body, form?.file.sha256],
      callId: aboutCall.safeParse(params).data?.callId,
      keptOf: route.kept,
    };
    const { status, location, answer, isReplay } = await servedOnce(deps, keyed, async () => {
      const given = await route.serve(asked, reply);
      return { status: route.status, location: reply.getHeader('location')?.toString(), answer: given };
    });
    if (location !== undefined) reply.header('location', location);
    if (isReplay) reply.header('idempotent-replayed', 'true');
    return await reply.code(status).send(answer);
  } catch (error) {
    if (error instanceof z.ZodError) throw new RequestRefused(400, z.prettifyError(error));
    // A cursor that is none of ours is the client's mistake.
    if (error instanceof OffhookError && error.code === 'OFFHOOK_STORE_RECORD') throw new RequestRefused(400, error.message);
    throw error;
  } finally {
    await form?.file[Symbol.asyncDispose]();
  }
}
