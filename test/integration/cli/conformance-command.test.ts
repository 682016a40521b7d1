import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import twilio from 'twilio';
import { afterEach, describe, expect, it, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { fromPackage } from '../../../src/cli/setup/package-root.ts';
import { lastJson, runCommand } from '../../support/command.ts';

const SECRET = 'whsec_dGhlIHNlY3JldCBvZiB0aGUgdGVzdHM=';
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function listen(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ server: Server; port: number }> {
  const server = createServer(answer);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

interface Checked {
  readonly name: string;
  readonly is: string;
  readonly got?: string;
  readonly rule: string;
}
interface Report {
  readonly ok: boolean;
  readonly failed: number;
  readonly warned: number;
  readonly skipped: number;
  readonly checks: readonly Checked[];
}

async function conformance(...args: string[]): Promise<{ code: number | null; report: Report; wrong: string[] }> {
  const finished = await runCommand(['conformance', ...args, '--json'], { CHECK_SECRET: SECRET });
  const report = lastJson(finished) as Report;
  const wrong = report.checks.filter(({ is }) => is === 'failed').map(({ name, got }) => `${name}: ${got}`);
  return { code: finished.code, report, wrong };
}

interface Turn {
  readonly input: { readonly kind: string; readonly text?: string };
  readonly future?: unknown;
}
const WORDS = { status: 200, type: 'application/json', body: JSON.stringify(['What else?']) };

/** A server of an http bot. @param answer of a turn, where it differs from the usual one */
async function httpBot(answer: (turn: Turn) => Partial<typeof WORDS> = () => ({}), verifies = true): Promise<string> {
  const { port } = await listen((request, response) => {
    void text(request).then((body) => {
      if (request.method === 'OPTIONS') return response.writeHead(204).end();
      try {
        if (verifies) new Webhook(SECRET).verify(body, request.headers as Record<string, string>);
      } catch {
        return response.writeHead(401).end();
      }
      const { status, type, body: said } = { ...WORDS, ...answer(JSON.parse(body) as Turn) };
      return response.writeHead(status, { 'content-type': type }).end(said);
    });
  });
  return `http://127.0.0.1:${port}/bot`;
}

describe('offhook conformance http', () => {
  it('passes a server that does everything right', async () => {
    const { code, report, wrong } = await conformance('http', await httpBot(), '--secret-env', 'CHECK_SECRET');
    expect(wrong).toEqual([]);
    expect([code, report.ok, report.warned, report.skipped]).toEqual([0, true, 0, 0]);
    expect(report.checks.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'greeting',
        'turn: silence',
        'turn: a transfer: busy',
        'a cut history',
        'a repeat',
        'a slow reader',
      ]),
    );
  });

  test.each([
    {
      note: 'knows not every kind of turn',
      answer: ({ input }: Turn) => (input.kind === 'no-input' ? { status: 500, body: 'KeyError: text' } : {}),
      wrong: [
        'turn: silence: it was answered with HTTP 500: KeyError: text',
        'turn: silence again: it was answered with HTTP 500: KeyError: text',
      ],
    },
    {
      note: 'refuses unknown fields',
      answer: ({ future }: Turn) => (future === undefined ? {} : { status: 422, body: '' }),
      wrong: ['unknown fields: it was answered with HTTP 422'],
    },
    {
      note: 'answers with an action that there is none of',
      answer: ({ input }: Turn) => (input.kind === 'keyed' ? { body: JSON.stringify([{ type: 'shout', text: 'x' }]) } : {}),
      wrong: [
        expect.stringMatching(/^turn: keys: the bot's answer has an action that cannot be used/u),
        expect.stringMatching(/^turn: keys with their value: the bot's answer has an action/u),
      ],
    },
    {
      note: 'answers in a form that is not read',
      answer: ({ input }: Turn) => (input.kind === 'start' ? { type: 'text/html', body: '<p>Hello' } : {}),
      wrong: expect.arrayContaining([
        expect.stringMatching(/^greeting: the bot's server answered with text\/html; accepted are/u),
      ]),
    },
  ])('names what a server does wrong that $note', async ({ answer, wrong: expected }) => {
    const { code, report, wrong } = await conformance('http', await httpBot(answer), '--secret-env', 'CHECK_SECRET');
    expect(wrong).toEqual(expected);
    expect([code, report.ok]).toEqual([1, false]);
  });

  it('fails a server that takes any signature, and skips that without a secret', async () => {
    const url = await httpBot(() => ({}), false);
    const { wrong } = await conformance('http', url, '--secret-env', 'CHECK_SECRET');
    expect(wrong.map((each) => each.split(':')[0])).toEqual([
      'a signature that is wrong',
      'a signature that is missing',
      'a signature that is old',
    ]);
    const { code, report } = await conformance('http', url);
    expect([code, report.skipped]).toEqual([0, 3]);
  });

  it('warns of silence, and of a repeat that is answered otherwise', async () => {
    let count = 0;
    const url = await httpBot(({ input }) => {
      count += 1;
      if (input.kind === 'start') return { body: '[]' };
      return input.text === 'book it' ? { body: JSON.stringify([`Number ${count}.`]) } : {};
    });
    const { code, report } = await conformance('http', url, '--secret-env', 'CHECK_SECRET');
    const warned = report.checks.filter(({ is }) => is === 'warned').map(({ name }) => name);
    expect([code, warned]).toEqual([0, ['greeting', 'a repeat']]);
  });

  it('says of a server that is down that it is', async () => {
    const { code, wrong } = await conformance('http', 'http://127.0.0.1:9/', '--timeout', '500');
    expect(code).toBe(1);
    expect(wrong[0]).toMatch(/^greeting: fetch failed/u);
  });
});

/** A ConversationRelay server. @param handle a message; the usual answer where it returns false */
async function relayBot(
  handle: (message: { type: string }, socket: WebSocket) => boolean = () => false,
  verifies = true,
): Promise<string> {
  const { server, port } = await listen((_request, response) => response.writeHead(404).end());
  const url = `ws://127.0.0.1:${port}/relay`;
  const sockets = new WebSocketServer({
    server,
    verifyClient: ({ req }: { req: IncomingMessage }) =>
      !verifies || twilio.validateRequest(SECRET, String(req.headers['x-twilio-signature']), url, {}),
  });
  sockets.on('connection', (socket) =>
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString('utf8')) as { type: string };
      if (handle(message, socket) || message.type !== 'prompt') return;
      socket.send(JSON.stringify({ type: 'text', token: 'We are ', last: false }));
      socket.send(JSON.stringify({ type: 'text', token: 'open.', last: true }));
    }),
  );
  return url;
}

