import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { eventually } from '../../support/eventually.ts';
import { startGatewayBench } from './gateway-bench.ts';

const span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  startTimeUnixNano: z.coerce.bigint(),
  endTimeUnixNano: z.coerce.bigint(),
  attributes: z.array(z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) })),
  links: z.array(z.object({ traceId: z.string(), spanId: z.string() })).default([]),
});
type Span = z.output<typeof span>;
/** https://opentelemetry.io/docs/specs/otlp/#otlphttp-request, in JSON. */
const exported = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(z.unknown()) }),
      scopeSpans: z.array(z.object({ spans: z.array(span) })),
    }),
  ),
});

it('exports a call as a trace whose turns and stages are spans, and sends their context to the bot and the webhooks', async () => {
  const received: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      received.push({ path: request.url ?? '', headers: request.headers, body });
      response.setHeader('content-type', 'application/json');
      response.end(request.url === '/bot' ? JSON.stringify([{ type: 'say', text: 'Alpha.' }]) : '{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = mkdtempSync(join(tmpdir(), 'offhook-traces-'));
  const endpoints = join(folder, 'endpoints.yaml');
  writeFileSync(
    endpoints,
    `endpoints: [{ name: all, url: '${url}/hook', secretEnv: HOOK_SECRET, allowPrivate: true, events: [call.ended] }]`,
  );
  const bench = await startGatewayBench({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-team=voice%20bots',
      OFFHOOK_WEBHOOKS__ENDPOINTS: endpoints,
      HOOK_SECRET: 'a secret of an endpoint',
    },
    otherBots: { served: `dialog: { kind: http, url: '${url}/bot' }` },
  });
  const call = await bench.dial(undefined, { bot: 'served' });
  const session = bench.sessionOf(call);
  await eventually('the bot to listen', () => session.standing.phase === 'listening');
  call.stream.press('7');
  await eventually('the second reply to end', () => session.standing.turns > 1 && session.standing.phase === 'listening');
  await call.hangUp();
  const record = await session.ended;
  await eventually('the webhook', () => received.some(({ path }) => path === '/hook'));
  await bench[Symbol.asyncDispose]();
  server.close();
  rmSync(folder, { recursive: true });

  const exports = received.filter(({ path }) => path === '/v1/traces');
  expect(new Set(exports.map(({ headers }) => headers['x-team']))).toEqual(new Set(['voice bots']));
  const resources = exports.flatMap(({ body }) => exported.parse(JSON.parse(body)).resourceSpans);
  expect(JSON.stringify(resources[0]?.resource)).toContain('"offhook"');
  const spans = resources.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  const named = (name: string): Span[] => spans.filter((each) => each.name === name);
  const [root] = named('call');
  if (root === undefined) throw new Error('the call has no span');
  expect(named('call')).toHaveLength(1);
  expect(root.parentSpanId).toBeUndefined();
  expect(Number(root.endTimeUnixNano - root.startTimeUnixNano) / 1e6).toBeCloseTo(record.durationMs, -1);

  const turns = named('turn');
  expect(turns.map(({ traceId, parentSpanId }) => [traceId, parentSpanId])).toEqual(turns.map(() => [root.traceId, root.spanId]));
  expect(turns).toHaveLength(record.turns.length);
  const stages = ['dialog', 'tts-first-byte', 'first-frame'].flatMap((name) => named(name));
  expect(stages).toHaveLength(3 * turns.length);
  for (const stage of stages) {
    const turn = turns.find(({ spanId }) => spanId === stage.parentSpanId);
    expect(turn, stage.name).toBeDefined();
    expect(stage.startTimeUnixNano >= (turn?.startTimeUnixNano ?? 0n)).toBe(true);
    expect(stage.endTimeUnixNano <= (turn?.endTimeUnixNano ?? 0n)).toBe(true);
  }

  const contextOf = ({ traceId, spanId }: Span): string => `00-${traceId}-${spanId}-01`;
  const sent = (path: string): unknown[] =>
    received.filter((each) => each.path === path).map(({ headers }) => headers['traceparent']);
  expect(sent('/bot')).toEqual(named('dialog').map(contextOf));
  expect(sent('/hook')).toEqual([contextOf(root)]);
  const jobs = spans.filter(({ name }) => name.startsWith('job '));
  expect(jobs.length).toBeGreaterThan(0);
  for (const { links, traceId } of jobs.filter(({ attributes }) => JSON.stringify(attributes).includes(record.id))) {
    expect(links).toMatchObject([{ traceId: root.traceId, spanId: root.spanId }]);
    expect(traceId).not.toBe(root.traceId);
  }
  const told = exports.map(({ body }) => body).join();
  for (const secret of [record.from, record.to, 'Alpha', 'a secret of', bench.authToken]) expect(told).not.toContain(secret);
});
