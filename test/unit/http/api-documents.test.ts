import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { API_SCOPES } from '../../../src/http/api/system/api-keys.ts';
import { describedRoutes } from '../../support/api-routes.ts';

const text = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8');

it('has a row in docs/api.md for every route, with its scope, and for nothing else', async () => {
  const served = (await describedRoutes()).map(({ route, description }) => [
    route
      .replace(' ', ' /api')
      .replace(/\{(?:call|attempt|chat)Id\}/u, ':id')
      .replaceAll(/\{(\w+)\}/gu, ':$1'),
    /`(.+)`/u.exec(description)?.[1],
  ]);
  const rows = [...text.matchAll(/^\| `((?:GET|POST|PUT|DELETE) [^`]+)` +\| `([^`]+)` +\|/gmu)].map(([, route, scope]) => [
    route,
    scope,
  ]);
  expect(rows.map(String).sort()).toEqual(served.map(String).sort());
});

it('names every scope in docs/api.md', () => {
  expect(API_SCOPES.filter((scope) => !text.includes(`\`${scope}\``))).toEqual([]);
});
