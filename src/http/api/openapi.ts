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

/** The page is text: nothing is loaded and no script runs. */
export const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c;background:#fff}
h2{font:600 1.05rem ui-monospace,monospace;margin:2rem 0 .25rem}table{border-collapse:collapse;margin:.5rem 0}
td,th{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #ddd;vertical-align:top}code{font-family:ui-monospace,monospace}
summary{cursor:pointer}pre{overflow:auto;background:#f5f5f5;padding:.75rem}
@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#161616}td,th{border-color:#444}pre{background:#222}}`;

type Content = Readonly<Record<string, { readonly schema?: object }>>;

/** The part of an OpenAPI operation that the page shows. */
interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema?: object }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

/** The API's description for people, made from its OpenAPI document. */
export function browsePage({ paths = {} }: { readonly paths?: Readonly<Record<string, object | undefined>> }): string {
  const sections = Object.entries(paths).flatMap(([path, methods = {}]) =>
    Object.entries(methods as Readonly<Record<string, Operation>>).map(([method, operation]) => section(method, path, operation)),
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Offhook API</title><style>${STYLE}</style></head><body><main><h1>Offhook API</h1>
<p>Every route needs <code>Authorization: Bearer &lt;key&gt;</code>; <code>offhook api-keys create</code> makes keys, and tokens of your
login do where they are configured. What changes something takes an <code>Idempotency-Key</code>.
For programs: <a href="/api/openapi.json">openapi.json</a>.</p>
${sections.join('\n')}</main></body></html>`;
}

function section(method: string, path: string, { summary, description, parameters, requestBody, responses }: Operation): string {
  const [answer] = Object.values(responses);
  return `<section><h2>${method.toUpperCase()} /api${escaped(path.replaceAll(/\{(\w+)\}/gu, ':$1'))}</h2>
<p>${escaped(`${summary}. ${description}`).replaceAll(/`([^`]+)`/gu, '<code>$1</code>')}</p>
${parameterTable(parameters)}${contentBlocks('Body', requestBody?.content)}${contentBlocks('Answer', answer?.content)}</section>`;
}

function parameterTable(list: Operation['parameters'] = []): string {
  if (list.length === 0) return '';
  const body = list.map(
    ({ name, in: where, schema }) =>
      `<tr><td><code>${escaped(name)}</code></td><td>${where}</td><td><code>${escaped(JSON.stringify(schema))}</code></td></tr>`,
  );
  return `<table><thead><tr><th>parameter</th><th>in</th><th>takes</th></tr></thead><tbody>${body.join('')}</tbody></table>`;
}

function contentBlocks(title: string, content: Content = {}): string {
  const blocks = Object.entries(content).map(([type, { schema = {} }]) => {
    const name = `${title}: ${escaped(type)}`;
    if (Object.keys(schema).length === 0) return `<p>${name}</p>`;
    return `<details><summary>${name}</summary><pre>${escaped(JSON.stringify(schema, null, 1))}</pre></details>`;
  });
  return blocks.join('');
}

/** For element text, not for attributes. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
