import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { analysisRoutes } from '../../../src/http/api/analysis-routes.ts';
import type { ApiDeps } from '../../../src/http/api/api-deps.ts';
import { API_SCOPES } from '../../../src/http/api/api-keys.ts';
import { callRoutes } from '../../../src/http/api/call-routes.ts';
import { jobRoutes } from '../../../src/http/api/job-routes.ts';
import { submissionRoutes } from '../../../src/http/api/submission-routes.ts';

const text = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8');

/** No route is served here: they are only listed. */
const unused = { live: {} } as ApiDeps;

it('has a row in docs/api.md for every route, with its scope, and for nothing else', () => {
  const routes = [callRoutes, analysisRoutes, submissionRoutes, jobRoutes].flatMap((routesOf) => routesOf(unused));
  const served = routes.map(({ method, path, scope }) => [`${method} /api${path.replace(/:callId\b/u, ':id')}`, scope]);
  const rows = [...text.matchAll(/^\| `((?:GET|POST|DELETE) [^`]+)` +\| `([^`]+)` +\|/gmu)].map(([, route, scope]) => [
    route,
    scope,
  ]);
  expect(rows.map(String).sort()).toEqual(served.map(String).sort());
});

it('names every scope in docs/api.md', () => {
  expect(API_SCOPES.filter((scope) => !text.includes(`\`${scope}\``))).toEqual([]);
});
