import type { ServerResponse } from 'node:http';
import { expect, it, test } from 'vitest';
import { CarrierControlError, DialUnknownError } from '../../../src/carriers/errors.ts';
import { TwilioControl } from '../../../src/carriers/twilio/control.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { readTwiml } from '../../../src/sim/twilio/twiml.ts';
import { json, orderAt, signal, startRestApi } from './rest-api.ts';

const ACCOUNT = `AC${'0'.repeat(32)}`;
const CALLS = `/2010-04-01/Accounts/${ACCOUNT}/Calls`;
const order = orderAt('twilio');

async function api(answer: Parameters<typeof startRestApi>[0]) {
  const clock = new ManualClock();
  const rest = await startRestApi(answer);
  const settings = { apiUrl: rest.url, accountSid: ACCOUNT, authToken: new Secret('auth-token'), voiceUrl: () => '' };
  const { dialling } = new TwilioControl(settings, clock);
  return { ...rest, clock, dialling };
}

it('orders a call with its document, its reports and its limits', async () => {
  await using twilio = await api((response) => json(response, 201, { sid: 'CA1', status: 'queued', queue_time: '0' }));
  expect(await twilio.dialling.dial(order, signal)).toEqual({ carrierCallId: 'CA1' });
  expect(twilio.asked).toHaveLength(1);
  const [{ path, fields } = { path: '', fields: new URLSearchParams() }] = twilio.asked;
  expect(path).toBe(`POST ${CALLS}.json`);
  const { Twiml = '', ...others } = Object.fromEntries(fields);
  expect(readTwiml(Twiml)).toMatchObject([{ verb: 'stream', url: order.streamUrl, parameters: { callId: 'call_1' } }]);
  expect(Twiml.length).toBeLessThan(4000);
  expect(others).toEqual({
    To: order.to,
    From: order.from,
    Timeout: '31',
    TimeLimit: '600',
    StatusCallback: order.statusUrl,
    StatusCallbackMethod: 'POST',
    StatusCallbackEvent: 'completed',
  });
  expect(fields.getAll('StatusCallbackEvent')).toEqual(['initiated', 'ringing', 'answered', 'completed']);
});

it('has who answered reported beside the call', async () => {
  await using twilio = await api((response) => json(response, 201, { sid: 'CA1' }));
  await twilio.dialling.dial({ ...order, detectMachine: true, ringTimeoutMs: 3_600_000 }, signal);
  expect(Object.fromEntries(twilio.asked[0]?.fields ?? [])).toMatchObject({
    MachineDetection: 'Enable',
    AsyncAmd: 'true',
    AsyncAmdStatusCallback: order.statusUrl,
    AsyncAmdStatusCallbackMethod: 'POST',
    Timeout: '600',
  });
});

it('takes an order back that would wait in a queue for longer than its token lives', async () => {
  await using twilio = await api((response, number) =>
    json(response, number === 0 ? 201 : 200, { sid: 'CA1', queue_time: '31000' }),
  );
  const refused = await twilio.dialling.dial(order, signal).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(CarrierControlError);
  expect(refused).toMatchObject({ retryable: true, facts: { carrierCode: 'queued' } });
  expect(String(refused)).toContain('only in 31 s: it was taken back');
  expect(twilio.asked.map(({ path }) => path)).toEqual([`POST ${CALLS}.json`, `POST ${CALLS}/CA1.json`]);
  expect(twilio.asked[1]?.fields.get('Status')).toBe('completed');
});

it('knows nothing of an order that waits in a queue and cannot be taken back', async () => {
  await using twilio = await api((response, number) =>
    number === 0 ? json(response, 201, { sid: 'CA1', queue_time: '90000' }) : json(response, 400, { code: 20_001 }),
  );
  await expect(twilio.dialling.dial(order, signal)).rejects.toThrow(DialUnknownError);
});

test.each([
  ['21211: no number', 400, { code: 21_211, message: `Invalid 'To' Phone Number: ${order.to}` }, false],
  ['13224: no such country', 400, { code: 13_224, message: 'Dial: Twilio does not support calling this number' }, false],
  ['20429: too many requests', 429, { code: 20_429, message: 'Too Many Requests' }, true],
  ['20003: no account', 401, { code: 20_003, message: 'Authenticate' }, false],
  ['a redirect', 307, {}, false],
])('is refused for sure with %s, once, and says by which code', async (_, status, body, retryable) => {
  await using twilio = await api((response) => json(response, status, body));
  const refused = await twilio.dialling.dial(order, signal).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(CarrierControlError);
  expect(refused).toMatchObject({
    retryable,
    surelyNotDone: true,
    facts: { status, carrierCode: 'code' in body ? body.code : undefined },
  });
  expect(String(refused)).not.toContain('98123');
  expect(twilio.asked).toHaveLength(1);
});

