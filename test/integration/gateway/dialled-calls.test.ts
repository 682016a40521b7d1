import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, test } from 'vitest';
import { API_KEYS_FILE, ApiKeys } from '../../../src/http/api/api-keys.ts';
import type { CallSession } from '../../../src/call/session.ts';
import type { OnDial, SimulatedCallee } from '../../../src/sim/callee.ts';
import { ScriptedCaller } from '../../../src/sim/caller.ts';
import { CallRefused } from '../../../src/sim/errors.ts';
import { SimulatedTwilioApi } from '../../../src/sim/twilio-api.ts';
import { SimulatedVonageApi } from '../../../src/sim/vonage-api.ts';
import { eventually } from './eventually.ts';
import { type GatewayBench, startGatewayBench } from './gateway-bench.ts';

const ACCOUNT = `AC${'2'.repeat(32)}`;
const APPLICATION = '78d335fa-323d-4114-9c3d-d6f0d48968cf';
const AUTH_TOKEN = 'dialled-calls-token';
/** One carrier's caller id each. */
const FROM = { twilio: '+442079460001', vonage: '+442079460002' };
let bench: GatewayBench;
let twilio: SimulatedTwilioApi;
let vonage: SimulatedVonageApi;
let key: string;

/** Who has which number: the tests write it before they dial. */
const people = new Map<string, SimulatedCallee>();
const onDial: OnDial = ({ to }) => people.get(to) ?? { outcome: { kind: 'failed', sip: 404 } };

beforeAll(async () => {
  twilio = await SimulatedTwilioApi.start(ACCOUNT, AUTH_TOKEN, { onDial });
  vonage = await SimulatedVonageApi.start(APPLICATION, { onDial, signatureSecret: 'signature-secret' });
  bench = await startGatewayBench({
    env: {
      OFFHOOK_TWILIO_ACCOUNT_SID: ACCOUNT,
      OFFHOOK_TWILIO_AUTH_TOKEN: AUTH_TOKEN,
      OFFHOOK_TWILIO_API_URL: twilio.url,
      OFFHOOK_VONAGE_SIGNATURE_SECRET: 'signature-secret',
      OFFHOOK_VONAGE_APPLICATION_ID: APPLICATION,
      OFFHOOK_VONAGE_PRIVATE_KEY: vonage.privateKey,
      OFFHOOK_VONAGE_API_URL: vonage.url,
      OFFHOOK_DIALLING__CALLER_IDS: `${FROM.twilio}@twilio,${FROM.vonage}@vonage`,
      OFFHOOK_DIALLING__CALLS_PER_SECOND: '50',
    },
  });
  const keys = new ApiKeys(join(bench.dataDir, API_KEYS_FILE));
  key = keys.create({ name: 'test', tenantId: 'default', scopes: ['calls:dial', 'calls:read', 'numbers:read'] }, 0).secret;
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  await twilio[Symbol.asyncDispose]();
  await vonage[Symbol.asyncDispose]();
});

interface Attempt {
  readonly id: string;
  readonly state: string;
  readonly disposition: string | null;
  readonly cause: string | null;
}

/** Where it is noon now: calls are placed at no other time. */
function noonZone(): string {
  const offset = 12 - new Date().getUTCHours();
  return offset === 0 ? 'Etc/GMT' : `Etc/GMT${offset > 0 ? '-' : '+'}${Math.abs(offset)}`;
}

async function api<Answer>(path: string, body?: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await fetch(`${bench.gateway.url}/api${path}`, init);
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as Answer;
}

const place = (to: string, from: string): Promise<Attempt> => api('/calls', { to, from, bot: 'echo', zone: noonZone() });
const attempt = (id: string): Promise<Attempt> => api(`/attempts/${id}`);

async function sessionOf(id: string): Promise<CallSession> {
  const found = (): CallSession | undefined => bench.gateway.calls.calls.find((call) => call.id === id);
  await eventually('the session', () => found()?.attached === true);
  const session = found();
  if (session === undefined) throw new Error('the call is over');
  return session;
}

