import { fastify } from 'fastify';
import { apiRoutes } from '../../src/http/api/api.ts';
import type { ApiDeps } from '../../src/http/api/api-app.ts';
import { ManualClock } from './manual-clock.ts';

/** For an API whose routes are described and never served. */
export const unusedApi = {
  store: {},
  live: {},
  dialling: {},
  campaigns: {},
  dialLists: {},
  erasures: {},
  audit: {},
  browserCalls: {},
  system: {},
  peaks: {},
  voicemails: {},
  replays: {},
  evals: {},
  dispatcher: {},
  bots: { chats: {}, editing: {}, evals: {} },
  settings: {
    endpoints: {},
    members: { ways: [] },
    check: () => [],
    models: { get: () => undefined },
    trySpeech: () => undefined,
  },
  alerts: {},
  prices: {},
  clock: new ManualClock(),
} as unknown as ApiDeps;

/** Every route of the API as its description has it, those too that a gateway serves where it is configured for them alone: `GET /calls/{callId}`. */
export async function describedRoutes(): Promise<{ readonly route: string; readonly description: string }[]> {
  await using app = fastify();
  app.register(async (scope) => apiRoutes(scope, unusedApi, { maxUploadBytes: 1 }));
  const { paths } = (await app.inject({ url: '/api/openapi.json' })).json<{
    paths: Record<string, Record<string, { description: string }>>;
  }>();
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { description }]) => ({ route: `${method.toUpperCase()} ${path}`, description })),
  );
}
