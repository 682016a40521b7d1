import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/audio/tone.ts';
import type { MessageSink } from '../../../src/carriers/media-codec.ts';
import { carriers } from '../../../src/carriers/registry.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { simulatedCarriers } from '../../../src/sim/carriers.ts';
import type { SimulatedCarrierCall, SimulatedLine } from '../../../src/sim/simulated-carrier.ts';
import { breaker, brokenSession, type WireMessage } from '../../support/broken-sessions.ts';
import { RecordingProxy, type SeenRequest, unproven, wronglyProven } from '../../support/recording-proxy.ts';
import { type CarrierBench, startCarrierBench } from '../hosts/carrier-bench.ts';
import { eventually, untilPasses } from '../../support/eventually.ts';
import { thorough } from '../../support/thorough.ts';

const BOT = `
export async function* respond({ input }) {
  yield { type: 'say', text: input.kind === 'start' ? 'Hello there, please say a word.' : 'I see.' };
}
`;
/** Of the codec alone, and of whole calls. */
const SESSIONS = thorough(50, 250);
const CALLS = thorough(2, 4);
const SESSION_MS = 800;
const EVENTS = /^(connected|alive|started|audio|digit|mark|stopped|probe|rejected|ignored)$/u;

let world: CarrierBench;

/** What each carrier sends in a good call, by its name. */
const sessions = new Map<string, readonly WireMessage[]>();

beforeAll(async () => {
  world = await startCarrierBench(BOT);
  for (const { name } of simulatedCarriers) sessions.set(name, await record(name));
});

afterAll(() => world[Symbol.asyncDispose]());

/** Lets so much of the stream pass, or less where it ends. */
function pass(line: SimulatedLine, durationMs: number): Promise<void> {
  const untilMs = line.nowMs + durationMs;
  return new Promise((resolve) => {
    const look = (): void => {
      if (line.open && line.nowMs < untilMs) return;
      stop();
      resolve();
    };
    const stop = line.watch(look);
    look();
  });
}

async function record(name: string): Promise<readonly WireMessage[]> {
  const sent: WireMessage[] = [];
  const tamper = (message: WireMessage): readonly WireMessage[] => {
    sent.push(typeof message === 'string' ? message : Uint8Array.from(message));
    return [message];
  };
  const call = await world.place(name, { tamper });
  await pass(call.line, 600);
  call.line.press('5');
  await pass(call.line, 300);
  await call.hangUp();
  return sent;
}

