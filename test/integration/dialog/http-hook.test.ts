import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, test } from 'vitest';
import { Secret } from '../../../src/config/secrets.ts';
import { DialogAnswerError } from '../../../src/dialog/action-schema.ts';
import { httpHooks } from '../../../src/dialog/http-hook.ts';
import type { DialogHook } from '../../../src/dialog/port.ts';
import { DialogServerError, DialogTimeoutError } from '../../../src/dialog/wire.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { actionsOf, BotServer, CALL, spoken, turnOf } from './bot-server.ts';

function hookAt(url: string, options: { secret?: Secret; timeoutMs?: number } = {}): DialogHook {
  return httpHooks({ url: `${url}/turn`, secret: options.secret, timeoutMs: options.timeoutMs ?? 5_000 }, systemClock).create(
    CALL,
  );
}

function send(response: ServerResponse, type: string, ...parts: string[]): void {
  response.writeHead(200, { 'content-type': type });
  for (const part of parts) response.write(part);
  response.end();
}

describe('a turn asked over HTTP', () => {
  it('carries the call, the input and the history as heard, signed, under one idempotency key', async () => {
    await using server = new BotServer((response) => send(response, 'application/json', '{"type":"say","text":"Hello."}'));
    const secret = `whsec_${Buffer.from('a secret of the bot server').toString('base64')}`;
    const hook = hookAt(await server.listen(), { secret: new Secret(secret) });
    const resumed = { gapMs: 900, outcome: 'unknown' } as const;
    const turn = { ...turnOf(spoken('tuesday'), 3, [{ role: 'bot', text: 'Which day—' }]), resumed };
    expect(await actionsOf(hook, turn)).toEqual([{ type: 'say', text: 'Hello.' }]);
    const { headers, body, path } = server.asked[0]!;
    expect(path).toBe('/turn');
    expect(headers['idempotency-key']).toBe('call_1.3');
    expect(headers['traceparent']).toBeUndefined();
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
      version: 1,
      call: { callId: 'call_1', from: '+15550100' },
      index: 3,
      input: { kind: 'spoken', text: 'tuesday' },
      history: [{ role: 'bot', text: 'Which day—' }],
      resumed,
    });
  });

  test.each([
    ['application/json', ['"Hello."'], [{ type: 'say', text: 'Hello.' }]],
    [
      'application/json; charset=utf-8',
      ['{"actions":["Bye.",{"type":"hangup","reason":"done"}]}'],
      [
        { type: 'say', text: 'Bye.' },
        { type: 'hangup', reason: 'done' },
      ],
    ],
    [
      'application/x-ndjson',
      ['"One."\n{"type":"no', 'te","text":"n"}\n\n"Two."'],
      [
        { type: 'say', text: 'One.' },
        { type: 'note', text: 'n' },
        { type: 'say', text: 'Two.' },
      ],
    ],
    [
      'text/event-stream',
      ['data: Hel\n\nda', 'ta: lo.\n\ndata: {"type":"hangup","reason":"x"}\n\ndata: [DONE]\n\ndata: no\n\n'],
      [
        { type: 'say', text: 'Hel', more: true },
        { type: 'say', text: 'lo.', more: true },
        { type: 'hangup', reason: 'x' },
      ],
    ],
    ['application/json', ['[]'], []],
  ])('is answered in %s', async (type, parts, actions) => {
    await using server = new BotServer((response) => send(response, type, ...parts));
    expect(await actionsOf(hookAt(await server.listen()), turnOf(spoken('x')))).toEqual(actions);
  });

  it('is spoken as the text comes, before the answer is over', async () => {
    let finish = (): void => undefined;
    await using server = new BotServer((response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.write('नमस्ते ');
      finish = () => response.end('जी।');
    });
    const said: string[] = [];
    for await (const action of hookAt(await server.listen()).respond(turnOf(spoken('x')), new AbortController().signal)) {
      if (action.type === 'say') said.push(action.text);
      finish();
    }
    expect(said).toEqual(['नमस्ते ', 'जी।']);
  });
});

