import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activeLevelDb } from '../../../src/audio/level.ts';
import { joinSamples } from '../../../src/audio/samples.ts';
import { sine } from '../../../src/audio/tone.ts';
import { API_KEYS_FILE, ApiKeys } from '../../../src/http/api/system/api-keys.ts';
import { type Detection, type OnDial, type SimulatedCallee, zoneAtNoon } from '../../../src/sim/caller/callee.ts';
import type { CallerLine } from '../../../src/sim/caller/caller.ts';
import { CallerVoice } from '../../../src/sim/caller/voice.ts';
import { SimulatedTwilioApi } from '../../../src/sim/twilio/api.ts';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { startPatientClock } from '../../../src/kernel/patient-clock.ts';
import { type GatewayBench, startGatewayBench } from './gateway-bench.ts';

const ACCOUNT = `AC${'3'.repeat(32)}`;
const CALLER_ID = '+442079460001';
const PER_MS = 8;
const MESSAGE = 'Please call the clinic back today.';

const beep = sine(1_000, 400, 8_000, 0.3);
const GREETING =
  'You have reached the voice mail box of Peter Baker and I cannot come to the phone at the moment so please leave a message after the tone';

/** When the line is so far; all that was said by then is out. */
async function until(line: CallerLine, isSo: () => boolean): Promise<void> {
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (!isSo() && line.open) return;
      stop();
      resolve();
    };
    const stop = line.watch(look);
    look();
  });
}

const later = (line: CallerLine, ms: number): Promise<void> => {
  const sinceMs = line.nowMs;
  return until(line, () => line.nowMs >= sinceMs + ms);
};

/** What the answering side heard of the bot from a moment on. */
function soundSince(
  line: CallerLine,
  fromMs: number,
): { readonly ms: number; readonly levelDb: number; readonly pcm: Int16Array } {
  const pcm = line.buffer.heard.slice(Math.max(0, Math.round(fromMs * PER_MS)));
  const frames = Array.from({ length: Math.floor(pcm.length / 160) }, (_, at) => pcm.subarray(at * 160, at * 160 + 160));
  const sounding = frames.filter((frame) => frame.some((sample) => Math.abs(sample) > 100)).length;
  return { ms: sounding * 20, levelDb: sounding === 0 ? -96 : activeLevelDb(pcm, 8_000), pcm };
}