/** What the gateway has counted of a carrier so far. */
async function countsOf(carrier: string): Promise<{ accepted: number; refused: number; rejected: number; ended: number }> {
  const text = await (await fetch(`${world.bench.gateway.url}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.includes(`carrier="${carrier}"`));
  const sum = (...starts: readonly string[]): number =>
    lines
      .filter((line) => starts.some((start) => line.startsWith(`offhook_${start}`)))
      .reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
  return {
    accepted: sum(`calls_answered_total{carrier="${carrier}",answer="accepted"`),
    refused: sum('webhooks_refused_total{', 'streams_refused_total{'),
    rejected: sum('media_messages_rejected_total{', 'media_messages_unknown_total{', 'streams_refused_total{'),
    ended: sum('calls_total{'),
  };
}

const callsOf = (carrier: string): number =>
  world.bench.gateway.calls.calls.filter(({ identity }) => identity.inbound.carrier === carrier).length;

const registered = carriers.filter(({ name }) => simulatedCarriers.some((simulated) => simulated.name === name));
const seedOf = (name: string): number =>
  Array.from(name).reduce((sum, letter) => sum * 31 + (letter.codePointAt(0) ?? 0), 7) % 100_000;

describe.each(registered)('$title', (carrier) => {
  const { name } = carrier;

  it('reads no broken session without an answer to each message', () => {
    const session = sessions.get(name) ?? [];
    const brief = [...session.slice(0, 12), ...session.slice(12).filter((_, at) => at % 8 === 0), ...session.slice(-3)];
    const config = loadConfig({ env: world.env, files: [] }).carriers.get(name) ?? {
      settings: carrier.settings.parse({}),
      secrets: {},
    };
    const random = seededRandom(seedOf(name));
    for (let round = 0; round < SESSIONS; round += 1) {
      const codec = carrier.codec(config);
      let replied = 0;
      const reply: MessageSink = {
        room: (length) => Buffer.alloc(length),
        send: (_, length) => void (replied += length),
        sendText: (text) => void (replied += text.length),
      };
      const broken = brokenSession(brief, random);
      for (const message of broken) {
        const event = codec.read(Buffer.from(message as string), typeof message !== 'string', reply);
        // An expectation for each of a hundred thousand messages would cost more than to read them.
        if (!EVENTS.test(event.type)) expect(event.type).toMatch(EVENTS);
      }
      // Nobody is answered with more than they asked.
      expect(replied).toBeLessThan(2_000 * (broken.length + 1));
    }
  });

  it('leaves no call open when its messages are broken, counts why, and takes the next call', async () => {
    const before = await countsOf(name);
    const codes: number[] = [];
    const one = async (index: number): Promise<void> => {
      const random = seededRandom(seedOf(name) + index);
      const alter = breaker(random, 0.1 + (0.75 * index) / (CALLS - 1));
      const call = await placed(name, { tamper: alter });
      if (call === undefined) return;
      void call.line.ended.then(({ code }) => codes.push(code));
      await pass(call.line, SESSION_MS / 2);
      if (call.line.open) call.line.press('7');
      await pass(call.line, SESSION_MS / 2);
      if (random() < 0.5) call.line.drop();
      // A carrier whose session is broken may wait for an answer in vain.
      await within(call.hangUp(), 2_000);
    };
    await Promise.all(Array.from({ length: CALLS }, (_, index) => one(index)));
    await eventually('the ends of all calls', () => callsOf(name) === 0);
    // 1011 is a fault of ours.
    expect(codes).not.toContain(1011);
    // A call that was answered too late has an end as well, and was not accepted.
    await untilPasses(async () => {
      const { ended, accepted } = await countsOf(name);
      expect(ended).toBeGreaterThanOrEqual(accepted);
    });
    expect((await countsOf(name)).rejected).toBeGreaterThan(before.rejected);
    const call = await world.place(name);
    await eventually('a greeting', () => call.line.buffer.heard.some((sample) => Math.abs(sample) > 1_000));
    await call.hangUp();
  });

  it.each([
    ['unsigned', unproven],
    ['wrongly signed', wronglyProven],
  ] as const)('is refused %s before anything is made for it', async (_, alter) => {
    await using proxy = await RecordingProxy.start(world.bench.gateway.url);
    proxy.alter = alter;
    const before = await countsOf(name);
    const call = await placed(name, {}, { connectTo: proxy.url });
    // A carrier with a connection of its own (TCP) passes no proxy.
    if (proxy.seen.length > 0) {
      expect(call).toBeUndefined();
      expect(Math.min(...proxy.answered)).toBeGreaterThanOrEqual(400);
      const { accepted, refused } = await countsOf(name);
      expect(accepted).toBe(before.accepted);
      expect(refused).toBeGreaterThan(before.refused);
    }
    await call?.hangUp();
    await eventually('no call', () => callsOf(name) === 0);
  });

  it('makes no second call of requests that are sent again', async () => {
    await using proxy = await RecordingProxy.start(world.bench.gateway.url);
    const call = await world.place(name, {}, { connectTo: proxy.url });
    await pass(call.line, 200);
    const [{ accepted }, live] = [await countsOf(name), callsOf(name)];
    // Whoever replays a proof that has no time in it gets a socket at the most, and a call by its messages alone.
    const isWelcome = ({ isUpgrade, path }: SeenRequest): boolean => isUpgrade && !/\/stream\//u.test(path);
    // A report that comes twice says nothing new.
    const isReport = ({ path }: SeenRequest): boolean => /\/status(?:\/|$)/u.test(path);
    for (const request of proxy.seen.slice()) {
      const { status } = await proxy.send(request);
      if (!isWelcome(request) && !isReport(request)) expect(status).toBeGreaterThanOrEqual(400);
    }
    if (!proxy.seen.some(isWelcome)) expect((await countsOf(name)).accepted).toBe(accepted);
    expect(callsOf(name)).toBe(live);
    await call.hangUp();
    await eventually('the end of the call', () => callsOf(name) === 0);
  });
});

/** A call; undefined where the gateway refuses it, or nothing comes of it. A call that comes too late for the test is hung up. */
async function placed(...how: Parameters<CarrierBench['place']>): Promise<SimulatedCarrierCall | undefined> {
  const placing = world.place(...how);
  const call = await within(placing);
  if (call === undefined) void placing.then((late) => late.hangUp()).catch(() => undefined);
  return call;
}

/** What comes of it in so many ms of the calls; undefined where nothing does, or it fails. */
async function within<Value>(promise: Promise<Value>, mostMs = 10_000): Promise<Value | undefined> {
  let stop: (() => void) | undefined;
  const late = new Promise<undefined>((resolve) => {
    const timer = world.clock.after(mostMs, () => resolve(undefined));
    stop = () => timer.cancel();
  });
  return Promise.race([promise.catch(() => undefined), late]).finally(() => stop?.());
}
