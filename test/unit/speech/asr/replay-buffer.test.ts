import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeAudio } from '../../../../src/audio/codec.ts';
import { ReplayBuffer } from '../../../../src/speech/asr/replay-buffer.ts';

const RATE_HZ = 8_000;
/** Blocks of 20 ms that energy is counted in: of a telephone line, or as short as 8 samples. */
const RATES_HZ = fc.constantFrom(RATE_HZ, 400);

function ramp(from: number, length: number): Int16Array {
  return Int16Array.from({ length }, (_, index) => ((from + index) << 16) >> 16);
}

function loud(ms: number): Int16Array {
  return Int16Array.from({ length: (ms * RATE_HZ) / 1000 }, (_, index) => (index % 8 < 4 ? 8_000 : -8_000));
}

function quiet(ms: number): Int16Array {
  return new Int16Array((ms * RATE_HZ) / 1000);
}

describe('replay buffer', () => {
  it('returns pushed audio once, in order, however it is cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 300 }),
        RATES_HZ,
        (cuts, step, rateHz) => {
          const buffer = new ReplayBuffer(8_000, rateHz);
          const taken: number[] = [];
          for (const cut of cuts) {
            buffer.push(ramp(buffer.end, cut));
            taken.push(...decodeAudio('pcm16', buffer.take(buffer.next + step)));
          }
          taken.push(...decodeAudio('pcm16', buffer.take(Number.POSITIVE_INFINITY)));
          expect(taken).toEqual([...ramp(0, buffer.end)]);
          expect(buffer.takeLost()).toBeUndefined();
        },
      ),
    );
  });

  it('never gives a sample twice within a session, nor one out of order, whatever is pushed, settled and rewound', () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('push' as const), count: fc.integer({ min: 0, max: 900 }) }),
      fc.record({ do: fc.constant('take' as const), count: fc.integer({ min: 0, max: 900 }) }),
      fc.record({ do: fc.constant('settle' as const), count: fc.integer({ min: 0, max: 5_000 }) }),
      fc.record({ do: fc.constant('rewind' as const), count: fc.constant(0) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), RATES_HZ, (steps, rateHz) => {
        const buffer = new ReplayBuffer(1_600, rateHz);
        for (const { do: what, count } of steps) {
          if (what === 'push') buffer.push(ramp(buffer.end, count));
          if (what === 'settle') buffer.settle(count);
          if (what === 'rewind') {
            buffer.rewind();
            expect(buffer.next).toBe(Math.max(buffer.settled, buffer.end - 1_600, buffer.next));
          }
          if (what === 'take') {
            const from = buffer.next;
            const samples = decodeAudio('pcm16', buffer.take(from + count));
            expect([...samples]).toEqual([...ramp(from, samples.length)]);
          }
          expect(buffer.end - buffer.next).toBeLessThanOrEqual(1_600);
          expect(buffer.settled).toBeLessThanOrEqual(buffer.next);
        }
      }),
    );
  });

  it('loses nothing as its ring grows and shrinks, wherever in the ring it stands', () => {
    for (let settled = 0; settled < 900; settled += 50) {
      const buffer = new ReplayBuffer(1_600, 400);
      buffer.push(ramp(0, settled));
      buffer.take(settled);
      buffer.settle(settled);
      for (let times = 0; times < 5; times += 1) buffer.push(ramp(buffer.end, 300));
      const sent = decodeAudio('pcm16', buffer.take(buffer.end - 100));
      expect([...sent]).toEqual([...ramp(settled, 1_400)]);
      buffer.settle(buffer.next - 100);
      buffer.rewind();
      expect([...decodeAudio('pcm16', buffer.take(buffer.end))]).toEqual([...ramp(settled + 1_300, 200)]);
    }
  });

  it('drops the oldest unsent samples and reports them once', () => {
    const buffer = new ReplayBuffer(RATE_HZ, RATE_HZ);
    for (let times = 0; times < 150; times += 1) buffer.push(loud(10));
    expect(buffer.next).toBe(4_000);
    expect(buffer.takeLost()).toEqual({ fromSample: 0, samples: 4_000 });
    expect(buffer.takeLost()).toBeUndefined();
    buffer.rewind();
    expect(buffer.takeLost()).toBeUndefined();
  });

  it('loses silence without a word', () => {
    const buffer = new ReplayBuffer(RATE_HZ, RATE_HZ);
    buffer.push(quiet(5_000));
    expect(buffer.takeLost()).toBeUndefined();
  });

  it('tells at the end of a session of sent speech that it no longer has', () => {
    const buffer = new ReplayBuffer(RATE_HZ, RATE_HZ);
    buffer.push(loud(800));
    buffer.take(buffer.end);
    buffer.push(loud(800));
    buffer.take(buffer.end);
    expect(buffer.takeLost()).toBeUndefined();
    buffer.rewind();
    expect(buffer.takeLost()).toEqual({ fromSample: 0, samples: 0.6 * RATE_HZ });
    expect(buffer.next).toBe(0.6 * RATE_HZ);
  });

  it('reports audio without a final as lost when it is given up, with its start', () => {
    const buffer = new ReplayBuffer(RATE_HZ, RATE_HZ);
    buffer.push(loud(500));
    buffer.take(2_400);
    buffer.settle(1_600);
    buffer.abandon();
    expect(buffer.takeLost()).toEqual({ fromSample: 1_600, samples: 2_400 });
    buffer.abandon();
    expect(buffer.takeLost()).toBeUndefined();
  });

  it('has lost nothing that is in a final', () => {
    const buffer = new ReplayBuffer(RATE_HZ, RATE_HZ);
    buffer.push(loud(800));
    buffer.take(buffer.end);
    buffer.settle(buffer.end);
    buffer.push(loud(900));
    buffer.take(buffer.end);
    buffer.rewind();
    expect(buffer.takeLost()).toBeUndefined();
    expect(buffer.next).toBe(6_400);
  });

  it('finds the pause after the first words, and ends it where the next words begin', () => {
    const buffer = new ReplayBuffer(10 * RATE_HZ, RATE_HZ);
    for (const part of [quiet(600), loud(500), quiet(300), loud(200), quiet(500), loud(300)]) buffer.push(part);
    buffer.take(buffer.end);
    expect(buffer.segmentEnd(400)).toBe((2_100 * RATE_HZ) / 1000);
    buffer.settle((2_100 * RATE_HZ) / 1000);
    expect(buffer.segmentEnd(400)).toBeUndefined();
    expect(buffer.hasVoice(0, 600 * 8)).toBe(false);
    expect(buffer.hasVoice(0, 800 * 8)).toBe(true);
  });
});
