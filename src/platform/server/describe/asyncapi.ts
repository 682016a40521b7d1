import type { z } from 'zod';
import { type JsonSchema, schemaOf } from './json-schema.ts';

/** One kind of frame: JSON of a schema, a bare word as text, or bytes. */
export type Frame =
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
export function asyncApi(about: SocketInterface, host: string): JsonSchema {
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