describe('who answers an outbound call', () => {
  const time = startPatientClock();
  let api: SimulatedTwilioApi;
  let bench: GatewayBench;
  let key: string;
  const callees = new Map<string, SimulatedCallee>();
  let hello: Int16Array;
  let mailbox: Int16Array;

  beforeAll(async () => {
    await using voice = new CallerVoice();
    hello = await voice.say('Hello?', { language: 'en' });
    mailbox = joinSamples([await voice.say(GREETING, { language: 'en' }), new Int16Array(500 * PER_MS), beep]);
    const authToken = 'answering-test-token';
    const onDial: OnDial = ({ to }) => callees.get(to) ?? { outcome: { kind: 'failed', sip: 404 } };
    api = await new SimulatedTwilioApi(ACCOUNT, authToken, { clock: time.clock, onDial }).listen();
    bench = await startGatewayBench({
      clock: time.clock,
      otherBots: { caller: `answered: { mailbox: { message: '${MESSAGE}' } }\nnoInputMs: 2000\nnoInputAttempts: 1` },
      env: {
        OFFHOOK_TWILIO_ACCOUNT_SID: ACCOUNT,
        OFFHOOK_TWILIO_AUTH_TOKEN: authToken,
        OFFHOOK_TWILIO_API_URL: api.url,
        OFFHOOK_DIALLING__CARRIER: 'twilio',
        // It is always noon where these people are.
        OFFHOOK_DIALLING__ZONE_SOURCE: 'given',
        OFFHOOK_DIALLING__CALLER_IDS: `${CALLER_ID}@twilio`,
        OFFHOOK_DIALLING__CALLS_PER_SECOND: '100',
      },
    });
    const keys = new ApiKeys(join(bench.dataDir, API_KEYS_FILE));
    key = keys.create({ name: 'test', tenantId: 'default', scopes: ['calls:dial', 'calls:read'] }, 0).secret;
  });
  afterAll(async () => {
    await bench[Symbol.asyncDispose]();
    await api[Symbol.asyncDispose]();
    time[Symbol.dispose]();
  });

  /** @returns the record of the call once it is over */
  async function call(
    to: string,
    talk: (line: CallerLine) => Promise<void>,
    detected: readonly { as: Detection; afterMs: number }[] = [],
  ) {
    callees.set(to, { ringMs: 100, outcome: { kind: 'answered', fullMedia: true, talk, detected } });
    const answer = await fetch(`${bench.gateway.url}/api/calls`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ to, from: CALLER_ID, bot: 'caller', zone: zoneAtNoon() }),
    });
    expect(answer.status).toBe(201);
    const { id } = (await answer.json()) as { id: string };
    const { calls } = bench.gateway.backlog.store;
    await eventually('the record', async () => (await calls.get('default', id))?.endReason !== undefined);
    const record = await calls.get('default', id);
    if (record === undefined) throw new Error('the record is gone');
    return record;
  }

  it.concurrent('is a person, who is greeted once they have said hello and not before', async () => {
    const heard = { beforeMs: 0, afterMs: 0 };
    const record = await call('+442079460110', async (line) => {
      await later(line, 500);
      const fromMs = line.say(hello);
      const endMs = fromMs + hello.length / PER_MS;
      await until(line, () => line.nowMs >= endMs);
      heard.beforeMs = soundSince(line, 0).ms;
      await until(line, () => soundSince(line, endMs).ms >= 1_000);
      heard.afterMs = soundSince(line, endMs).ms;
    });
    expect(heard.beforeMs).toBe(0);
    expect(heard.afterMs).toBeGreaterThanOrEqual(1_000);
    expect(record.outbound).toMatchObject({ answeredBy: 'person' });
    expect(record.turns[0]?.latencies.total).toBeGreaterThan(0);
  });

  it.concurrent('is a mailbox, which gets the whole message behind its beep', async () => {
    // In a pause of its greeting it may be spoken to, as a person is: what counts is the message behind the beep.
    const heard = { message: { ms: 0, levelDb: -96 } };
    const record = await call(
      '+442079460120',
      async (line) => {
        await later(line, 300);
        const endMs = line.say(mailbox) + mailbox.length / PER_MS;
        await until(line, () => false);
        heard.message = soundSince(line, endMs);
      },
      [{ as: 'machine', afterMs: 1_500 }],
    );
    expect(record).toMatchObject({ endReason: 'message-left', outbound: { answeredBy: 'mailbox', message: 'all' } });
    const said = record.turns.at(-1);
    expect([said?.botText, said?.botHeardText]).toEqual([MESSAGE, MESSAGE]);
    // The test's voice takes a fixed time for each letter.
    expect(heard.message.ms).toBeGreaterThan(1_000);
    expect(heard.message.levelDb).toBeGreaterThan(-35);
  });

  it.concurrent('was a mailbox, until a person speaks up while the message is left', async () => {
    const heard = { greetedMs: 0 };
    const record = await call(
      '+442079460130',
      async (line) => {
        await later(line, 300);
        const endMs = line.say(mailbox) + mailbox.length / PER_MS;
        await until(line, () => soundSince(line, endMs).ms >= 300);
        const spokenMs = line.say(hello) + hello.length / PER_MS;
        await until(line, () => line.nowMs >= spokenMs + 400);
        await until(line, () => soundSince(line, spokenMs + 400).ms >= 1_000);
        heard.greetedMs = soundSince(line, spokenMs + 400).ms;
      },
      [{ as: 'machine', afterMs: 1_500 }],
    );
    expect(record.outbound?.opinions.map(({ by }) => by).slice(-2)).toEqual(['mailbox', 'person']);
    expect(record.outbound).toMatchObject({ message: 'part' });
    expect(heard.greetedMs).toBeGreaterThanOrEqual(1_000);
  });

  it.concurrent('is a fax, and is hung up on', async () => {
    const record = await call('+442079460140', async (line) => {
      await later(line, 300);
      line.say(sine(2_100, 3_000, 8_000, 0.3));
      await until(line, () => false);
    });
    expect(record).toMatchObject({ endReason: 'fax', outbound: { answeredBy: 'fax' } });
  });

  it.concurrent('is nobody, to whom the bot speaks first', async () => {
    const heard = { ms: 0 };
    const record = await call('+442079460150', async (line) => {
      await until(line, () => false);
      heard.ms = soundSince(line, 0).ms;
    });
    expect(record).toMatchObject({ endReason: 'silence', outbound: { answeredBy: 'silence' } });
    expect(heard.ms).toBeGreaterThan(1_000);
  });
});
