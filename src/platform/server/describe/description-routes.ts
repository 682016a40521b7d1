import type { FastifyInstance } from 'fastify';
import { asyncApi, type SocketInterface } from './asyncapi.ts';
import { openApi, type Service } from './openapi.ts';

/** Serves what a service is: `GET /openapi.json` and, where it has sockets, `GET /asyncapi.json`, to everybody. */
export function addDescriptionRoutes(app: FastifyInstance, service: () => Service, sockets?: () => SocketInterface): void {
  // Made when asked for: most platforms never are.
  let document: unknown;
  app.get('/openapi.json', () => (document ??= openApi(service())));
  if (sockets !== undefined) app.get('/asyncapi.json', (request) => asyncApi(sockets(), request.host));
}
