import { z } from 'zod';
import type { FastifyInstance } from 'fastify';

export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * A zod schema as JSON Schema, in the dialect of OpenAPI 3.1 and AsyncAPI 3.0.
 * @param side `input` for data before parsing, `output` for parsed data
 */
export function schemaOf(schema: z.ZodType, side: 'input' | 'output' = 'input'): JsonSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: side, unrepresentable: 'any' });
  return rest;
}

/** An object's schema with some fields replaced or added. */
export function withFields(
  schema: JsonSchema,
  fields: Readonly<Record<string, JsonSchema>>,
  more: JsonSchema = { required: [] },
): JsonSchema {
  const known = schema['properties'];
  return { ...schema, ...more, properties: { ...(typeof known === 'object' ? known : {}), ...fields } };
}

/** A request of a service, for its description. */
export interface Operation {
  readonly method: 'get' | 'post' | 'delete';
  readonly path: string;
  readonly summary: string;
  /** Needs no credential. */
  readonly open?: boolean;
  readonly query?: Readonly<Record<string, JsonSchema>>;
  /** One schema for each content type; absent when there is no body. */
  readonly body?: Readonly<Record<string, JsonSchema>>;
  /** One schema for each content type of the answer 200; undefined is audio. */
  readonly answer: Readonly<Record<string, z.ZodType | undefined>>;
  /** Headers of the answer 200 besides X-Request-Id, with their meaning. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly errors: readonly (keyof typeof errorMeanings)[];
}

export interface Service {
  readonly title: string;
  readonly description: string;
  /** How a credential is sent. */
  readonly credential?: JsonSchema;
  readonly error: z.ZodType;
  readonly operations: readonly Operation[];
}

const errorMeanings = {
  400: 'Missing or malformed fields, or values out of their range',
  401: 'The credential is missing, malformed, expired or refused',
  403: 'The credential lacks the permission',
  404: 'There is nothing of that name',
  413: 'The body or the audio is too large or too long',
  415: 'The audio could not be decoded',
  422: 'A field has the wrong type or value',
  429: 'Too many requests at once or in a minute; Retry-After says when to come back',
  500: 'Internal error',
  503: 'An internal dependency is temporarily unavailable',
  504: 'The request took longer than its window',
} as const;

/** The description of a service in OpenAPI 3.1; its server is the one it is read from. */
function openApi(service: Service): JsonSchema {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of service.operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: described(operation, service) };
  }
  const { title, description, credential } = service;
  return {
    openapi: '3.1.0',
    info: { title, version: 'v1', description },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: { Error: schemaOf(service.error) },
      ...(credential === undefined ? {} : { securitySchemes: { credential } }),
    },
  };
}

function described(operation: Operation, { credential }: Service): JsonSchema {
  const { query, body, answer, headers = {}, errors } = operation;
  const shown = Object.entries({ 'X-Request-Id': 'Names the request in the log', ...headers });
  return {
    operationId: [operation.method, ...operation.path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')].join('-'),
    summary: operation.summary,
    security: credential === undefined || operation.open === true ? [] : [{ credential: [] }],
    ...(query === undefined
      ? {}
      : { parameters: Object.entries(query).map(([name, schema]) => ({ name, in: 'query', schema })) }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: contentOf(Object.entries(body)) } }),
    responses: {
      200: {
        description: 'It worked',
        headers: Object.fromEntries(shown.map(([name, description]) => [name, { description, schema: { type: 'string' } }])),
        content: contentOf(Object.entries(answer).map(([type, schema]) => [type, schema && schemaOf(schema)])),
      },
      ...Object.fromEntries(
        errors.map((status) => [
          status,
          {
            description: errorMeanings[status],
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
          },
        ]),
      ),
    },
  };
}

/** Audio has no schema in OpenAPI 3.1, only its content type. */
function contentOf(entries: readonly (readonly [string, JsonSchema | undefined])[]): JsonSchema {
  return Object.fromEntries(entries.map(([type, schema]) => [type, schema === undefined ? {} : { schema }]));
}

