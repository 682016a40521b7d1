import { afterAll, beforeAll, expect, it } from 'vitest';
import { sine } from '../../../src/audio/tone.ts';
import { sleep } from '../../../src/kernel/waiting.ts';
import type { OnDial, SimulatedCallee } from '../../../src/sim/caller/callee.ts';
import type { CallerLine } from '../../../src/sim/caller/caller.ts';
import { SimulatedTwilioApi } from '../../../src/sim/twilio/api.ts';
import type { SimulatedCall } from '../../../src/sim/twilio/carrier.ts';
import { eventually } from '../../support/eventually.ts';
import { startPatientClock } from '../../../src/kernel/patient-clock.ts';
import { type GatewayBench, startGatewayBench } from './gateway-bench.ts';

const ACCOUNT = `AC${'3'.repeat(32)}`;
const [DESK, BUSY] = ['+15550100001', '+15550100002'];
const BOT = `
export async function* respond({ input, call }) {
  if (input.kind === 'start') yield 'Hello.';
  else if (input.kind === 'keyed') {
    yield 'Wait.';
    yield { type: 'transfer', to: input.digits === '2' ? '${BUSY}' : '${DESK}', warm: { brief: 'A caller.' } };
  } else if (input.kind === 'transfer') {
    yield { type: 'note', text: 'transfer ' + input.outcome };
    yield 'Sorry.';
  }
}
`;

let bench: GatewayBench;
const time = startPatientClock();
let api: SimulatedTwilioApi;
/** The line of each agent who answered, oldest first. */
const agents: CallerLine[] = [];

beforeAll(async () => {
  const authToken = 'warm-test-token';
  const answers: SimulatedCallee = {
    ringMs: 300,
    outcome: {
      kind: 'answered',
      fullMedia: true,
      talk: async (line) => {
        agents.push(line);
        line.press('1');
        while (line.open) await sleep(time.clock, 50);
        // On in the conference, where the carrier has joined the two.
        await sleep(time.clock, 60_000);
      },
    },
  };
  const onDial: OnDial = ({ to }) => (to === BUSY ? { ringMs: 100, outcome: { kind: 'busy' } } : answers);
  api = await new SimulatedTwilioApi(ACCOUNT, authToken, { clock: time.clock, onDial }).listen();
  bench = await startGatewayBench({
    clock: time.clock,
    env: { OFFHOOK_TWILIO_ACCOUNT_SID: ACCOUNT, OFFHOOK_TWILIO_AUTH_TOKEN: authToken, OFFHOOK_TWILIO_API_URL: api.url },
    botModule: BOT,
    otherBots: {
      carrier: `transfers: { allow: ['+15550100*'] }`,
      bridge: `transfers: { allow: ['+15550100*'], joinBy: gateway }`,
    },
  });
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
  time[Symbol.dispose]();
});

async function consult(bot: string, key: string): Promise<SimulatedCall> {
  const call = await bench.dial(undefined, { bot });
  api.register(call);
  const session = bench.sessionOf(call);
  await eventually('the greeting', () => bench.news.some((item) => item.type === 'heard' || item.type === 'reply'));
  await eventually('the caller is expected', () => session.standing.phase === 'listening');
  call.stream.press(key);
  return call;
}

/** Share of the power of a sound that one tone has. */
function toneShare(pcm: Int16Array, hz: number): number {
  let [re, im, power] = [0, 0, 0];
  for (const [index, sample] of pcm.entries()) {
    const angle = (2 * Math.PI * hz * index) / 8_000;
    re += sample * Math.cos(angle);
    im += sample * Math.sin(angle);
    power += sample * sample;
  }
  return power === 0 ? 0 : (2 * (re * re + im * im)) / (pcm.length * power);
}

const lastSecond = ({ buffer: { heard } }: CallerLine): Int16Array => heard.subarray(Math.max(0, heard.length - 8_000));

it('has the carrier join caller and agent, and the call ends there with either of them', async () => {
  const call = await consult('carrier', '1');
  const session = bench.sessionOf(call);
  const record = await session.ended;
  expect(record.endReason).toBe('transferred');
  expect(record.notes).toEqual(['transfer answered']);
  expect(record.transfers).toMatchObject([{ to: DESK, kind: 'warm', connectedBy: 'carrier', outcome: 'answered' }]);
  const [agent] = api.dialled.list().filter(({ phone }) => phone.order.to === DESK);
  expect(agent?.side.call.conference?.room).toBe(call.conference?.room);
  expect(call.conference?.room).toBe(`offhook-${call.callSid}`);
  expect(agent?.phone.isOver).toBe(false);
  await call.hangUp();
  await eventually('the end of the other call', () => agent?.phone.isOver === true);
});

it('passes the sound between caller and agent itself, each as the other said it', async () => {
  const before = agents.length;
  const call = await consult('bridge', '1');
  const session = bench.sessionOf(call);
  await eventually('the bridge', () => session.standing.transfer?.state === 'connected');
  const agent = agents[before];
  if (agent === undefined) throw new Error('no agent answered');
  agent.say(sine(700, 4_000, 8_000, 0.3));
  call.stream.say(sine(1_100, 4_000, 8_000, 0.3));
  await eventually('the sound of each at the other', () => {
    const [heardByAgent, heardByCaller] = [toneShare(lastSecond(agent), 1_100), toneShare(lastSecond(call.stream), 700)];
    return heardByAgent > 0.9 && heardByCaller > 0.9;
  });
  agent.stop();
  const record = await session.ended;
  expect(record.endReason).toBe('transferred');
  expect(record.transfers).toMatchObject([{ connectedBy: 'gateway', outcome: 'answered' }]);
  await call.ended;
});

it('lets the caller go on with the bot when the agent is busy, and says so in the stored call', async () => {
  const call = await consult('carrier', '2');
  const session = bench.sessionOf(call);
  await eventually('the answer to the outcome', () => session.standing.botText === 'Sorry.');
  session.hangUp('enough');
  const { id } = await session.ended;
  await eventually('the stored call', async () => (await bench.gateway.backlog.store.calls.get('default', id)) !== undefined);
  const stored = await bench.gateway.backlog.store.calls.get('default', id);
  expect(stored?.transfers).toMatchObject([{ to: BUSY, kind: 'warm', outcome: 'busy' }]);
  expect(stored?.turns.at(-1)).toMatchObject({ inputKind: 'transfer', botText: 'Sorry.' });
});
