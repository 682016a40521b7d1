import type { ServerResponse } from 'node:http';
import { afterEach, expect, it, test } from 'vitest';
import { CarrierControlError } from '../../../src/carriers/errors.ts';
import { signalwire } from '../../../src/carriers/signalwire/carrier.ts';
import { TwilioControl } from '../../../src/carriers/twilio/control.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { readTwiml } from '../../../src/sim/twilio/twiml.ts';
import { startRestApi } from './rest-api.ts';

const ACCOUNT = `AC${'0'.repeat(32)}`;
const VOICE = 'https://bots.example.org/carriers/twilio/voice';
const signal = new AbortController().signal;
const closers: (() => void)[] = [];
afterEach(() => closers.splice(0).forEach((close) => close()));

/** The carrier's REST interface as its page describes it, answering as the test says. */
async function api(answer: (response: ServerResponse, number: number) => void) {
  const rest = await startRestApi(answer);
  const { url: apiUrl, asked } = rest;
  closers.push(() => void rest[Symbol.asyncDispose]());
  const settings = { apiUrl, accountSid: ACCOUNT, authToken: new Secret('token'), voiceUrl: () => VOICE };
  return { control: new TwilioControl(settings, systemClock), asked };
}

const done = (response: ServerResponse): void => void response.writeHead(200).end('{"status":"in-progress"}');

it('hangs up and transfers with what the carrier documents', async () => {
  const { control, asked } = await api(done);
  await control.hangUp('CA1', signal);
  await control.transfer('CA1', '+15550100', signal);
  await control.transfer('CA1', 'sip:desk@example.org?x=1&y=2', signal);
  expect(asked.map(({ path }) => path)).toEqual(Array(3).fill(`POST /2010-04-01/Accounts/${ACCOUNT}/Calls/CA1.json`));
  expect(asked[0]?.authorization).toBe(`Basic ${Buffer.from(`${ACCOUNT}:token`).toString('base64')}`);
  expect(asked.map(({ fields }) => fields.get('Status') ?? fields.get('Twiml'))).toEqual([
    'completed',
    expect.stringContaining('<Response><Dial><Number>+15550100</Number></Dial></Response>'),
    expect.stringContaining('<Dial><Sip>sip:desk@example.org?x=1&amp;y=2</Sip></Dial>'),
  ]);
});

it('does not wait for the end of an answer that has none', async () => {
  const { control } = await api((response) => void response.writeHead(200).write('x'.repeat(1_000_000)));
  await expect(control.hangUp('CA1', signal)).resolves.toBeUndefined();
});

it('takes a call that the carrier does not know any more for ended', async () => {
  const { control, asked } = await api((response) => void response.writeHead(404).end('{"code":20404}'));
  await control.hangUp('CA1', signal);
  expect(asked).toHaveLength(1);
});

it('presses keys, once, and has the call come back', async () => {
  const { control, asked } = await api((response) => void response.writeHead(503).end());
  await expect(control.sendDigits('CA1', '1w2#', signal)).rejects.toThrow('HTTP 503');
  expect(asked.map(({ fields }) => fields.get('Twiml'))).toEqual([
    expect.stringContaining(`<Response><Play digits="1w2#"/><Redirect method="POST">${VOICE}</Redirect></Response>`),
  ]);
});

it('joins two calls in one conference that ends with either of them, without a beep or music', async () => {
  const { control, asked } = await api((response) => done(response));
  await control.join('CA1', 'CA2', signal);
  expect(asked.map(({ path }) => path.split('/').at(-1))).toEqual(['CA2.json', 'CA1.json']);
  const [agent, caller] = asked.map(({ fields }) => fields.get('Twiml') ?? '');
  expect(agent).toBe(caller);
  expect(readTwiml(caller ?? '')).toEqual([
    {
      verb: 'conference',
      room: 'offhook-CA1',
      attributes: {
        beep: 'false',
        startConferenceOnEnter: 'true',
        endConferenceOnExit: 'true',
        waitUrl: '',
        maxParticipants: '2',
      },
    },
  ]);
});

it('ends the call that waits in the conference when the other one is not sent there', async () => {
  const { control, asked } = await api((response, number) =>
    number === 1 ? void response.writeHead(404).end('{}') : done(response),
  );
  await expect(control.join('CA1', 'CA2', signal)).rejects.toThrow('HTTP 404');
  expect(asked.at(-1)?.path).toContain('CA2.json');
  expect(asked.at(-1)?.fields.get('Status')).toBe('completed');
});

it('asks once more when the carrier was busy', async () => {
  const { control, asked } = await api((response, number) =>
    number === 0 ? void response.writeHead(503).end() : done(response),
  );
  await control.transfer('CA1', '+15550100', signal);
  expect(asked).toHaveLength(2);
});

test.each([
  [404, '{"code":20404,"message":"The requested resource was not found"}', 'HTTP 404: The requested resource', 1],
  [400, '{"code":21211,"message":"The number +15550100 is not valid"}', 'HTTP 400: The number … is not valid', 1],
  [401, 'no json', 'HTTP 401', 1],
  [500, '', 'HTTP 500', 2],
])('says what was wrong when the carrier answers %i', async (status, body, text, attempts) => {
  const { control, asked } = await api((response) => void response.writeHead(status).end(body));
  const asking = control.transfer('CA1', '+15550100', signal);
  await expect(asking).rejects.toThrow(CarrierControlError);
  await expect(asking).rejects.toThrow(text);
  await expect(asking).rejects.not.toThrow('token');
  expect(asked).toHaveLength(attempts);
});

it('has a live call between people copied to us, both sides of it', async () => {
  const { control, asked } = await api(done);
  await control.fork('CA1', 'wss://bots.example.org/carriers/twilio/stream/token', signal);
  expect(asked.map(({ path }) => path)).toEqual([`POST /2010-04-01/Accounts/${ACCOUNT}/Calls/CA1/Streams.json`]);
  expect(asked[0]?.fields.get('Url')).toBe('wss://bots.example.org/carriers/twilio/stream/token');
  expect(asked[0]?.fields.get('Track')).toBe('both_tracks');
});

it('has SignalWire copy a live call in the same way, below its own address', async () => {
  const rest = await startRestApi(done);
  const { url: spaceUrl, asked } = rest;
  closers.push(() => void rest[Symbol.asyncDispose]());
  const projectId = 'f4d1c1a0-8f0e-4a3b-9c63-1d6c1f7f2a11';
  const config = {
    settings: signalwire.settings.parse({ projectId, spaceUrl }),
    secrets: { apiToken: [new Secret('token')] },
  };
  const control = signalwire.control(config, { clock: systemClock, gatewayUrl: () => 'https://bots.example.org' });
  await control?.fork?.('b3877c40', 'wss://bots.example.org/carriers/signalwire/stream/token', signal);
  expect(asked.map(({ path }) => path)).toEqual([`POST /api/laml/2010-04-01/Accounts/${projectId}/Calls/b3877c40/Streams.json`]);
  expect(Object.fromEntries(asked[0]?.fields ?? [])).toEqual({
    Url: 'wss://bots.example.org/carriers/signalwire/stream/token',
    Track: 'both_tracks',
  });
});
