import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rmsLevelDb } from '../../../../../src/audio/level.ts';
import { noise, seededRandom, sine } from '../../../../../src/audio/tone.ts';
import { Ambience } from '../../../../../src/call/outbound/ambience/ambience.ts';
import { ambientLoop, madeRoom } from '../../../../../src/call/outbound/ambience/load-ambience.ts';
import { CallBench } from '../../call-bench.ts';

describe('a room that is made', () => {
  it.each(['office', 'cafe'] as const)('%s has the level it is given, no loud place, and no seam', (room) => {
    const loop = ambientLoop(madeRoom(room), -48);
    expect(rmsLevelDb(loop)).toBeCloseTo(-48, 0);
    const levels = Array.from({ length: Math.floor(loop.length / 800) }, (_, part) =>
      rmsLevelDb(loop.subarray(part * 800, part * 800 + 800)),
    );
    expect(Math.max(...levels)).toBeLessThan(-38);
    expect(Math.min(...levels)).toBeGreaterThan(-62);
    const steps = loop.map((sample, index) => Math.abs(sample - loop[(index + loop.length - 1) % loop.length]!));
    expect(steps[0]).toBeLessThanOrEqual(steps.slice(1).reduce((most, step) => Math.max(most, step), 0));
    expect(madeRoom(room)).toEqual(madeRoom(room));
  });

  it('joins its end to its beginning at the power of the rest', () => {
    const random = seededRandom(3);
    const loop = ambientLoop(noise(4_000, 8_000, 0.5, random), -30);
    expect(rmsLevelDb(loop.subarray(0, 4_000))).toBeCloseTo(-30, 0);
    expect(ambientLoop(new Int16Array(100), -40)).toEqual(new Int16Array(50));
  });
});

describe('ambience on a line', () => {
  const loop = Int16Array.from({ length: 997 }, (_, index) => 100 + (index % 50));

  it('goes round without leaving out or repeating a sample', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 60 }), (says) => {
        const ambience = new Ambience(loop, 8_000);
        const heard: number[] = [];
        let nowMs = 0;
        for (const say of says) {
          heard.push(...((say ? ambience.under(new Int16Array(160)) : ambience.alone(0, nowMs)) ?? []));
          nowMs += 40;
        }
        expect(heard).toEqual(heard.map((_, index) => loop[index % loop.length]));
      }),
    );
  });

  it('keeps the carrier from running dry by ticks of 20 ms, and never far ahead', () => {
    const ambience = new Ambience(loop, 8_000);
    let sentMs = 0;
    for (let nowMs = 0; nowMs < 2_000; nowMs += 20) {
      sentMs += (ambience.alone(0, nowMs)?.length ?? 0) / 8;
      expect(sentMs).toBeGreaterThanOrEqual(nowMs + 20);
      expect(sentMs).toBeLessThanOrEqual(nowMs + 80);
    }
  });
});

it.each([-100, 0, 100])('lets nothing pile up at a carrier whose clock is %i ppm off, in twenty minutes', (ppm) => {
  const ambience = new Ambience(Int16Array.of(50), 8_000);
  const random = seededRandom(4);
  let queuedMs = 0;
  let most = 0;
  for (let nowMs = 0; nowMs < 1_200_000; nowMs += 20) {
    queuedMs = Math.max(0, queuedMs - 20 * (1 - ppm / 1e6));
    // Frames come up to 60 ms late.
    ambience.arrived(nowMs * (1 - ppm / 1e6) - 1_000, nowMs + 60 * random());
    queuedMs += (ambience.alone(Number.NEGATIVE_INFINITY, nowMs)?.length ?? 0) / 8;
    most = Math.max(most, queuedMs);
  }
  expect(most).toBeLessThanOrEqual(90);
});

it('sends no more at once to a carrier that cannot drop what it has', () => {
  const ambience = new Ambience(Int16Array.of(50), 8_000);
  ambience.cut(500);
  expect(ambience.alone(Number.NEGATIVE_INFINITY, 400)).toBeUndefined();
  expect(ambience.alone(Number.NEGATIVE_INFINITY, 460)).toHaveLength(320);
});