describe('a bot server in trouble', () => {
  it('is asked once more when it was down, with the same key', async () => {
    await using server = new BotServer((response, _, number) => {
      if (number === 0) response.writeHead(503).end();
      else send(response, 'application/json', '"Here."');
    });
    expect(await actionsOf(hookAt(await server.listen()), turnOf(spoken('x')))).toEqual([{ type: 'say', text: 'Here.' }]);
    expect(server.asked.map(({ headers }) => headers['idempotency-key'])).toEqual(['call_1.1', 'call_1.1']);
  });

  test.each([
    ['refuses', (response: ServerResponse) => void response.writeHead(403).end(), DialogServerError, 'HTTP 403'],
    ['answers with a page', (response: ServerResponse) => send(response, 'text/html', '<p>'), DialogServerError, 'text/html'],
    [
      'sends broken JSON',
      (response: ServerResponse) => send(response, 'application/json', '{"type"'),
      DialogServerError,
      'readable',
    ],
    [
      'answers with no action',
      (response: ServerResponse) => send(response, 'application/json', '{"type":"dance"}'),
      DialogAnswerError,
      'type',
    ],
    [
      'redirects',
      (response: ServerResponse) => void response.writeHead(302, { location: '/x' }).end(),
      DialogServerError,
      'reached',
    ],
    [
      'talks without end',
      (response: ServerResponse) => send(response, 'text/plain', 'a'.repeat(100_001)),
      DialogServerError,
      'longer',
    ],
  ])('that %s is an error that says so', async (_, answer, kind, text) => {
    await using server = new BotServer(answer);
    const asking = actionsOf(hookAt(await server.listen()), turnOf(spoken('x')));
    await expect(asking).rejects.toThrow(kind);
    await expect(asking).rejects.toThrow(text);
  });

  it('that says nothing is given up after its time, and one that is unwanted is left', async () => {
    const gone: Promise<void>[] = [];
    await using server = new BotServer((response) => {
      gone.push(new Promise((resolve) => response.on('close', () => resolve())));
    });
    const url = await server.listen();
    await expect(actionsOf(hookAt(url, { timeoutMs: 60 }), turnOf(spoken('x')))).rejects.toThrow(DialogTimeoutError);
    const unwanted = new AbortController();
    const asking = actionsOf(hookAt(url), turnOf(spoken('x')), unwanted.signal);
    while (server.asked.length < 2) await new Promise((resolve) => setImmediate(resolve));
    unwanted.abort(new Error('the caller went on'));
    await expect(asking).rejects.toThrow('the caller went on');
    await Promise.all(gone);
  });
});

it('says what the server said that refuses, without the secret and the words of the call', async () => {
  const secret = `whsec_${Buffer.from('a secret of the bot server').toString('base64')}`;
  await using server = new BotServer((response, { body }) => {
    const { input } = JSON.parse(body) as { input: { text: string } };
    response.writeHead(500, { 'content-type': 'text/plain' }).end(`KeyError: ${input.text}\n  with ${secret}`);
  });
  const hook = hookAt(await server.listen(), { secret: new Secret(secret) });
  await expect(actionsOf(hook, turnOf(spoken('my name is Asha')))).rejects.toThrow(
    "the bot's server answered with HTTP 500: KeyError: […] with [key]",
  );
});

it('waits no longer for a server whose actions say nothing', async () => {
  await using server = new BotServer((response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    const beat = setInterval(() => response.write('\n{"type":"say","text":" ","more":true}\n'), 20);
    response.on('close', () => clearInterval(beat));
  });
  const hook = hookAt(await server.listen(), { timeoutMs: 150 });
  await expect(actionsOf(hook, turnOf(spoken('x')))).rejects.toThrow("the bot's server said nothing for 150 ms");
});

it('does not give up a server while the caller listens to what it said', async () => {
  let goOn = (): void => undefined;
  const listened = new Promise<void>((resolve) => (goOn = resolve));
  await using server = new BotServer(async (response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.write('"One."\n');
    await listened;
    response.end('"Two."\n');
  });
  const clock = new ManualClock();
  const hook = httpHooks({ url: `${await server.listen()}/turn`, secret: undefined, timeoutMs: 150 }, clock).create(CALL);
  const texts: unknown[] = [];
  for await (const action of hook.respond(turnOf(spoken('x')), new AbortController().signal)) {
    texts.push(action);
    clock.advance(60_000);
    goOn();
  }
  expect(texts).toHaveLength(2);
});