it.concurrent('talks to whoever answers, and goes on under the same call when keys bring it back on another stream', async () => {
  const to = '+442079460101';
  people.set(to, { outcome: { kind: 'answered', fullMedia: true } });
  const { id } = await place(to, FROM.twilio);
  const session = await sessionOf(id);
  const phone = twilio.dialled.calls.find((call) => call.phone.order.to === to);
  if (phone === undefined) throw new Error('nobody was called');
  const { call } = phone.side;
  await new ScriptedCaller(call.stream, 15_000).run([{ kind: 'press', digits: '5' }]);
  await eventually('the second stream', () => call.streams.length === 2 && session.attached);
  expect(call.playedDigits).toEqual(['1w2']);
  call.stream.press('7');
  await eventually('the answer on the second stream', () =>
    bench.news.some((item) => item.type === 'reply' && item.callId === id && item.turn === 2),
  );
  session.hangUp('enough');
  const record = await session.ended;
  expect(record).toMatchObject({ id, direction: 'outbound', carrierCallId: call.callSid });
  expect(record.attachments).toHaveLength(2);
  expect(record.turns.at(-1)?.botText).toBe('You pressed 7.');
  await eventually('the end of the attempt', async () => (await attempt(id)).state === 'ended');
  expect(await attempt(id)).toMatchObject({ disposition: 'completed' });
  expect(twilio.dialled.orders.filter((order) => order.to === to)).toHaveLength(1);
  // A redirect that comes after the end begins nothing.
  await expect(call.connect()).rejects.toThrow(CallRefused);
  expect(bench.gateway.calls.calls.map((each) => each.id)).not.toContain(id);
});

it.concurrent('talks over a carrier whose media names no call', async () => {
  const to = '+442079460102';
  const talk = (line: ConstructorParameters<typeof ScriptedCaller>[0]): Promise<unknown> =>
    new ScriptedCaller(line, 15_000).run([{ kind: 'press', digits: '7' }, { kind: 'hang-up' }]);
  people.set(to, { outcome: { kind: 'answered', fullMedia: true, talk } });
  const { id } = await place(to, FROM.vonage);
  const session = await sessionOf(id);
  const record = await session.ended;
  const [call] = vonage.dialled.calls.filter(({ phone }) => phone.order.to === to);
  expect(record).toMatchObject({ id, carrierCallId: call?.phone.order.carrierCallId, endReason: 'caller-hangup' });
  expect(record.turns.map(({ botText }) => botText)).toContain('You pressed 7.');
  await eventually('the end of the attempt', async () => (await attempt(id)).state === 'ended');
  expect(await attempt(id)).toMatchObject({ disposition: 'completed' });
});

test.concurrent.each([
  ['twilio', '+442079460103', { outcome: { kind: 'busy' } }, 'busy'],
  ['vonage', '+442079460104', { outcome: { kind: 'rejected' }, reports: 'twice' }, 'rejected'],
  ['twilio', '+442079460105', { outcome: { kind: 'failed', sip: 404 }, reports: 'swapped' }, 'failed'],
  ['vonage', '+442079460106', { outcome: { kind: 'busy' }, order: { kind: 'lost', placed: true } }, 'busy'],
  ['twilio', '+442079460107', { outcome: { kind: 'busy' }, order: { kind: 'fault', status: 500, placed: true } }, 'busy'],
] satisfies [keyof typeof FROM, string, SimulatedCallee, string][])(
  'says over %s what came of %s',
  async (carrier, to, callee, disposition) => {
    people.set(to, callee);
    const { id } = await place(to, FROM[carrier]);
    await eventually('the end of the attempt', async () => (await attempt(id)).state === 'ended');
    expect(await attempt(id)).toMatchObject({ disposition });
    const { dialled } = carrier === 'twilio' ? twilio : vonage;
    expect(dialled.orders.filter((order) => order.to === to)).toHaveLength(1);
    expect(bench.gateway.calls.dialled.map(({ call }) => call.callId)).not.toContain(id);
  },
);
