// Loaded before anything is timed: the gateway loads them with the first server.
import '@modelcontextprotocol/sdk/client/index.js';
import '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { eventually } from '../../support/eventually.ts';
import { EverythingServer } from '../../support/everything-server.ts';
import { startGatewayBench } from './gateway-bench.ts';

const asked = z.object({ messages: z.array(z.object({ role: z.string(), content: z.string().nullish() })) });

/** A model's server that has the MCP tool add two numbers, and says what came of it. */
async function startModel() {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const last = asked.parse(JSON.parse(body)).messages.at(-1);
      const call = { name: 'all_get-sum', arguments: '{"a":2,"b":40}' };
      const delta =
        last?.role === 'tool'
          ? { content: `It says: ${last.content}` }
          : { tool_calls: [{ index: 0, id: 'call_a', type: 'function', function: call }] };
      const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'small', choices: [{ index: 0, delta }] };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, close: () => server.close() };
}

it('tells a caller what a tool of an MCP server answered', async () => {
  const [model, everything] = [await startModel(), await EverythingServer.start()];
  const mcp = `{ all: { url: '${everything.url}', tools: [get-sum] } }`;
  const dialog = `{ kind: llm, baseUrl: '${model.url}', model: small, instructions: 'Add.', greeting: 'Hello.', mcp: ${mcp} }`;
  const bench = await startGatewayBench({ otherBots: { clerk: `dialog: ${dialog}` } });
  try {
    const call = await bench.dial(undefined, { bot: 'clerk' });
    const session = bench.sessionOf(call);
    await eventually('the bot to listen', () => session.standing.phase === 'listening');
    call.stream.press('7');
    await eventually('the reply to end', () => session.standing.turns > 1 && session.standing.phase === 'listening');
    await call.hangUp();
    const { turns, notes } = await session.ended;
    expect(turns.at(-1)?.botHeardText).toMatch(/^It says: .*42/u);
    expect(notes).toEqual(['tool all_get-sum']);
  } finally {
    await bench[Symbol.asyncDispose]();
    await everything.stop();
    model.close();
  }
});
