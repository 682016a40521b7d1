import { generateKeyPairSync } from 'node:crypto';

import { describe, expect, it, test } from 'vitest';
import { CarrierControlError, DialUnknownError } from '../../../src/carriers/errors.ts';
import { VonageControl } from '../../../src/carriers/vonage/control.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { SimulatedVonageApi } from '../../../src/sim/vonage/api.ts';
import { SimulatedVonageCall } from '../../../src/sim/vonage/carrier.ts';
import { json, orderAt, signal, startRestApi } from './rest-api.ts';

const privateKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' });
const EVENTS = 'https://bots.example.org/carriers/vonage/status';
const order = orderAt('vonage');

async function api(answer: Parameters<typeof startRestApi>[0], rateHz = 16_000) {
  const clock = new ManualClock();
  const rest = await startRestApi(answer);
  const key = new Secret(String(privateKey));
  const settings = {
    apiUrl: rest.url,
    applicationId: 'app',
    privateKey: key,
    eventUrl: () => EVENTS,
    rateHz,
    proofKey: undefined,
  };
  const control = new VonageControl(settings, clock);
  return { ...rest, clock, control, dialling: control.dialling };
}

it('orders a call with its document, its reports and its limits', async () => {
  await using vonage = await api((response) => json(response, 201, { uuid: 'u1', status: 'started' }));
  expect(await vonage.dialling.dial(order, signal)).toEqual({ carrierCallId: 'u1' });
  const [{ path, body } = { path: '', body: '' }] = vonage.asked;
  expect(path).toBe('POST /v1/calls');
  expect(JSON.parse(body)).toEqual({
    to: [{ type: 'phone', number: '919812345678' }],
    from: { type: 'phone', number: '15550100001' },
    ncco: [
      {
        action: 'connect',
        eventType: 'synchronous',
        eventUrl: [EVENTS],
        endpoint: [
          { type: 'websocket', uri: order.streamUrl, 'content-type': 'audio/l16;rate=16000', headers: { 'call-id': 'call_1' } },
        ],
      },
    ],
    event_url: [order.statusUrl],
    event_method: 'POST',
    ringing_timer: 31,
    length_timer: 600,
  });
});

it('asks for the sample rate of the settings', async () => {
  await using vonage = await api((response) => json(response, 201, { uuid: 'u1' }), 24_000);
  await vonage.dialling.dial(order, signal);
  expect(JSON.parse(vonage.asked[0]?.body ?? '')).toMatchObject({
    ncco: [{ endpoint: [{ 'content-type': 'audio/l16;rate=24000' }] }],
  });
});

it('has who answered reported beside the call, and keeps to the limits of the carrier', async () => {
  await using vonage = await api((response) => json(response, 201, { uuid: 'u1' }));
  const long = { ...order, detectMachine: true, ringTimeoutMs: 600_000, maxDurationMs: 86_400_000 };
  await vonage.dialling.dial(long, signal);
  expect(JSON.parse(vonage.asked[0]?.body ?? '')).toMatchObject({
    advanced_machine_detection: { behavior: 'continue', mode: 'default' },
    ringing_timer: 120,
    length_timer: 7200,
  });
});

test.each([
  [400, { type: 'BAD_REQUEST', error_title: 'Bad Request' }, 'BAD_REQUEST', false],
  [401, { title: 'Unauthorized' }, 'Unauthorized', false],
  [429, { title: 'Rate Limit Hit', detail: `too many calls to ${order.to}` }, 'Rate Limit Hit', true],
])('is refused for sure with HTTP %i, once, and says why', async (status, body, carrierCode, retryable) => {
  await using vonage = await api((response) => json(response, status, body));
  const refused = await vonage.dialling.dial(order, signal).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(CarrierControlError);
  expect(refused).toMatchObject({ retryable, surelyNotDone: true, facts: { status, carrierCode } });
  expect(String(refused)).not.toContain('98123');
  expect(vonage.asked).toHaveLength(1);
});

it('knows nothing after a fault at the carrier, and asks once', async () => {
  await using vonage = await api((response) => json(response, 503, {}));
  await expect(vonage.dialling.dial(order, signal)).rejects.toThrow(DialUnknownError);
  expect(vonage.asked).toHaveLength(1);
});

/** @param startMs on the carrier's clock; absent before the answer */
const listed = (uuid: string, startMs: number | undefined, status = 'completed', to = '919812345678') => ({
  uuid,
  status,
  direction: 'outbound',
  from: { type: 'phone', number: '15550100001' },
  to: [{ type: 'phone', number: to }],
  ...(startMs === undefined ? {} : { start_time: new Date(startMs).toISOString().replace('T', ' ').slice(0, 19) }),
});
const page = (calls: readonly object[]): object => ({ count: calls.length, _embedded: { calls } });