describe('offhook conformance relay', () => {
  it('passes a server that does everything right', async () => {
    const { code, report, wrong } = await conformance('relay', await relayBot(), '--secret-env', 'CHECK_SECRET');
    expect(wrong).toEqual([]);
    expect([code, report.skipped]).toEqual([0, 0]);
  });

  test.each([
    {
      note: 'closes for a message that it does not know',
      handle: ({ type }: { type: string }, socket: WebSocket) => {
        if (type === 'future') socket.close(1011);
        return false;
      },
      wrong: ['an unknown message: the server closed the socket with 1011'],
    },
    {
      note: 'never says that its answer is over',
      handle: ({ type }: { type: string }, socket: WebSocket) => {
        if (type === 'prompt') socket.send(JSON.stringify({ type: 'text', token: 'We are open.' }));
        return true;
      },
      wrong: expect.arrayContaining([expect.stringMatching(/^prompt: no answer had ended after 400 ms/u)]),
    },
    {
      note: 'sends what is no message',
      handle: ({ type }: { type: string }, socket: WebSocket) => {
        if (type === 'dtmf') socket.send(JSON.stringify({ type: 'speak', text: 'x' }));
        return false;
      },
      wrong: ['keys: it sent what is no message of the protocol: {"type":"speak","text":"x"}'],
    },
  ])('names what a server does wrong that $note', async ({ handle, wrong: expected }) => {
    const { code, wrong } = await conformance(
      'relay',
      await relayBot(handle),
      '--secret-env',
      'CHECK_SECRET',
      '--timeout',
      '400',
    );
    expect(code).toBe(1);
    expect(wrong).toEqual(expected);
  });

  it('fails a server that takes any signature', async () => {
    const { wrong } = await conformance('relay', await relayBot(() => false, false), '--secret-env', 'CHECK_SECRET');
    expect(wrong.map((each) => each.split(':')[0])).toEqual(['a signature that is wrong', 'a signature that is missing']);
  });
});

/** A webhook endpoint. @param status of the answer to an event */
async function endpoint(
  status: (event: { type: string; future?: unknown }, repeated: boolean) => number,
  verifies = true,
): Promise<string> {
  const seen = new Set<string>();
  const { port } = await listen((request, response) => {
    void text(request).then((body) => {
      const id = String(request.headers['webhook-id']);
      try {
        if (verifies) new Webhook(SECRET).verify(body, request.headers as Record<string, string>);
      } catch {
        return response.writeHead(400).end();
      }
      const code = status(JSON.parse(body) as { type: string }, seen.has(id));
      seen.add(id);
      return response.writeHead(code, code === 302 ? { location: '/other' } : {}).end();
    });
  });
  return `http://127.0.0.1:${port}/hooks`;
}

