import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rmsLevelDb } from '../../src/audio/level.ts';
import { resample } from '../../src/audio/resample.ts';
import { parseWav } from '../../src/audio/wav.ts';
import { API_KEYS_FILE, API_SCOPES, ApiKeys } from '../../src/http/api/system/api-keys.ts';
import { AsteriskControl } from '../../src/carriers/asterisk/control.ts';
import type { CallSession } from '../../src/call/session.ts';
import { runDemo } from '../../src/cli/demo/run.ts';
import { Secret } from '../../src/config/secrets.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { ScriptedCaller } from '../../src/sim/caller/caller.ts';
import { zoneAtNoon } from '../../src/sim/caller/callee.ts';
import type { SimulatedCarrier } from '../../src/sim/simulated-carrier.ts';
import { eventually } from '../support/eventually.ts';
import { type GatewayBench, startGatewayBench } from '../integration/hosts/gateway-bench.ts';
import { sayTones, type ToneWord } from '../integration/platform/tone-engines.ts';
import { Exchange, exchangeTools } from './asterisk-exchange.ts';
import type { RtpLine } from './sip-phone.ts';
import { freePort } from '../support/processes.ts';

const PASSWORD = 'of-the-exchange';
const ARI_PASSWORD = 'of-its-rest-interface';
/** Numbers of the example that ring its phones. */
let numbers = 0;
/** Another number of the phone each time, since nobody is called often: 6001 has those that end in 1. */
const numberOf = (phone: 1 | 2): string => `+120255501${(numbers += 1) % 10}${phone}`;
const { signal } = new AbortController();

const tools = exchangeTools();

