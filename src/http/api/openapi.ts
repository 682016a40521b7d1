import type { FastifyDynamicSwaggerOptions, SwaggerTransform } from '@fastify/swagger';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import { z } from 'zod';

const IDEMPOTENCY_KEY = {
  type: 'string',
  minLength: 1,
  maxLength: 100,
  description: 'The same request again with the same key gets the same answer, for a day.',
};
const PROBLEM = {
  type: 'object' as const,
  properties: {
    type: { type: 'string' as const },
    title: { type: 'string' as const },
    status: { type: 'integer' as const },
    detail: { type: 'string' as const },
    requestId: { type: 'string' as const },
  },
  required: ['type', 'title', 'status'],
};
const REFUSED = {
  description: 'Refused',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};

/** A file of contacts may be the body itself. */
const CSV_BODY = { 'text/csv': { schema: { type: 'string' } } };

/** Adds the common parts to a route's schemas: scope, idempotency key, problem document. */
const withCommonParts: SwaggerTransform = (document) => {
  const { url, schema } = jsonSchemaTransform(document);
  const { config, method } = document.route;
  if (config?.scope === undefined) return { url, schema: { ...schema, hide: true } };
  const { body } = document.schema;
  const described = {
    ...schema,
    description: `Needs the scope \`${config.scope}\`.`,
    ...(body instanceof z.ZodUnion
      ? { body: { content: { ...bodiesOf(body), ...(config.takesUploads === 'contacts' ? CSV_BODY : {}) } } }
      : {}),
    ...(method === 'GET' ? {} : { headers: { type: 'object', properties: { 'Idempotency-Key': IDEMPOTENCY_KEY } } }),
    response: { ...withDescriptions(schema['response'] as Record<string, object>), default: REFUSED },
  };
  return { url, schema: described };
};

/** For `@fastify/swagger`: the OpenAPI 3.1 document of the routes, from the schemas that check requests. */
export const OPENAPI: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: '3.1.0',
    info: { title: 'Offhook', version: '1', description: 'Calls, recordings and analyses.' },
    servers: [{ url: '/api' }],
    security: [{ key: [] }],
    components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } }, schemas: { Problem: PROBLEM } },
  },
  convertConstToEnum: false,
  transform: withCommonParts,
  transformObject: (document) =>
    withOptionalBodies('openapiObject' in document ? document.openapiObject : document.swaggerObject),
};

type Bodies = Readonly<Record<string, Readonly<Record<string, { readonly requestBody?: Body }>>>>;
interface Body {
  required?: boolean;
  readonly content: Readonly<Record<string, { readonly schema?: object }>>;
}

/** A body without required fields is optional. */
function withOptionalBodies<Document extends object>(document: Document): Document {
  const { paths = {} } = document as { readonly paths?: Bodies };
  for (const { requestBody: body } of Object.values(paths).flatMap((methods) => Object.values(methods)))
    if (body !== undefined)
      body.required = Object.values(body.content).every(({ schema = {} }) => 'required' in schema || 'anyOf' in schema);
  return document;
}

/** The alternative with a `file` is a form; the others are JSON. */
function bodiesOf({ options }: z.ZodUnion): Record<string, { readonly schema: object }> {
  const isForm = (option: unknown): boolean => option instanceof z.ZodObject && 'file' in option.shape;
  const schemaOf = (forms: boolean): object => {
    const chosen = options.filter((option) => isForm(option) === forms);
    const schemas = chosen.map((option) => {
      const { $schema: _dialect, ...schema } = z.toJSONSchema(option, { io: 'input', unrepresentable: 'any' });
      return schema;
    });
    return schemas.length === 1 ? { ...schemas[0] } : { anyOf: schemas };
  };
  const form = options.some(isForm) ? { 'multipart/form-data': { schema: schemaOf(true) } } : {};
  return { 'application/json': { schema: schemaOf(false) }, ...form };
}

function withDescriptions(answers: Readonly<Record<string, object>> = {}): Record<string, object> {
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => {
      const content = 'content' in answer ? answer.content : { 'application/json': { schema: answer } };
      return [status, { description: 'Done', content }];
    }),
  );
}