test.each([
  ['the one that was answered since', (at: number) => [listed('u1', at + 25_000)], 30_000, 'placed'],
  ['the one that rings', () => [listed('u1', undefined, 'ringing')], 30_000, 'placed'],
  ['neither of two', (at: number) => [listed('u1', at + 1000), listed('u2', at + 2000)], 300_000, 'unknown'],
  ['none of another number', (at: number) => [listed('u1', at + 1000, 'completed', '911111111111')], 30_000, 'unknown'],
  ['none, while the list may lag', () => [], 119_000, 'unknown'],
  ['for sure none, later', (at: number) => [listed('u1', at - 600_000)], 300_000, 'not-placed'],
  ['nothing for sure beside one that is over and has no date', () => [listed('u1', undefined, 'failed')], 300_000, 'unknown'],
])('finds %s', async (_, calls: (askedAtMs: number) => readonly object[], afterMs, found) => {
  // The answer's Date header is the machine's: the order was that long ago.
  const askedMs = Date.now() - afterMs;
  await using vonage = await api((response) => json(response, 200, page(calls(askedMs))));
  expect(await vonage.dialling.find(order, vonage.clock.wallMs() - afterMs, signal)).toMatchObject({
    found,
    ...(found === 'placed' ? { carrierCallId: 'u1' } : {}),
  });
});

it('reads on until calls come that are older than the order, and gives up without certainty', async () => {
  const full = Array.from({ length: 100 }, (_, index) => listed(`other${index}`, Date.now() - 1000, 'completed', '911111111111'));
  await using vonage = await api((response, number) =>
    json(response, 200, page(number === 1 ? [listed('u1', Date.now())] : full)),
  );
  const askedAtMs = vonage.clock.wallMs();
  expect(await vonage.dialling.find(order, askedAtMs, signal)).toMatchObject({ found: 'placed', carrierCallId: 'u1' });
  expect(vonage.asked.map(({ path }) => path)).toEqual([
    'GET /v1/calls?order=desc&page_size=100&record_index=0',
    'GET /v1/calls?order=desc&page_size=100&record_index=100',
  ]);
  await using endless = await api((response) => json(response, 200, page(full)));
  expect(await endless.dialling.find(order, endless.clock.wallMs() - 300_000, signal)).toEqual({ found: 'unknown' });
});

it('says how far a call has come, and nothing of one that the carrier does not know', async () => {
  await using vonage = await api((response, number) =>
    number === 0 ? json(response, 200, { uuid: 'u1', status: 'timeout' }) : json(response, 404, {}),
  );
  expect(await vonage.dialling.progressOf('u1', signal)).toEqual({ state: 'ended', outcome: 'no-answer' });
  expect(await vonage.dialling.progressOf('u2', signal)).toBeUndefined();
});

describe('two calls of a warm transfer', () => {
  it('are sent into one room of their own, the agent first, which ends with either of them', async () => {
    await using vonage = await api((response) => void response.writeHead(204).end());
    for (const agent of ['agent-1', 'agent-2']) await vonage.control.join('caller', agent, signal);
    expect(vonage.asked.map(({ path }) => path.split('/').at(-1))).toEqual(['agent-1', 'caller', 'agent-2', 'caller']);
    const [agent, caller, another] = vonage.asked.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
    const name = expect.stringMatching(/^offhook-[\da-f-]{36}$/u) as string;
    expect(agent).toEqual({
      action: 'transfer',
      destination: { type: 'ncco', ncco: [{ action: 'conversation', name, startOnEnter: true, endOnExit: true }] },
    });
    expect(caller).toEqual(agent);
    expect(another).not.toEqual(agent);
  });

  it('stay as they are where the agent cannot be sent there', async () => {
    await using vonage = await api((response) => json(response, 404, { title: 'Not Found' }));
    await expect(vonage.control.join('caller', 'agent', signal)).rejects.toThrow('HTTP 404');
    expect(vonage.asked.map(({ path }) => path)).toEqual(['PUT /v1/calls/agent']);
  });

  it('leave no agent waiting alone where the caller cannot be sent there', async () => {
    await using vonage = await api((response, number) =>
      number === 1 ? json(response, 400, { title: 'Bad Request' }) : void response.writeHead(204).end(),
    );
    await expect(vonage.control.join('caller', 'agent', signal)).rejects.toThrow('HTTP 400');
    const { path, body } = vonage.asked.at(-1) ?? { path: '', body: '{}' };
    expect([path, JSON.parse(body)]).toEqual(['PUT /v1/calls/agent', { action: 'hangup' }]);
  });

  it('hear each other at the simulated carrier until one of them hangs up', async () => {
    const clock = new ManualClock();
    await using carrier = await new SimulatedVonageApi('app', { clock }).listen();
    const tellEnd = (): Promise<void> => Promise.resolve();
    const [caller, agent] = ['caller', 'agent'].map((carrierCallId) => {
      const call = new SimulatedVonageCall({ url: 'http://127.0.0.1:1', signatureSecret: 's', clock, carrierCallId, tellEnd });
      carrier.register(call);
      return call;
    });
    const settings = { apiUrl: carrier.url, applicationId: 'app', privateKey: new Secret(carrier.privateKey) };
    const control = new VonageControl({ ...settings, eventUrl: () => EVENTS, rateHz: 16_000, proofKey: undefined }, clock);
    await control.join('caller', 'agent', signal);
    expect(caller?.room).toMatchObject({ endsOnExit: true });
    expect(agent?.room).toEqual(caller?.room);
    await control.hangUp('caller', signal);
    await Promise.all([caller?.ended, agent?.ended]);
  });
});
