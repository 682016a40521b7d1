import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { API_KEYS_FILE, ApiKeys } from '../../../src/http/api/system/api-keys.ts';
import { eventually } from '../../support/eventually.ts';
import { startGatewayBench } from './gateway-bench.ts';

const span = z.object({
  name: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  attributes: z.array(z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) })),
});
const exported = z.object({ resourceSpans: z.array(z.object({ scopeSpans: z.array(z.object({ spans: z.array(span) })) })) });
const part = z.object({ vendor: z.string(), unit: z.string(), amount: z.number(), cost: z.union([z.number(), z.string()]) });
const cost = z.object({
  currency: z.string(),
  total: z.union([z.number(), z.string()]),
  known: z.number(),
  parts: z.array(part),
});

/** Prices in whole numbers, so that a cost can be added up by hand. */
const PRICES = `currency: EUR
prices:
  - { vendor: twilio, unit: inbound-carrier-minutes, price: 0.5, date: "2026-11-01", source: a test }
  - { vendor: platform, unit: recogniser-seconds, price: 0, date: "2026-11-01", source: a test }
  - { vendor: platform, unit: synthesized-characters, price: 0.01, date: "2026-11-01", source: a test }
`;

/** A model's server that first calls a tool, then answers, a collector of traces and an endpoint of webhooks, in one. */
async function startServer() {
  const received: { readonly path: string; readonly body: string }[] = [];
  let asked = 0;
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      received.push({ path: request.url ?? '', body });
      if (request.url !== '/v1/chat/completions') return void response.setHeader('content-type', 'application/json').end('{}');
      asked += 1;
      const base = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'small' };
      const tool = { index: 0, id: 'call_a', type: 'function', function: { name: 'take_note', arguments: '{"text":"Alpha"}' } };
      const delta = asked === 1 ? { tool_calls: [tool] } : { content: 'Bravo.' };
      const usage = {
        prompt_tokens: 1000 * asked,
        completion_tokens: 10,
        total_tokens: 0,
        prompt_tokens_details: { cached_tokens: 400 },
      };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta }] })}\n\n`);
      response.end(`data: ${JSON.stringify({ ...base, choices: [], usage })}\n\ndata: [DONE]\n\n`);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, vendor: `127.0.0.1:${port}`, received, close: () => server.close() };
}

it('adds up what a call cost in its record, its webhook, the API and the export, and traces its model', async () => {
  const server = await startServer();
  const folder = mkdtempSync(join(tmpdir(), 'offhook-costs-'));
  const [prices, endpoints, alerts] = ['prices.yaml', 'endpoints.yaml', 'alerts.yaml'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const model = (unit: string, price: number): string =>
    `  - { vendor: "${server.vendor}", model: small, unit: ${unit}, price: ${price}, per: 1000, date: "2026-11-01", source: a test }\n`;
  writeFileSync(prices, PRICES + model('input-text-tokens', 1) + model('cached-tokens', 0.1) + model('output-text-tokens', 5));
  writeFileSync(
    endpoints,
    `endpoints: [{ name: all, url: '${server.url}/hook', secretEnv: HOOK_SECRET, allowPrivate: true, events: [call.ended] }]`,
  );
  writeFileSync(
    alerts,
    `channels: [{ kind: webhook, name: ops, url: '${server.url}/alerts', secretEnv: HOOK_SECRET, allowPrivate: true }]\nrules: [{ name: Costly, figure: spend-today, above: 1 }]`,
  );
  const bench = await startGatewayBench({
    env: {
      OFFHOOK_SPEND__PRICES: prices,
      OFFHOOK_ALERTS__FILE: alerts,
      OFFHOOK_WEBHOOKS__ENDPOINTS: endpoints,
      HOOK_SECRET: 'a secret of an endpoint',
      OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
      OFFHOOK_TELEMETRY__WORDS: 'true',
    },
    otherBots: {
      clerk: `dialog: { kind: llm, baseUrl: '${server.url}/v1', model: small, instructions: 'Book.', greeting: 'Hello.' }`,
    },
  });
  const call = await bench.dial(undefined, { bot: 'clerk' });
  const session = bench.sessionOf(call);
  await eventually('the bot to listen', () => session.standing.phase === 'listening');
  call.stream.press('7');
  await eventually('the second reply to end', () => session.standing.turns > 1 && session.standing.phase === 'listening');
  await call.hangUp();
  const { id, usage } = await session.ended;
  await eventually('the webhook', () => server.received.some(({ path }) => path === '/hook'));
  const keys = new ApiKeys(join(bench.dataDir, API_KEYS_FILE));
  const key = keys.create(
    { name: 'costs', tenantId: 'default', scopes: ['calls:read', 'system:read', 'system:control'] },
    0,
  ).secret;
  const ask = async (path: string): Promise<string> =>
    (await fetch(`${bench.gateway.url}/api${path}`, { headers: { authorization: `Bearer ${key}` } })).text();

  // Two requests: 600 and 1,600 new tokens at 0.001, 800 cached ones at 0.0001, 20 written ones at 0.005.
  const ofModel = 2.2 + 0.08 + 0.1;
  const spoken = usage.find(({ unit }) => unit === 'synthesized-characters')?.amount ?? 0;
  expect(spoken).toBeGreaterThan(0);
  const minutes = 0.5;
  const detail = z.object({ cost }).parse(JSON.parse(await ask(`/calls/${id}`)));
  expect(
    detail.cost.parts.filter(({ vendor }) => vendor === server.vendor).map((each) => [each.unit, each.amount, each.cost]),
  ).toEqual([
    ['input-text-tokens', 2200, 2.2],
    ['cached-tokens', 800, 0.08],
    ['output-text-tokens', 20, 0.1],
  ]);
  expect(detail.cost.currency).toBe('EUR');
  expect(detail.cost.total).toBeCloseTo(ofModel + spoken * 0.01 + minutes, 6);

  const hook = z
    .object({ data: z.object({ cost }) })
    .parse(JSON.parse(server.received.find(({ path }) => path === '/hook')?.body ?? ''));
  expect(hook.data.cost).toEqual(detail.cost);
  const [header = '', line = ''] = (await ask('/calls/export?format=csv')).split('\r\n');
  expect(line.split(',')[header.split(',').indexOf('cost')]).toBe(String(detail.cost.total));
  const sums = z.object({ costs: z.array(z.object({ group: z.string(), cost: z.number(), calls: z.number() })) });
  expect(sums.parse(JSON.parse(await ask('/costs?by=bot'))).costs).toEqual([
    { group: 'clerk', cost: detail.cost.total, calls: 1 },
  ]);
  expect(JSON.parse(await ask('/prices'))).toMatchObject({ currency: 'EUR', unpriced: [] });

  const tested = await fetch(`${bench.gateway.url}/api/alerts/test`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ channel: 'ops' }),
  });
  expect([tested.status, await tested.json()]).toMatchObject([200, { channel: 'ops', state: 'delivered' }]);
  expect(JSON.parse(await ask('/alerts'))).toMatchObject({
    channels: [{ name: 'ops', kind: 'webhook' }],
    rules: [{ name: 'Costly', figure: 'spend-today', above: 1 }],
    deliveries: [{ notice: 'test' }],
  });

  await bench[Symbol.asyncDispose]();
  server.close();
  rmSync(folder, { recursive: true });
  const spans = server.received
    .filter(({ path }) => path === '/v1/traces')
    .flatMap(({ body }) => exported.parse(JSON.parse(body)).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  const told = (name: string) =>
    spans
      .filter((each) => each.name === name)
      .map(({ attributes }) => Object.fromEntries(attributes.map((each) => [each.key, Object.values(each.value)[0]])));
  const [first, second] = told('chat small');
  expect(first).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': server.vendor,
    'gen_ai.request.model': 'small',
    'gen_ai.conversation.id': id,
    'gen_ai.usage.input_tokens': 1000,
    'gen_ai.usage.cache_read.input_tokens': 400,
    'gen_ai.usage.output_tokens': 10,
  });
  expect(second?.['gen_ai.output.messages']).toContain('Bravo.');
  expect(told('execute_tool take_note')).toMatchObject([
    { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'take_note' },
  ]);
  const dialogs = spans.filter(({ name }) => name === 'dialog').map(({ spanId }) => spanId);
  for (const each of spans.filter(({ name }) => name.startsWith('chat') || name.startsWith('execute_tool')))
    expect(dialogs).toContain(each.parentSpanId);
});
