import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { OffhookError } from '../../kernel/errors.ts';
import { RequestRefused, sendProblem } from '../problem.ts';
import { analysisRoutes } from './analysis-routes.ts';
import type { ApiDeps } from './api-deps.ts';
import type { ApiKey } from './api-keys.ts';
import type { ApiRoute } from './api-route.ts';
import { browsePage, PAGE_POLICY } from './browse-page.ts';
import { callRoutes } from './call-routes.ts';
import { jobRoutes } from './job-routes.ts';
import { openApiDocument } from './open-api.ts';
import { RateLimit } from './rate-limit.ts';

const BODY_BYTES = 65_536;

/**
 * The API under `/api`: every route wants a key with its scope, except the description of the API itself. For a scope of its
 * own, since bodies are JSON here.
 */
export function apiRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const routes = [...callRoutes(deps), ...analysisRoutes(deps), ...jobRoutes(deps)];
  const limit = new RateLimit(deps.clock);
  app.addContentTypeParser('application/json', { parseAs: 'string', bodyLimit: BODY_BYTES }, (_request, body, done) => {
    try {
      done(null, JSON.parse(String(body)));
    } catch {
      done(new RequestRefused(400, 'The body is not JSON.'));
    }
  });
  app.get('/api/openapi.json', (_request, reply) => reply.send(openApiDocument(routes, '/api')));
  const page = browsePage(routes);
  app.get('/api', (_request, reply) =>
    reply.type('text/html; charset=utf-8').header('content-security-policy', PAGE_POLICY).send(page),
  );
  for (const route of routes) {
    app.route({
      method: route.method,
      url: `/api${route.path}`,
      handler: async (request, reply) => {
        const key = admitted(request, reply, route, deps, limit);
        return key === undefined ? reply : serve(route, key, request, reply);
      },
    });
  }
}

/** @returns undefined when it was refused, and told so */
function admitted(
  request: FastifyRequest,
  reply: FastifyReply,
  { scope }: ApiRoute,
  { keys }: ApiDeps,
  limit: RateLimit,
): ApiKey | undefined {
  const secret = /^Bearer (\S{1,200})$/iu.exec(request.headers.authorization ?? '')?.[1];
  const key = secret === undefined ? undefined : keys.find(secret);
  // Guessing is limited too, by address.
  const waitS = limit.take(key?.id ?? `guess ${request.ip}`);
  if (waitS > 0) {
    reply.header('retry-after', waitS);
    sendProblem(request, reply, 429, 'Too many requests.');
    return undefined;
  }
  if (key === undefined) {
    reply.header('www-authenticate', 'Bearer');
    sendProblem(request, reply, 401, 'This needs an API key: Authorization: Bearer <key>.');
    return undefined;
  }
  if (key.scopes.includes(scope)) return key;
  sendProblem(request, reply, 403, `This needs the scope ${scope}.`);
  return undefined;
}

async function serve(route: ApiRoute, key: ApiKey, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort(new Error('the client has gone')));
  const { params, query, body } = request;
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  );
  try {
    const answer = await route.serve(
      { key, params, query, body: body ?? {}, requestId: request.id, headers, signal: gone.signal },
      reply,
    );
    return reply.sent || answer === reply ? reply : await reply.code(route.status).send(answer);
  } catch (error) {
    if (error instanceof z.ZodError) throw new RequestRefused(400, z.prettifyError(error));
    // A cursor that is none of ours is the client's mistake.
    if (error instanceof OffhookError && error.code === 'OFFHOOK_STORE_RECORD') throw new RequestRefused(400, error.message);
    throw error;
  }
}
