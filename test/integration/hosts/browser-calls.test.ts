import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { loadBots } from '../../../src/config/bot-files.ts';
import { BotFolder } from '../../../src/hosts/bot-orders.ts';
import { API_KEYS_FILE, ApiKeys, type ApiScope } from '../../../src/http/api/system/api-keys.ts';
import { type Clock, systemClock } from '../../../src/kernel/clock.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { silenced } from '../../support/silenced.ts';
import { eventually } from '../../support/eventually.ts';
import { type GatewayBench, startGatewayBench } from './gateway-bench.ts';
import { startOutboundBench } from './outbound-bench.ts';

interface Begun {
  readonly callId: string;
  readonly streamUrl: string | null;
  readonly expiresAt: string;
}

const SHOP = 'https://www.shop.example';

/** Opens a media socket as a page does, quiet. @returns the status of a refusal, or the page */
async function openPage(streamUrl: string, clock: Clock) {
  const socket = new WebSocket(streamUrl);
  const texts: { type: string; name?: string; reason?: string }[] = [];
  let bytes = 0;
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) bytes += data.length;
    else texts.push(JSON.parse(data.toString()) as (typeof texts)[number]);
  });
  const refused = new Promise<number>((resolve) => {
    socket.once('unexpected-response', (request, response) => {
      request.destroy();
      resolve(response.statusCode ?? 0);
    });
  });
  socket.on('error', () => undefined);
  const opened = await Promise.race([once(socket, 'open').then(() => true as const), refused]);
  if (opened !== true) return opened;
  const quiet = silenced(socket, clock);
  socket.send('{"type":"start","rateHz":16000}');
  return {
    texts,
    heardMs: () => bytes / 32,
    tell: (message: object) => socket.send(JSON.stringify(message)),
    closed: once(socket, 'close').finally(quiet),
    drop: () => socket.terminate(),
  };
}

type Page = Exclude<Awaited<ReturnType<typeof openPage>>, number>;

async function page(streamUrl: string | null, clock: Clock): Promise<Page> {
  const opened = await openPage(streamUrl ?? '', clock);
  if (typeof opened === 'number') throw new Error(`refused with ${opened}`);
  return opened;
}

