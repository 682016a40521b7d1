import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '../../src/config/load.ts';
import { catalogue } from '../../src/config/schema.ts';
import { createMetrics } from '../../src/observability/metrics.ts';

// What a proxy, a service manager or a cluster would trip over, looked for in the files of deploy/.

const root = fileURLToPath(new URL('../../deploy', import.meta.url));
const COMPOSE_PROXY = '../docker/haproxy.cfg';
const read = (path: string): string => readFileSync(`${root}/${path}`, 'utf8');
const { settings } = loadConfig({ env: {}, files: [] });
const stopMs = settings.call.drainMs + settings.http.closeGraceMs;
/** Paths that only the inside may ask. */
const PRIVATE = ['/metrics', '/readyz'];

const knownNames = new Set(
  catalogue.flatMap(({ envName, aliases = [], secret }) =>
    [envName, ...aliases].flatMap((name) => (secret === true ? [name, `${name}_FILE`] : [name])),
  ),
);

describe('deploy/', () => {
  it('names only metrics that a gateway has, in rules, dashboard and autoscaler', async () => {
    const metrics = createMetrics();
    metrics.watchProcesses(() => ({ up: 1, restarts: 0 }));
    const known = (await metrics.snapshot()).flatMap(({ name, type }) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    );
    const paths = [
      'prometheus/rules.yaml',
      'prometheus/adapter.yaml',
      'grafana/offhook.json',
      'helm/offhook/templates/scaling.yaml',
    ];
    const named = paths.flatMap((path) => [...read(path).matchAll(/\boffhook_\w+/gu)].map(([name]) => name));
    expect(named.length).toBeGreaterThan(30);
    expect([...new Set(named)].filter((name) => !known.includes(name))).toEqual([]);
  });

  it('records every series of its own that rules use, and gives each alert a severity and a text', () => {
    const rule = z.looseObject({ record: z.string().optional(), alert: z.string().optional(), expr: z.string() });
    const { groups } = z
      .object({ groups: z.array(z.object({ name: z.string(), rules: z.array(rule) })) })
      .parse(parse(read('prometheus/rules.yaml')));
    const rules = groups.flatMap((group) => group.rules);
    const recorded = rules.flatMap(({ record }) => record ?? []);
    const used = rules.flatMap(({ expr }) => [...expr.matchAll(/\boffhook:[\w:]+/gu)].map(([name]) => name));
    expect(used.filter((name) => !recorded.includes(name))).toEqual([]);
    const told = z.looseObject({
      labels: z.object({ severity: z.enum(['warning', 'critical']) }),
      annotations: z.object({ summary: z.string(), description: z.string() }),
    });
    for (const each of rules.filter(({ alert }) => alert !== undefined))
      expect(told.safeParse(each).error, each.alert).toBeUndefined();
  });

  it('has panels with queries, each with an id and a place of its own', () => {
    const panel = z.looseObject({
      id: z.int(),
      gridPos: z.object({ x: z.int(), y: z.int(), w: z.int(), h: z.int() }),
      targets: z.array(z.looseObject({ expr: z.string().min(1) })).min(1),
    });
    const { panels } = z.looseObject({ panels: z.array(panel).min(10) }).parse(JSON.parse(read('grafana/offhook.json')));
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)).size).toBe(panels.length);
  });

  it('names only settings that exist', () => {
    const paths = globSync('**/*', { cwd: root });
    expect(paths.length).toBeGreaterThan(10);
    const named = paths.flatMap((path) =>
      [...read(path).matchAll(/\b(?:OFFHOOK_[A-Z0-9_]+|DATABASE_URL|REDIS_URL)\b/gu)].map(([name]) => name),
    );
    expect([...new Set(named)].filter((name) => !knownNames.has(name))).toEqual([]);
  });

  it('keeps metrics and readiness from the public, and tokens out of logs, in every proxy', () => {
    for (const path of ['nginx/offhook.conf', 'haproxy/haproxy.cfg', 'caddy/Caddyfile']) {
      for (const each of PRIVATE)
        expect(read(path), path).toMatch(new RegExp(`(?:deny|location = |@private path)[^\\n]*${each}\\b`, 'u'));
      expect(read(path), path).toContain('X-Forwarded-For');
    }
    // It stands behind a proxy that ends TLS and names the caller's address.
    for (const each of PRIVATE) expect(read(COMPOSE_PROXY)).toMatch(new RegExp(`deny[^\\n]*${each}\\b`, 'u'));
    for (const path of ['nginx/offhook.conf', 'haproxy/haproxy.cfg', COMPOSE_PROXY])
      expect(read(path), path).toContain('^/carriers/[^/]+/(stream|document)/');
    expect(read('caddy/Caddyfile')).not.toMatch(/^\s*log\b/mu);
    const { paths } = z
      .object({ ingress: z.looseObject({ paths: z.array(z.string()) }) })
      .parse(parse(read('helm/offhook/values.yaml'))).ingress;
    expect(paths.filter((path) => [...PRIVATE, '/', '/healthz', '/admin'].includes(path))).toEqual([]);
  });

  it('lets gateways of a release alone reach the port for each other', () => {
    const chart = read('helm/offhook/templates/gateway.yaml');
    expect(chart).toMatch(/OFFHOOK_CLUSTER__ADDRESS\n\s+value: http:\/\/\$\(POD_NAME\)\..*-pods:8090$/mu);
    expect(chart).toMatch(/name: internal\n\s+containerPort: 8090$/mu);
    const rule = /- port: internal\n\s+from:\n\s+- podSelector:\n\s+matchLabels:.*\n\s+app.kubernetes.io\/component: gateway$/mu;
    expect(read('helm/offhook/templates/network.yaml')).toMatch(rule);
    for (const path of ['nginx/offhook.conf', 'haproxy/haproxy.cfg', 'caddy/Caddyfile', COMPOSE_PROXY])
      expect(read(path)).not.toContain('8090');
  });

  it('stops no gateway before live calls have ended or heard their goodbye', () => {
    const unit = read('systemd/offhook.service');
    expect(Number(/^TimeoutStopSec=(\d+)$/mu.exec(unit)?.[1]) * 1_000).toBeGreaterThan(stopMs);
    expect(unit).toContain('KillMode=mixed');
    const chart = read('helm/offhook/templates/gateway.yaml');
    const beyondDrainS = Number(/terminationGracePeriodSeconds: \{\{ add \.Values\.drainSeconds (\d+) \}\}/u.exec(chart)?.[1]);
    expect(beyondDrainS * 1_000).toBeGreaterThan(stopMs);
    expect(chart).toContain('[node, bin/offhook.js, drain, --wait, {{ .Values.drainSeconds | quote }}]');
  });
});