describe.runIf(tools !== undefined)('a real Asterisk, with the configuration of the example', () => {
  let bench: GatewayBench;
  let exchange: Exchange;
  let control: AsteriskControl;
  let apiKey: string;
  /** That Asterisk was to make so far. */
  let recordings = 0;

  beforeAll(async () => {
    const [ariPort, audiosocketPort] = [await freePort(), await freePort()];
    const ariUrl = `http://127.0.0.1:${ariPort}`;
    bench = await startGatewayBench({
      clock: systemClock,
      otherBots: { clinic: '' },
      env: {
        OFFHOOK_ASTERISK_PASSWORD: PASSWORD,
        OFFHOOK_ASTERISK_ARI_URL: ariUrl,
        OFFHOOK_ASTERISK_ARI_PASSWORD: ARI_PASSWORD,
        OFFHOOK_AUDIOSOCKET_PASSWORD: PASSWORD,
        OFFHOOK_AUDIOSOCKET_PORT: String(audiosocketPort),
        OFFHOOK_AUDIOSOCKET_ARI_URL: ariUrl,
        OFFHOOK_AUDIOSOCKET_ARI_PASSWORD: ARI_PASSWORD,
        OFFHOOK_DIALLING__CALLER_IDS: '+12025550199@asterisk,+12025550198@audiosocket',
      },
    });
    const { url: gatewayUrl } = bench.gateway;
    const passwords = { password: PASSWORD, ariPassword: ARI_PASSWORD };
    exchange = await Exchange.start({ ...need(tools), gatewayUrl, audiosocketPort, ariPort, ...passwords });
    const account = { ariUrl, ariUsername: 'offhook', ariPassword: new Secret(ARI_PASSWORD) };
    control = new AsteriskControl(account, 'websocket', systemClock);
    const about = { name: 'test', tenantId: 'default', scopes: [...API_SCOPES] };
    apiKey = new ApiKeys(join(bench.dataDir, API_KEYS_FILE)).create(about, 0).secret;
  });
  afterAll(async () => {
    await exchange?.[Symbol.asyncDispose]();
    await bench?.[Symbol.asyncDispose]();
  });

  /** The gateway's side of the call that began last. */
  async function lastSession(): Promise<CallSession> {
    await eventually('the call at the gateway', () => bench.gateway.calls.calls.some(({ attached }) => attached));
    const last = need(bench.gateway.calls.calls.at(-1));
    return bench.sessionOf({ callSid: last.identity.inbound.carrierCallId });
  }

  async function place(to: string, from: string): Promise<string> {
    const response = await fetch(`${bench.gateway.url}/api/calls`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ to, from, bot: 'clinic', zone: zoneAtNoon() }),
    });
    const body = (await response.json()) as { id: string };
    expect({ status: response.status, body }).toMatchObject({ status: 201 });
    return body.id;
  }

  async function attempt(id: string): Promise<{ state: string; disposition?: string; cause?: string }> {
    const response = await fetch(`${bench.gateway.url}/api/attempts/${id}`, { headers: { authorization: `Bearer ${apiKey}` } });
    return (await response.json()) as { state: string; disposition?: string; cause?: string };
  }

  it.each([
    ['asterisk', '900'],
    ['audiosocket', '901'],
    // A busy machine sends late, which moves what is heard: twice more then.
  ])('lets a phone talk with a bot over %s, and records the same as Asterisk does', { retry: 2 }, async (carrier, extension) => {
    recordings += 1;
    const line = await exchange.phone('6001').call(extension);
    const session = await lastSession();
    const reports = await new ScriptedCaller(line, 40_000).run([
      { kind: 'say', text: 'alpha', pcm: speech('alpha') },
      { kind: 'interrupt', text: 'bravo', pcm: speech('bravo', 'bravo'), afterMs: 1_000 },
      { kind: 'say', text: 'charlie', pcm: speech('charlie') },
      { kind: 'wait-for-end' },
    ]);
    const record = await session.ended;
    expect(record).toMatchObject({ carrier, from: '6001', to: extension, endReason: 'said-charlie' });
    expect(record.turns.map(({ callerText }) => callerText)).toEqual(['', 'alpha', 'bravo bravo', 'charlie']);
    expect(record.turns.at(-1)?.botText).toBe('Goodbye then.');
    expect(reports.find(({ kind }) => kind === 'interrupt')?.botSilentMs).toBeLessThan(600);
    const ended = (): number => exchange.log.split('End MixMonitor Recording').length - 1;
    await eventually("Asterisk's recording", () => ended() >= recordings);
    const path = need(record.recordingPath);
    const ours = { phone: envelopeOf(path, 0), bot: envelopeOf(path, 1) };
    const theirs = {
      phone: envelopeOf(join(exchange.folder, `${extension}-from-phone.wav`), 0),
      bot: envelopeOf(join(exchange.folder, `${extension}-to-phone.wav`), 0),
    };
    // What the phone said maps one clock onto the other, at the start of the call and at its end.
    const [first, last] = [need(beginnings(ours.phone)[0]), need(beginnings(ours.phone).at(-1))];
    const clock = { start: offsetAt(first, ours.phone, theirs.phone), end: offsetAt(last, ours.phone, theirs.phone) };
    const [, reply, ...rest] = beginnings(ours.bot);
    const bot = { start: offsetAt(need(reply), ours.bot, theirs.bot), end: offsetAt(need(rest.at(-1)), ours.bot, theirs.bot) };
    const drift = { phone: clock.end - clock.start, botAtStart: bot.start - clock.start, botAtEnd: bot.end - clock.end };
    for (const [what, ms] of Object.entries(drift)) expect(Math.abs(ms), what).toBeLessThanOrEqual(20);
  });

  it('hangs up over ARI', async () => {
    const line = await exchange.phone('6001').call('100');
    const session = await lastSession();
    await control.hangUp(session.identity.inbound.carrierCallId, signal);
    await line.ended;
    expect((await session.ended).endReason).toBe('caller-hangup');
    await control.hangUp(session.identity.inbound.carrierCallId, signal);
  });

  it.each(['100', '101'])('passes a caller of %s on to another phone, and they hear each other', async (extension) => {
    const waiting = await exchange.phone('6002').answer();
    const line = await exchange.phone('6001').call(extension);
    const session = await lastSession();
    await session.order({ type: 'transfer', to: numberOf(2) }, 'test');
    const other = await waiting.answered;
    expect((await session.ended).endReason).toBe('transferred');
    await hearEachOther(line, other);
    other.drop();
    line.drop();
  });

  it('presses keys at the other end of a call', async () => {
    const waiting = await exchange.phone('6002').answer();
    await place(numberOf(2), '+12025550199');
    const line = await waiting.answered;
    const session = await lastSession();
    await control.sendDigits(session.identity.inbound.carrierCallId, '1w2', signal);
    await eventually('both keys', () => line.keys.join('') === '12');
    session.hangUp('enough');
    await line.ended;
    expect(line.keys).toEqual(['1', '2']);
  });

  it.each([
    ['asterisk', '+12025550199'],
    ['audiosocket', '+12025550198'],
  ])('calls a phone for a bot over %s, which talks when it is answered', async (carrier, from) => {
    const waiting = await exchange.phone('6002').answer();
    const id = await place(numberOf(2), from);
    const line = await waiting.answered;
    await new ScriptedCaller(line, 40_000).run([
      { kind: 'say', text: 'charlie', pcm: speech('charlie') },
      { kind: 'wait-for-end' },
    ]);
    await eventually('the end of the attempt', async () => (await attempt(id)).state === 'ended');
    expect(await attempt(id)).toMatchObject({ carrier, disposition: expect.stringMatching(/^(person|silence)$/u) });
  });

  it.each([
    ['486 Busy Here', 'busy'],
    ['603 Decline', 'rejected'],
    ['480 Temporarily Unavailable', 'no-answer'],
  ])('tells how a call ends that is answered by %s', async (refusal, disposition) => {
    const { refused } = await exchange.phone('6001').refuse(refusal);
    const id = await place(numberOf(1), '+12025550199');
    await refused;
    await eventually('the end of the attempt', async () => (await attempt(id)).state === 'ended');
    expect(await attempt(id)).toMatchObject({ disposition });
  });

  it('joins two calls, whose phones hear each other', async () => {
    const waiting = await exchange.phone('6002').answer();
    const line = await exchange.phone('6001').call('100');
    const first = await lastSession();
    await place(numberOf(2), '+12025550199');
    const other = await waiting.answered;
    await eventually('the second call', () => bench.gateway.calls.calls.filter(({ attached }) => attached).length === 2);
    const ids = bench.gateway.calls.calls.map(({ identity }) => identity.inbound.carrierCallId);
    const firstId = first.identity.inbound.carrierCallId;
    const secondId = need(ids.find((id) => id !== firstId));
    const second = bench.sessionOf({ callSid: secondId });
    await control.join(firstId, secondId, signal);
    expect([(await first.ended).endReason, (await second.ended).endReason]).toEqual(['caller-hangup', 'caller-hangup']);
    await hearEachOther(line, other);
    other.drop();
    line.drop();
  });
});