describe('a call that a browser begins', () => {
  let bench: GatewayBench;
  const keys = new Map<ApiScope, string>();

  beforeAll(async () => {
    bench = await startGatewayBench({
      env: {
        OFFHOOK_CALL__MAXIMUM: '2',
        OFFHOOK_CONSOLE__EMBED__ORIGINS: `${SHOP}, https://other.example`,
        OFFHOOK_CONSOLE__EMBED__MAXIMUM: '2',
        OFFHOOK_CONSOLE__EMBED__MAXIMUM_PER_ADDRESS: '1',
        OFFHOOK_HTTP__TRUSTED_PROXIES: '127.0.0.1, ::1',
        OFFHOOK_CONSOLE__EMBED__CALLS_PER_MINUTE: '5',
      },
    });
    const file = new ApiKeys(join(bench.dataDir, API_KEYS_FILE));
    for (const scope of ['calls:talk', 'calls:read', 'calls:control'] as const)
      keys.set(scope, file.create({ name: scope, tenantId: 'default', scopes: [scope, 'numbers:read'] }, 0).secret);
  });

  afterAll(() => bench[Symbol.asyncDispose]());

  const ask = (path: string, scope: ApiScope, body?: object, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${bench.gateway.url}/api${path}`, {
      headers: { authorization: `Bearer ${keys.get(scope)}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
  const begin = async (headers: Record<string, string> = {}): Promise<Begun> => {
    const response = await ask('/browser-calls', 'calls:talk', { bot: 'echo' }, headers);
    expect(response.status).toBe(201);
    return (await response.json()) as Begun;
  };
  const visit = (body: object, origin: string | null = SHOP, from?: string): Promise<Response> =>
    fetch(`${bench.gateway.url}/embed/calls`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(origin === null ? {} : { origin }),
        ...(from === undefined ? {} : { 'x-forwarded-for': from }),
      },
      body: JSON.stringify(body),
    });
  const id = (): string => crypto.randomUUID();
  const noCalls = () => eventually('the end of all calls', () => bench.gateway.calls.calls.length === 0);

  it('is heard, shown among the live calls, stored when the page hangs up, and its socket opens once', async () => {
    const begun = await begin({ 'idempotency-key': 'first' });
    expect(Date.parse(begun.expiresAt)).toBeGreaterThan(bench.clock.wallMs());
    const call = await page(begun.streamUrl, bench.clock);
    await eventually('the greeting', () => call.heardMs() > 500 && call.texts.some(({ type }) => type === 'mark'));
    const live = (await (await ask('/live-calls', 'calls:read')).json()) as { calls: object[] };
    expect(live.calls).toMatchObject([
      { id: begun.callId, carrier: 'browser', bot: 'echo', from: 'calls:talk', direction: 'inbound' },
    ]);
    expect(await openPage(begun.streamUrl ?? '', bench.clock)).toBe(403);
    const repeated = (await (
      await ask('/browser-calls', 'calls:talk', { bot: 'echo' }, { 'idempotency-key': 'first' })
    ).json()) as Begun;
    expect(repeated).toMatchObject({ callId: begun.callId, streamUrl: null });
    call.tell({ type: 'digit', digit: '4' });
    await eventually('the key', () => bench.news.some((news) => news.type === 'digit' && news.callId === begun.callId));
    call.tell({ type: 'stop' });
    await call.closed;
    await eventually(
      'the record',
      async () => (await bench.gateway.backlog.store.calls.get('default', begun.callId))?.endReason === 'caller-hangup',
    );
    await noCalls();
  });

  it('is refused without the scope, for an unknown bot, and with no bot at all', async () => {
    expect((await ask('/browser-calls', 'calls:control', { bot: 'echo' })).status).toBe(403);
    const unknown = await ask('/browser-calls', 'calls:talk', { bot: 'nobody' });
    expect(unknown.status).toBe(422);
    expect(await unknown.json()).toMatchObject({ detail: 'bot: the bots here are echo.' });
    expect((await ask('/browser-calls', 'calls:talk', {})).status).toBe(400);
  });

  it('is refused with the reason while all places are taken', async () => {
    const calls = await Promise.all([begin(), begin()]);
    const full = await ask('/browser-calls', 'calls:talk', { bot: 'echo' });
    expect(full.status).toBe(503);
    expect(await full.json()).toMatchObject({ detail: expect.stringContaining('All places for calls are taken') as string });
    for (const { streamUrl } of calls) (await page(streamUrl, bench.clock)).tell({ type: 'stop' });
    await noCalls();
  });

  it('is ended by an operator, which tells the page', async () => {
    const { callId, streamUrl } = await begin();
    const call = await page(streamUrl, bench.clock);
    await eventually('the greeting', () => call.heardMs() > 100);
    expect((await ask(`/live-calls/${callId}/hang-up`, 'calls:control', {})).status).toBe(200);
    await call.closed;
    expect(call.texts.at(-1)).toMatchObject({ type: 'stop' });
    await noCalls();
  });

  it('begins at a site that is allowed alone, which may read the answer, once for each id', async () => {
    const body = { id: id() };
    const answer = await visit(body);
    expect(answer.status).toBe(201);
    expect(answer.headers.get('access-control-allow-origin')).toBe(SHOP);
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    const { streamUrl } = (await answer.json()) as Begun;
    const call = await page(streamUrl, bench.clock);
    await eventually('the call', () =>
      bench.gateway.calls.calls.some(({ identity }) => identity.inbound.from === 'www.shop.example'),
    );
    expect((await visit(body, SHOP, '198.51.100.1')).status).toBe(409);
    for (const origin of ['https://evil.example', `${SHOP}.evil.example`, 'null', null]) {
      const refused = await visit({ id: id() }, origin, '198.51.100.2');
      expect(refused.status).toBe(403);
      expect(refused.headers.get('access-control-allow-origin')).toBeNull();
    }
    call.tell({ type: 'stop' });
    await noCalls();
  });

  it('leaves places to others when one visitor asks for calls and answers none, and rings these out after ten seconds', async () => {
    const [silent, patient] = ['2001:db8:0:1::1', '198.51.100.21'];
    const unanswered = await visit({ id: id() }, SHOP, silent);
    const { expiresAt, streamUrl } = (await unanswered.json()) as Begun;
    expect(Date.parse(expiresAt) - bench.clock.wallMs()).toBeLessThanOrEqual(10_000);
    // Another address of the same visitor's network.
    const full = await visit({ id: id() }, SHOP, '2001:db8::1:ffff:2:3:4');
    expect(full.status).toBe(503);
    expect(JSON.stringify(await full.json())).not.toContain('maximum');
    const other = await visit({ id: id() }, SHOP, patient);
    expect(other.status).toBe(201);
    (await page(((await other.json()) as Begun).streamUrl, bench.clock)).tell({ type: 'stop' });
    await eventually('the end of the call that nobody answered', () => bench.gateway.calls.calls.length === 0);
    expect(await openPage(streamUrl ?? '', bench.clock)).toBe(403);
    const again = await visit({ id: id() }, SHOP, silent);
    expect(again.status).toBe(201);
    (await page(((await again.json()) as Begun).streamUrl, bench.clock)).tell({ type: 'stop' });
    await noCalls();
  });

  it('answers the question of a browser before a visitor’s call, for sites that are allowed', async () => {
    const preflight = (origin: string): Promise<Response> =>
      fetch(`${bench.gateway.url}/embed/calls`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      });
    const allowed = await preflight('https://other.example');
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://other.example');
    expect(allowed.headers.get('access-control-allow-headers')).toBe('content-type');
    expect((await preflight('https://evil.example')).status).toBe(403);
  });

  it('names no bot but those that visitors may call, and reads no large or odd body', async () => {
    expect((await visit({ id: id(), bot: 'echo' }, SHOP, '198.51.100.3')).status).toBe(422);
    expect((await visit({ id: 'x' }, SHOP, '198.51.100.3')).status).toBe(400);
    expect((await visit({ id: id(), more: 'x'.repeat(2_000) }, SHOP, '198.51.100.3')).status).toBe(413);
  });

  it('holds each address to its pace, which another address behind the same proxy does not use up', async () => {
    const asked = (): Promise<Response> => visit({ id: 'none' }, SHOP, '198.51.100.4');
    for (let at = 0; at < 5; at += 1) expect((await asked()).status).toBe(400);
    const paced = await asked();
    expect(paced.status).toBe(429);
    expect(Number(paced.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await visit({ id: 'none' }, SHOP, '198.51.100.5')).status).toBe(400);
  });
});

