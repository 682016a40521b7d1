import { readFileSync } from 'node:fs';
import { fastify } from 'fastify';
import { expect, it } from 'vitest';
import { apiRoutes } from '../../../src/http/api/api.ts';
import type { ApiDeps } from '../../../src/http/api/api-app.ts';
import { API_SCOPES } from '../../../src/http/api/api-keys.ts';
import { ManualClock } from '../../../src/sim/manual-clock.ts';

const text = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8');

/** No route is served here: they are only described. */
const unused = {
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
  replays: {},
  dispatcher: {},
  bots: { chats: {} },
  clock: new ManualClock(),
} as unknown as ApiDeps;

it('has a row in docs/api.md for every route, with its scope, and for nothing else', async () => {
  await using app = fastify();
  app.register(async (scope) => apiRoutes(scope, unused, { maxUploadBytes: 1 }));
  const { paths } = (await app.inject({ url: '/api/openapi.json' })).json<{
    paths: Record<string, Record<string, { description: string }>>;
  }>();
  const served = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { description }]) => [
      `${method.toUpperCase()} /api${path.replace(/\{(?:call|attempt|chat)Id\}/u, ':id').replaceAll(/\{(\w+)\}/gu, ':$1')}`,
      /`(.+)`/u.exec(description)?.[1],
    ]),
  );
  const rows = [...text.matchAll(/^\| `((?:GET|POST|DELETE) [^`]+)` +\| `([^`]+)` +\|/gmu)].map(([, route, scope]) => [
    route,
    scope,
  ]);
  expect(rows.map(String).sort()).toEqual(served.map(String).sort());
});

it('names every scope in docs/api.md', () => {
  expect(API_SCOPES.filter((scope) => !text.includes(`\`${scope}\``))).toEqual([]);
});