describe('offhook conformance webhook', () => {
  it('passes an endpoint that takes every event', async () => {
    const { code, report, wrong } = await conformance('webhook', await endpoint(() => 204), '--secret-env', 'CHECK_SECRET');
    expect(wrong).toEqual([]);
    expect([code, report.skipped]).toEqual([0, 0]);
  });

  test.each([
    {
      note: 'refuses what it does not use',
      status: ({ type }: { type: string }) => (type === 'audit.head' ? 404 : 200),
      wrong: ['event: audit.head: it was answered with 404, and would be tried again for a day'],
    },
    {
      note: 'takes a repeat for a mistake',
      status: (_event: object, repeated: boolean) => (repeated ? 409 : 200),
      wrong: ['a repeat: it was answered with 409, and would be tried again for a day'],
    },
    {
      note: 'has moved',
      status: ({ type }: { type: string }) => (type === 'call.started' ? 302 : 200),
      wrong: ['event: call.started: it was answered with 302: redirects are not followed, configure the new address'],
    },
  ])('names what an endpoint does wrong that $note', async ({ status, wrong: expected }) => {
    const { code, wrong } = await conformance('webhook', await endpoint(status), '--secret-env', 'CHECK_SECRET');
    expect(code).toBe(1);
    expect(wrong).toEqual(expected);
  });

  it('fails an endpoint that takes any signature', async () => {
    const { wrong } = await conformance('webhook', await endpoint(() => 200, false), '--secret-env', 'CHECK_SECRET');
    expect(wrong).toHaveLength(3);
  });
});

describe('the servers that come with Offhook', () => {
  const hasPython = spawnSync('python3', ['--version']).status === 0;

  /** Runs a server until the test is over. @returns the address that it prints */
  async function serve(
    command: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<[string, ChildProcess]> {
    const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'ignore'] });
    const address = await new Promise<string>((resolve, reject) => {
      let printed = '';
      // Read on to the end: a server whose output is closed may die of it.
      child.stdout.on('data', (part: Buffer) => {
        printed += part.toString('utf8');
        const found = /\b(?:http|ws):\/\/\S+/u.exec(printed)?.[0];
        if (found !== undefined) resolve(found);
      });
      child.once('exit', () => reject(new Error(`no address in: ${printed}`)));
    });
    return [address, child];
  }

  it.skipIf(!hasPython)('pass: the Python server of offhook init --kind http, with its signature', async () => {
    const env = { DESK_PORT: '0', DESK_SECRET: SECRET };
    const [url, child] = await serve('python3', ['-u', fromPackage('config/templates/http/desk.py')], env);
    try {
      const { report, wrong } = await conformance('http', url, '--secret-env', 'CHECK_SECRET');
      expect(wrong).toEqual([]);
      expect([report.warned, report.skipped]).toEqual([0, 0]);
    } finally {
      child.kill();
    }
  });

  it('pass: the ConversationRelay server of the examples', async () => {
    const [url, child] = await serve(process.execPath, [fromPackage('examples/relay/pizza-bot.mjs'), '0']);
    try {
      expect((await conformance('relay', url)).wrong).toEqual([]);
    } finally {
      child.kill();
    }
  });
});

it('prints each check, and the rule that is broken', async () => {
  const url = await httpBot(({ input }) => (input.kind === 'no-input' ? { status: 500, body: 'no' } : {}), false);
  const { code, stdout } = await runCommand(['conformance', 'http', url]);
  expect(code).toBe(1);
  expect(stdout).toContain('ok      greeting\n');
  expect(stdout).toContain(`FAILED  turn: silence
        rule: a turn of every kind is answered with 2xx and actions
        got:  it was answered with HTTP 500: no
`);
  expect(stdout).toMatch(/40 checks: 35 passed, 0 warned, 2 failed, 3 skipped\n$/u);
});

it.each([
  {
    args: ['http', 'ws://127.0.0.1/'],
    says: '"ws://127.0.0.1/" is no address of a http server: https:// or http:// is expected',
  },
  { args: ['relay', 'http://127.0.0.1/'], says: 'wss:// or ws:// is expected' },
  { args: ['http', 'http://127.0.0.1/', '--secret-env', 'NOT_SET'], says: 'neither NOT_SET nor NOT_SET_FILE is set' },
  { args: ['telnet', 'http://127.0.0.1/'], says: 'Allowed choices are http, relay, webhook' },
])('refuses $args', async ({ args, says }) => {
  const { code, stderr } = await runCommand(['conformance', ...args]);
  expect(code).toBe(2);
  expect(stderr).toContain(says);
});
