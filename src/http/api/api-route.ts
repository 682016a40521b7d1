import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import type { ApiKey, ApiScope } from './api-keys.ts';
import type { UploadedFile } from './upload.ts';

/** Who asks: an API key, or whoever a token speaks for. */
export type Principal = Pick<ApiKey, 'id' | 'tenantId' | 'scopes'>;

/** Who asks, and for what. */
export interface ApiRequest<Params, Query, Body> {
  readonly key: Principal;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The file of a multipart body; gone when the request has been served. */
  readonly upload: UploadedFile | undefined;
  /** Ours, a new one for each request. */
  readonly requestId: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
}

type Method = 'GET' | 'POST' | 'DELETE';

/** One route of the API: what serves it is what the OpenAPI document is made of. */
export interface ApiRoute {
  readonly method: Method;
  /** With parameters as `:name`. */
  readonly path: string;
  readonly scope: ApiScope;
  readonly summary: string;
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  readonly body: z.ZodType | undefined;
  /** Largest JSON body, in bytes; the API's own limit when undefined. */
  readonly bodyBytes: number | undefined;
  /** The fields of a multipart body with a `file`; undefined where none is taken. */
  readonly form: z.ZodType | undefined;
  /** What a good answer is; undefined for one that is no JSON. */
  readonly response: z.ZodType | undefined;
  /** Of an answer that is no JSON. */
  readonly contentType: string | readonly string[] | undefined;
  readonly status: number;
  /** What of an answer is stored for a repeat under the same idempotency key. */
  readonly kept: (answer: unknown) => unknown;
  /** @returns the answer, or what it has sent by itself */
  readonly serve: (request: ApiRequest<unknown, unknown, unknown>, reply: FastifyReply) => Promise<unknown>;
}

interface RouteSpec<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType, Form extends z.ZodType> {
  readonly method?: Method;
  readonly path: string;
  readonly scope: ApiScope;
  readonly summary: string;
  readonly params: Params;
  readonly query: Query;
  readonly body?: Body;
  readonly bodyBytes?: number;
  readonly form?: Form;
  readonly response?: z.ZodType;
  readonly contentType?: string | readonly string[];
  readonly status?: number;
  /** For answers that have something personal in them; the others are stored whole for a repeat. */
  readonly kept?: (answer: unknown) => unknown;
  readonly serve: (
    request: ApiRequest<z.output<Params>, z.output<Query>, z.output<Body> | z.output<Form>>,
    reply: FastifyReply,
  ) => Promise<unknown>;
}

/** A route whose handler gets what its schemas make of a request. */
export function apiRoute<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType = z.ZodNever,
  Form extends z.ZodType = z.ZodNever,
>(spec: RouteSpec<Params, Query, Body, Form>): ApiRoute {
  const { method = 'GET', path, scope, summary, params, query, response, contentType, status = 200, serve } = spec;
  const { body, bodyBytes, form, kept = (answer) => answer } = spec;
  return {
    method,
    path,
    scope,
    summary,
    params,
    query,
    body,
    bodyBytes,
    form,
    response,
    contentType,
    status,
    kept,
    serve({ params: given, query: asked, body: sent, ...rest }, reply) {
      const said = (rest.upload === undefined ? body : form)?.parse(sent) as z.output<Body> | z.output<Form>;
      return serve({ ...rest, params: params.parse(given), query: query.parse(asked), body: said }, reply);
    },
  };
}