/** Serves a service's description, without credential: `GET /openapi.json` and, with sockets, `GET /asyncapi.json`. */
export function addDescriptionRoutes(app: FastifyInstance, service: () => Service, sockets?: () => SocketInterface): void {
  // Built at the first request.
  let document: unknown;
  app.get('/openapi.json', () => (document ??= openApi(service())));
  if (sockets !== undefined) app.get('/asyncapi.json', (request) => asyncApi(sockets(), request.host));
}

/** One kind of frame: JSON of a schema, a bare word as text, or bytes. */
type Frame =
  | { readonly summary: string; readonly json: z.ZodType | JsonSchema }
  | { readonly summary: string; readonly text: string }
  | { readonly summary: string; readonly bytes: true };

/** One WebSocket interface of a service. */
export interface SocketInterface {
  readonly title: string;
  readonly description: string;
  /** All paths are the same interface. */
  readonly paths: readonly string[];
  /** The credential of the upgrade; absent when it is sent in a frame. */
  readonly credential?: JsonSchema;
  /** Fields of the query. */
  readonly query?: JsonSchema;
  readonly fromClient: Readonly<Record<string, Frame>>;
  readonly fromServer: Readonly<Record<string, Frame>>;
}

/**
 * The description of a WebSocket interface in AsyncAPI 3.0.
 * @param host the address of the request, `host:port`
 */
function asyncApi(about: SocketInterface, host: string): JsonSchema {
  const { title, description, credential, query } = about;
  const frames = { ...about.fromClient, ...about.fromServer };
  const messages = Object.fromEntries(Object.entries(frames).map(([name, frame]) => [name, messageOf(name, frame)]));
  const channels = about.paths.map((address) => [channelName(address), address] as const);
  const operation = (action: 'send' | 'receive', channel: string, names: readonly string[]): JsonSchema => ({
    action,
    channel: { $ref: `#/channels/${channel}` },
    messages: names.map((name) => ({ $ref: `#/channels/${channel}/messages/${name}` })),
  });
  return {
    asyncapi: '3.0.0',
    info: { title, version: 'v1', description },
    defaultContentType: 'application/json',
    servers: {
      here: {
        host,
        protocol: 'ws',
        ...(credential === undefined ? {} : { security: [{ $ref: '#/components/securitySchemes/credential' }] }),
      },
    },
    channels: Object.fromEntries(
      channels.map(([name, address]) => [
        name,
        {
          address,
          messages: Object.fromEntries(Object.keys(frames).map((key) => [key, { $ref: `#/components/messages/${key}` }])),
          bindings: { ws: { method: 'GET', ...(query === undefined ? {} : { query }) } },
        },
      ]),
    ),
    // From the platform's point of view, as in AsyncAPI 3.
    operations: Object.fromEntries(
      channels.flatMap(([name]) => [
        [`receive-${name}`, operation('receive', name, Object.keys(about.fromClient))],
        [`send-${name}`, operation('send', name, Object.keys(about.fromServer))],
      ]),
    ),
    components: { messages, ...(credential === undefined ? {} : { securitySchemes: { credential } }) },
  };
}

function channelName(address: string): string {
  return address
    .split('/')
    .filter((word) => word !== '')
    .join('-');
}

function messageOf(name: string, frame: Frame): JsonSchema {
  const { summary } = frame;
  if ('text' in frame) return { name, summary, contentType: 'text/plain', payload: { type: 'string', const: frame.text } };
  if ('bytes' in frame)
    return { name, summary, contentType: 'application/octet-stream', payload: { type: 'string', format: 'binary' } };
  const schema = frame.json;
  return { name, summary, contentType: 'application/json', payload: isZod(schema) ? schemaOf(schema) : schema };
}

function isZod(schema: z.ZodType | JsonSchema): schema is z.ZodType {
  return 'safeParse' in schema;
}