test.each([
  ['a fault at the carrier', (response: ServerResponse) => json(response, 500, { code: 20_500 })],
  ['a gateway that got no answer', (response: ServerResponse) => json(response, 504, {})],
  ['a connection that ends before the answer', (response: ServerResponse) => void response.socket?.destroy()],
  [
    'a connection that ends within the answer',
    (response: ServerResponse) => void response.writeHead(201).write('{"sid"', () => response.socket?.destroy()),
  ],
  ['an answer without a call', (response: ServerResponse) => json(response, 201, { status: 'queued' })],
  ['an answer that is no JSON', (response: ServerResponse) => void response.writeHead(201).end('<html>')],
])('knows nothing after %s, and asks once', async (_, answer) => {
  await using twilio = await api(answer);
  const unknown = await twilio.dialling.dial(order, signal).catch((error: unknown) => error);
  expect(unknown).toBeInstanceOf(DialUnknownError);
  expect(twilio.asked).toHaveLength(1);
});

it('knows nothing when no answer comes in time, or when the gateway stops meanwhile', async () => {
  await using twilio = await api(() => undefined);
  const late = twilio.dialling.dial(order, signal).catch((error: unknown) => error);
  await expect.poll(() => twilio.asked.length).toBe(1);
  twilio.clock.advance(15_000);
  expect(await late).toBeInstanceOf(DialUnknownError);
  const stop = new AbortController();
  const stopped = twilio.dialling.dial(order, stop.signal).catch((error: unknown) => error);
  await expect.poll(() => twilio.asked.length).toBe(2);
  stop.abort(new Error('the gateway stops'));
  expect(await stopped).toBeInstanceOf(DialUnknownError);
});

it('was surely not asked for where nobody listens, the name is unknown, or the gateway stops before', async () => {
  const twilio = await api(() => undefined);
  await twilio[Symbol.asyncDispose]();
  await expect(twilio.dialling.dial(order, signal)).rejects.toMatchObject({ surelyNotDone: true, retryable: true });
  await expect(twilio.dialling.dial(order, AbortSignal.abort())).rejects.toMatchObject({ surelyNotDone: true });
  const settings = { apiUrl: 'http://carrier.invalid', accountSid: ACCOUNT, authToken: new Secret('x'), voiceUrl: () => '' };
  const nowhere = new TwilioControl(settings, new ManualClock()).dialling;
  await expect(nowhere.dial(order, signal)).rejects.toMatchObject({ surelyNotDone: true });
});

it('finds the call of an order among those between its two numbers', async () => {
  const listed: object[] = [];
  await using twilio = await api((response) => json(response, 200, { calls: listed }));
  const askedAtMs = twilio.clock.wallMs();
  const find = () => twilio.dialling.find(order, askedAtMs, signal);
  // The answer's Date header is the machine's; the carrier's clock counts.
  const at = (ms: number): string => new Date(Date.now() + ms).toUTCString();
  expect(await find()).toEqual({ found: 'unknown' });
  const asked = new URL(`http://x${twilio.asked[0]?.path.split(' ')[1]}`).searchParams;
  expect(Object.fromEntries(asked)).toEqual({ From: order.from, To: order.to, PageSize: '50' });
  listed.push({ sid: 'CAin', status: 'in-progress', direction: 'inbound', date_created: at(0) });
  listed.push({ sid: 'CAold', status: 'busy', direction: 'outbound-api', date_created: at(-600_000) });
  expect(await find()).toEqual({ found: 'unknown' });
  listed.push({ sid: 'CA1', status: 'ringing', direction: 'outbound-api', date_created: at(500), start_time: null });
  expect(await find()).toEqual({ found: 'placed', carrierCallId: 'CA1', progress: { state: 'ringing' } });
  listed.splice(0);
  twilio.clock.advance(180_000);
  expect(await find()).toEqual({ found: 'not-placed' });
});

it('says how far a call has come, and nothing of one that the carrier does not know', async () => {
  await using twilio = await api((response, number) =>
    number === 0 ? json(response, 200, { sid: 'CA1', status: 'no-answer' }) : json(response, 404, { code: 20_404 }),
  );
  expect(await twilio.dialling.progressOf('CA1', signal)).toEqual({ state: 'ended', outcome: 'no-answer' });
  expect(await twilio.dialling.progressOf('CA2', signal)).toBeUndefined();
  expect(twilio.asked.map(({ path }) => path)).toEqual([`GET ${CALLS}/CA1.json`, `GET ${CALLS}/CA2.json`]);
});
