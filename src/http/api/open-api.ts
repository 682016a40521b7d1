import { z } from 'zod';
import type { ApiRoute } from './api-route.ts';

/** The OpenAPI 3.1 document of the routes, made of the schemas that check them. */
export function openApiDocument(routes: readonly ApiRoute[], serverUrl: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/gu, '{$1}');
    (paths[path] ??= {})[route.method.toLowerCase()] = operation(route);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Offhook', version: '1', description: 'Calls, recordings and analyses.' },
    servers: [{ url: serverUrl }],
    security: [{ key: [] }],
    components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } }, schemas: { Problem: problem } },
    paths,
  };
}

const problem = {
  type: 'object',
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    requestId: { type: 'string' },
  },
  required: ['type', 'title', 'status'],
};

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same request again with the same key gets the same answer, for a day.',
  schema: { type: 'string', minLength: 1, maxLength: 100 },
};

function bodyOf({ body, form }: ApiRoute): Record<string, unknown> {
  const json = body === undefined ? {} : { 'application/json': { schema: schemaOf(body, 'input') } };
  const file = { type: 'string', contentMediaType: 'application/octet-stream' };
  const fields = form === undefined ? {} : schemaOf(form, 'input');
  const properties = { ...(fields['properties'] as object | undefined), file };
  const multipart =
    form === undefined ? {} : { 'multipart/form-data': { schema: { ...fields, properties, required: ['file'] } } };
  const content = { ...json, ...multipart };
  return Object.keys(content).length === 0 ? {} : { requestBody: { content } };
}

function operation(route: ApiRoute): Record<string, unknown> {
  const { method, summary, scope, params, query, response, contentType, status } = route;
  const content =
    contentType === undefined
      ? { 'application/json': { schema: schemaOf(response ?? z.unknown(), 'output') } }
      : Object.fromEntries([contentType].flat().map((type) => [type, {}]));
  const refusal = { content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } };
  return {
    summary,
    description: `Needs the scope \`${scope}\`.`,
    parameters: [
      ...parametersOf(params, 'path'),
      ...parametersOf(query, 'query'),
      ...(method === 'GET' ? [] : [IDEMPOTENCY_KEY]),
    ],
    ...bodyOf(route),
    responses: { [status]: { description: 'Done', content }, default: { description: 'Refused', ...refusal } },
  };
}

function parametersOf(schema: z.ZodType, where: 'path' | 'query'): Record<string, unknown>[] {
  const { properties = {}, required = [] } = schemaOf(schema, 'input') as {
    properties?: Record<string, unknown>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, each]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    schema: each,
  }));
}

/** @param io what a client sends, or what it gets */
export function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}