it.each([0, 20, 40, 60, 80, 100])('sends whole frames to a carrier with frames of %i ms, without a gap', (frameMs) => {
  const ambience = new Ambience(Int16Array.of(50), 8_000, frameMs);
  let queuedMs = 0;
  for (let nowMs = 0; nowMs < 2_000; nowMs += 20) {
    const sentMs = (ambience.alone(Number.NEGATIVE_INFINITY, nowMs)?.length ?? 0) / 8;
    expect(sentMs % Math.max(1, frameMs)).toBe(0);
    queuedMs += sentMs;
    expect(queuedMs).toBeGreaterThanOrEqual(20);
    queuedMs -= 20;
  }
});

describe('a call in a room', () => {
  const sentence = 'We are open from eight to five every day.';
  const bench = (ambience: Int16Array | undefined): CallBench => {
    const call = new CallBench(async function* (turn) {
      if (turn.index === 0) yield { type: 'say', text: sentence };
    });
    call.ambience = ambience;
    return call;
  };
  const room = ambientLoop(noise(3_000, 8_000, 0.5, seededRandom(1)), -48);

  it('hears it before, under and after what is said, without a gap', async () => {
    using call = await bench(room).start();
    await call.quiet(6_000);
    expect(call.attachment.gaps).toBe(0);
    const { levels } = call.attachment;
    expect(levels.filter((level) => level < -60)).toEqual([]);
  });

  it('goes on with a carrier that takes frames of 80 ms and no others', async () => {
    using call = bench(room);
    Object.assign(call.attachment, { capabilities: { ...call.attachment.capabilities, frameMs: 80 } });
    await call.start(6_000);
    expect(call.attachment.closedBecause).toBeUndefined();
    expect(call.attachment.gaps).toBe(0);
  });

  it('takes turns, counts silence and tells what was heard as one without it', async () => {
    const records = [];
    for (const ambience of [undefined, room]) {
      using call = await bench(ambience).start();
      await call.quiet(700);
      await call.voice(500);
      await call.quiet(9_500);
      expect(call.attachment.clears).toBe(1);
      const { turns, playout } = await call.hangUp('over');
      records.push({
        starved: playout.starvedByGateway,
        floor: call.floor(),
        asked: call.asked.map(({ input }) => input.kind),
        turns,
      });
    }
    const [without, withRoom] = records;
    expect(withRoom?.floor).toEqual(without?.floor);
    expect(withRoom?.asked).toEqual(without?.asked);
    expect(withRoom?.starved).toEqual(without?.starved);
    const words = (text: string | undefined): number => text?.split(' ').length ?? 0;
    expect(Math.abs(words(withRoom?.turns[0]?.botHeardText) - words(without?.turns[0]?.botHeardText))).toBeLessThanOrEqual(1);
  });

  it('goes on at once after a clear', async () => {
    using call = await bench(room).start();
    await call.quiet(700);
    await call.voice(500);
    await call.quiet(1_000);
    expect(call.attachment.clears).toBe(1);
    expect(call.attachment.gaps).toBe(0);
  });

  it('costs nothing where there is none', async () => {
    using call = await bench(undefined).start();
    await call.quiet(8_000);
    expect(call.attachment.sentSamples).toBe(Math.ceil((sentence.length * 60) / 20) * 160);
  });
});

it('is mixed under a voice, which stays as loud as it was', () => {
  const ambience = new Ambience(ambientLoop(noise(2_000, 8_000, 0.5, seededRandom(2)), -48), 8_000);
  const voice = sine(300, 1_000, 8_000, 0.14);
  const mixed = ambience.under(voice);
  expect(rmsLevelDb(mixed)).toBeCloseTo(rmsLevelDb(voice), 1);
  const room = mixed.map((sample, index) => sample - (voice[index] ?? 0));
  expect(rmsLevelDb(room)).toBeGreaterThan(-50);
  expect(rmsLevelDb(room)).toBeLessThan(-44);
});
