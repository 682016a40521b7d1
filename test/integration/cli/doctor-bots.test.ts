import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { runCheck, type CheckResult } from '../../../src/cli/doctor/check.ts';
import { botChecks } from '../../../src/cli/doctor/bots.ts';
import { type Bot, botSettings } from '../../../src/config/bots.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { SimulatedOpenAi } from '../../../src/sim/realtime/openai.ts';
import { serveRealtime } from '../../../src/sim/realtime/serve.ts';
import { BotServer } from '../dialog/bot-server.ts';

const folder = mkdtempSync(`${tmpdir()}/offhook-doctor-`);

async function check(dialog: object): Promise<CheckResult[]> {
  const bot: Bot = {
    ...botSettings.parse({ name: 'desk', voice: 'Nisha', dialog }),
    folder,
    dialogSecret: new Secret('right'),
  };
  const results: CheckResult[] = [];
  for (const each of botChecks([bot])) results.push(await runCheck(each, systemClock, new AbortController().signal));
  return results;
}

it('reaches an http bot without a turn, and reports the time', async () => {
  await using server = new BotServer((response) => void response.writeHead(405).end());
  const url = `${await server.listen()}/desk?key=hidden`;
  const [result] = await check({ kind: 'http', url });
  expect(result).toMatchObject({
    name: 'server of bot desk',
    ok: true,
    detail: expect.stringMatching(/\/desk answers with HTTP 405$/u),
  });
  expect(result?.ms).toBeGreaterThanOrEqual(0);
  expect(server.asked.map(({ body }) => body)).toEqual(['']);
});

it.each([
  { note: 'nobody listens', url: 'http://127.0.0.1:2/desk', detail: /ECONNREFUSED/u },
  { note: 'a proxy says that nobody does', url: undefined, detail: /HTTP 502: no upstream$/u },
])('says that an http bot is away where $note', async ({ url, detail }) => {
  await using server = new BotServer((response) => void response.writeHead(502).end('no  upstream\n'));
  const listening = await server.listen();
  const [result] = await check({ kind: 'http', url: url ?? listening });
  expect(result).toMatchObject({
    ok: false,
    detail: expect.stringMatching(detail),
    advice: expect.stringMatching(/start the server/u),
  });
});

it('opens the signed socket of a relay bot and sends nothing', async () => {
  const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  const heard: string[] = [];
  const closed = new Promise<number>((resolve) => {
    sockets.on('connection', (socket, request) => {
      heard.push(`signed: ${request.headers['x-twilio-signature'] !== undefined}`);
      socket.on('message', (data: Buffer) => heard.push(data.toString('utf8')));
      socket.on('close', resolve);
    });
  });
  await once(sockets, 'listening');
  const { port } = sockets.address() as AddressInfo;
  const [result] = await check({ kind: 'relay', url: `ws://127.0.0.1:${port}/relay` });
  expect(result).toMatchObject({ name: 'relay of bot desk', ok: true });
  expect(await closed).toBe(1000);
  expect(heard).toEqual(['signed: true']);
  sockets.close();
});

it('reports the text of a relay server that refuses the socket', async () => {
  const server = createServer();
  server.on('upgrade', (_request, socket) => {
    const said = 'the signature is wrong';
    socket.end(`HTTP/1.1 403 Forbidden\r\ncontent-length: ${said.length}\r\nconnection: close\r\n\r\n${said}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const [result] = await check({ kind: 'relay', url: `ws://127.0.0.1:${port}/relay` });
  expect(result).toMatchObject({ ok: false, detail: expect.stringMatching(/HTTP 403: the signature is wrong$/u) });
  server.close();
});

it("lets a model begin an answer as in a call, drops it, and leaves the bot's tools out", async () => {
  await using server = new BotServer((response, { path }) => {
    if (path === '/tool') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const choices = [{ index: 0, delta: { content: 'Hello' }, finish_reason: null }];
    response.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices })}\n\n`);
    return undefined;
  });
  const url = await server.listen();
  const tools = [{ name: 'book', description: 'Books', url: `${url}/tool` }];
  const results = await check({
    kind: 'llm',
    baseUrl: `${url}/v1`,
    model: 'small',
    instructions: 'Help.',
    greeting: 'Hi.',
    tools,
  });
  expect(results.map(({ name, ok }) => [name, ok])).toEqual([
    ['model of bot desk', true],
    ['tool book of bot desk', true],
  ]);
  expect(server.asked.map(({ path, body }) => [path, body === ''])).toEqual([
    ['/v1/chat/completions', false],
    ['/tool', true],
  ]);
  expect(server.asked[0]?.body).not.toContain('"book"');
});

it('reports that a model refuses the key', async () => {
  await using server = new BotServer((response) => {
    response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"Incorrect API key provided"}}');
  });
  const [result] = await check({ kind: 'llm', baseUrl: `${await server.listen()}/v1`, model: 'small', instructions: 'Help.' });
  expect(result).toMatchObject({ ok: false, detail: expect.stringMatching(/HTTP 401/u) });
});

it('opens one session of a realtime bot, and asks for no answer', async () => {
  const vendor = new SimulatedOpenAi({ clock: systemClock, apiKey: 'right', script: () => ({}) });
  await using server = await serveRealtime(vendor);
  const dialog = { kind: 'realtime', url: server.url, secretEnv: 'KEY', instructions: 'Answer.' };
  const [result] = await check(dialog);
  expect(result).toMatchObject({ name: 'model of bot desk', ok: true, detail: expect.stringMatching(/opens a session$/u) });
  expect([vendor.sessions, vendor.answers, vendor.complaints]).toEqual([1, 0, []]);
});

it('says that a realtime vendor refuses the key', async () => {
  const vendor = new SimulatedOpenAi({ clock: systemClock, apiKey: 'another', script: () => ({}) });
  await using server = await serveRealtime(vendor);
  const [result] = await check({ kind: 'realtime', url: server.url, secretEnv: 'KEY', instructions: 'Answer.' });
  expect(result).toMatchObject({ ok: false, detail: expect.stringMatching(/HTTP 401/u) });
});