describe.runIf(tools !== undefined)("the demo's conversation, through a real Asterisk", () => {
  it.each([
    ['asterisk', '100'],
    ['audiosocket', '101'],
    // A busy machine answers late, which the demo's script takes for a wrong answer.
  ])('goes as scripted over %s', { retry: 1, timeout: 240_000 }, async (carrier, extension) => {
    const through = demoExchange(carrier, extension);
    const report = await runDemo({ language: 'en', carrier, through, onNews: () => undefined, onStage: () => undefined });
    expect(report).toMatchObject({ ok: true, problems: [], digits: '2' });
  });
});

/** A phone of the example's exchange, which dials this, in place of a simulated carrier. */
function demoExchange(carrier: string, extension: string): SimulatedCarrier {
  const name = `OFFHOOK_${carrier.toUpperCase()}`;
  return {
    name: carrier,
    async open() {
      const [ariPort, audiosocketPort] = [await freePort(), await freePort()];
      let exchange: Exchange | undefined;
      return {
        env: {
          [`${name}_PASSWORD`]: PASSWORD,
          ...(carrier === 'audiosocket' ? { [`${name}_PORT`]: String(audiosocketPort) } : {}),
        },
        async place({ url: gatewayUrl }) {
          const passwords = { password: PASSWORD, ariPassword: ARI_PASSWORD };
          exchange = await Exchange.start({ ...need(tools), gatewayUrl, audiosocketPort, ariPort, ...passwords });
          const line = await exchange.phone('6001').call(extension);
          const hangUp = async (): Promise<void> => {
            line.drop();
            await line.ended;
          };
          return { carrierCallId: '', line, said: [], digits: [], dialled: undefined, ended: line.ended, hangUp };
        },
        async [Symbol.asyncDispose]() {
          await exchange?.[Symbol.asyncDispose]();
        },
      };
    },
  };
}

