import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import type { ApiKey, ApiScope } from './api-keys.ts';

/** Who asks, and for what. */
export interface ApiRequest<Params, Query, Body> {
  readonly key: ApiKey;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Ours, a new one for each request. */
  readonly requestId: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
}

/** One route of the API: what serves it is what the OpenAPI document is made of. */
export interface ApiRoute {
  readonly method: 'GET' | 'POST';
  /** With parameters as `:name`. */
  readonly path: string;
  readonly scope: ApiScope;
  readonly summary: string;
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  readonly body: z.ZodType | undefined;
  /** What a good answer is; undefined for one that is no JSON. */
  readonly response: z.ZodType | undefined;
  /** Of an answer that is no JSON. */
  readonly contentType: string | undefined;
  readonly status: number;
  /** @returns the answer, or what it has sent by itself */
  readonly serve: (request: ApiRequest<unknown, unknown, unknown>, reply: FastifyReply) => Promise<unknown>;
}

interface RouteSpec<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType> {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly scope: ApiScope;
  readonly summary: string;
  readonly params: Params;
  readonly query: Query;
  readonly body?: Body;
  readonly response?: z.ZodType;
  readonly contentType?: string;
  readonly status?: number;
  readonly serve: (
    request: ApiRequest<z.output<Params>, z.output<Query>, z.output<Body>>,
    reply: FastifyReply,
  ) => Promise<unknown>;
}

/** A route whose handler gets what its schemas make of a request. */
export function apiRoute<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType>(
  spec: RouteSpec<Params, Query, Body>,
): ApiRoute {
  const { method = 'GET', path, scope, summary, params, query, body, response, contentType, status = 200, serve } = spec;
  return {
    method,
    path,
    scope,
    summary,
    params,
    query,
    body,
    response,
    contentType,
    status,
    serve: ({ params: given, query: asked, body: sent, ...rest }, reply) =>
      serve(
        { ...rest, params: params.parse(given), query: query.parse(asked), body: body?.parse(sent) as z.output<Body> },
        reply,
      ),
  };
}