it('takes no visitor where no site is allowed, and no call while it stops', async () => {
  await using bench = await startGatewayBench();
  const { url } = bench.gateway;
  expect((await fetch(`${url}/embed/calls`, { method: 'POST', headers: { origin: SHOP } })).status).toBe(404);
  const { secret } = new ApiKeys(join(bench.dataDir, API_KEYS_FILE)).create(
    { name: 'talk', tenantId: 'default', scopes: ['calls:talk'] },
    0,
  );
  await bench.gateway.drain();
  const refused = await fetch(`${url}/api/browser-calls`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: '{"bot":"echo"}',
  });
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({ detail: 'The gateway is stopping: it takes no new call.' });
});

it('reaches the process that has the call, where calls are in several', async () => {
  await using bench = await startOutboundBench(2, () => ({ outcome: { kind: 'failed', sip: 404 } }));
  const pages = await Promise.all(
    [1, 2].map(async () => {
      const { status, body } = await bench.api<Begun>('/browser-calls', { bot: 'reminder' });
      expect(status).toBe(201);
      return page(body.streamUrl, systemClock);
    }),
  );
  for (const each of pages) {
    await eventually('the greeting', () => each.heardMs() > 100);
    // The bot hangs up once its sentence was played.
    const marks = new Set<string>();
    const play = (): boolean => {
      for (const { type, name = '' } of each.texts)
        if (type === 'mark' && !marks.has(name)) {
          marks.add(name);
          each.tell({ type: 'mark', name });
        }
      return each.texts.some(({ type }) => type === 'stop');
    };
    await eventually('the end', play);
    await each.closed;
  }
});

const DESK = `name: desk
voice: Nisha
dialog:
  kind: flow
  flow:
    start: greet
    slots: { day: { kind: day } }
    states:
      greet: { say: Welcome., ask: { slot: day, prompt: Which day? }, next: bye }
      bye: { say: Goodbye., hangup: done }
`;

describe('a call from a browser with a draft of a bot', () => {
  it('is answered by the draft, counts nowhere, and leaves the published version to others', async () => {
    await using folder = await temporaryFolder();
    writeFileSync(join(folder.path, 'desk.yaml'), DESK);
    const botFiles = new BotFolder(async (draft) => loadBots(folder.path, {}, draft), systemClock);
    const { bots } = await botFiles.files();
    await using bench = await startGatewayBench({ bots, botFiles });
    const keys = new ApiKeys(join(bench.dataDir, API_KEYS_FILE));
    const begin = (key: string, body: object): Promise<Response> =>
      fetch(`${bench.gateway.url}/api/browser-calls`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const [edits, talks] = ([['calls:talk', 'bots:write'], ['calls:talk']] as const).map(
      (scopes) => keys.create({ name: 'desk', tenantId: 'default', scopes: [...scopes] }, 0).secret,
    );
    const draft = DESK.replace('Welcome.', 'Good morning.');
    expect((await begin(talks ?? '', { bot: 'desk', draft })).status).toBe(403);
    expect((await begin(edits ?? '', { bot: 'desk', draft: `${draft}endpointingMs: soon\n` })).status).toBe(422);
    const { store } = bench.gateway.backlog;
    const heardIn = async (body: object, text: string) => {
      const begun = (await (await begin(edits ?? '', body)).json()) as Begun;
      const call = await page(begun.streamUrl, bench.clock);
      await eventually(text, () =>
        bench.news.some((news) => news.type === 'saying' && news.callId === begun.callId && news.text === text),
      );
      call.tell({ type: 'stop' });
      await call.closed;
      const ended = () => store.calls.get('default', begun.callId);
      return eventually('the record', async () => (await ended())?.endReason === 'caller-hangup' && (await ended()));
    };
    const rehearsed = await heardIn({ bot: 'desk', draft }, 'Good morning.');
    expect(rehearsed).toMatchObject({ rehearsal: true, botName: 'desk' });
    expect(rehearsed.botVersion).not.toBe(bots[0]?.version);
    const usual = await heardIn({ bot: 'desk' }, 'Welcome.');
    expect([usual.rehearsal, usual.botVersion]).toEqual([undefined, bots[0]?.version]);
    const asked = { botName: 'desk', fromMs: 0, toMs: bench.clock.wallMs() + 1 };
    expect((await store.statistics.figures('default', asked)).calls).toBe(1);
    expect((await store.statistics.paths('default', asked)).calls).toBe(1);
    expect(await store.reviews.get('default', rehearsed.id)).toBeUndefined();
  });
});