function need<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new TypeError('there is none');
  return value;
}

const speech = (...words: ToneWord[]): Int16Array => sayTones(words, 8_000).subarray(1_600);

/** Each says a word that the other hears. */
async function hearEachOther(one: RtpLine, other: RtpLine): Promise<void> {
  for (const [speaker, listener] of [
    [one, other],
    [other, one],
  ] as const) {
    const from = listener.buffer.heard.length;
    speaker.say(speech('bravo', 'bravo'));
    const heard = (): Int16Array => listener.buffer.heard.subarray(from);
    const isLoud = (at: number): boolean => rmsLevelDb(heard().subarray(at, at + 800)) > -35;
    await eventually('the word', () =>
      Array.from({ length: Math.floor(heard().length / 800) }, (_, at) => at * 800).some(isLoud),
    );
    await eventually('its end', () => speaker.silent);
  }
}

function envelopeOf(path: string, channel: number): Float64Array {
  const { samples, rateHz } = parseWav(readFileSync(path));
  return envelope(resample(need(samples[channel]), rateHz, 8_000));
}

const LONGEST_OFFSET_MS = 3_000;
/** Silence that ends a stretch of speech. */
const PAUSE_MS = 250;
/** What is compared of each stretch: its beginning, with silence before it. */
const [BEFORE_MS, COMPARED_MS] = [300, 900];

/** Where speech begins, in ms. */
function beginnings(levels: Float64Array): readonly number[] {
  const loud = Math.max(...levels) / 4;
  const found: number[] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (const [ms, level] of levels.entries()) {
    if (level <= loud) continue;
    if (ms - last > PAUSE_MS) found.push(ms);
    last = ms;
  }
  return found;
}

/** By how much, in ms, the sound that begins here in one recording stands later in the other: each starts when it likes, and has a clock of its own. */
function offsetAt(beginsMs: number, one: Float64Array, other: Float64Array): number {
  const start = Math.max(0, beginsMs - BEFORE_MS);
  const part = one.subarray(start, start + COMPARED_MS);
  let best = { ms: 0, likeness: -1 };
  for (let ms = -LONGEST_OFFSET_MS; ms <= LONGEST_OFFSET_MS; ms += 1) {
    if (start + ms < 0 || start + ms + part.length > other.length) continue;
    const likeness = correlation(part, other.subarray(start + ms, start + ms + part.length));
    if (likeness > best.likeness) best = { ms, likeness };
  }
  expect(best.likeness, 'the recordings are of the same sound').toBeGreaterThan(0.7);
  return best.ms;
}

/** Mean level of each millisecond. */
function envelope(pcm: Int16Array): Float64Array {
  return Float64Array.from({ length: Math.floor(pcm.length / 8) }, (_, ms) =>
    pcm.subarray(ms * 8, ms * 8 + 8).reduce((sum, sample) => sum + Math.abs(sample) / 8, 0),
  );
}

/** Pearson's. */
function correlation(one: Float64Array, other: Float64Array): number {
  const mean = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanOne, meanOther] = [mean(one), mean(other)];
  let [both, ofOne, ofOther] = [0, 0, 0];
  for (const [at, value] of one.entries()) {
    const [a, b] = [value - meanOne, (other[at] ?? 0) - meanOther];
    both += a * b;
    ofOne += a * a;
    ofOther += b * b;
  }
  return both / Math.sqrt(ofOne * ofOther || 1);
}
