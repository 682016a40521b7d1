import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { noise, seededRandom, sine } from '../../../src/audio/tone.ts';
import { SpeechActivity } from '../../../src/audio/voice-activity/voice-activity.ts';
import { Segmenter, type SpeechSegment } from '../../../src/platform/server/asr/transcribe.ts';
import { joinSamples } from '../../../src/audio/samples.ts';
import { Chunker } from '../../../src/platform/server/tts/speech-chunks.ts';
import { SilenceTrim } from '../../../src/platform/server/tts/speak.ts';
import { engineSpeed, TimeStretch } from '../../../src/platform/server/tts/time-stretch.ts';

/** Cuts samples into pieces of the given sizes, again and again, until none are left. */
function pieces(pcm: Int16Array, sizes: readonly number[]): Int16Array[] {
  const cut: Int16Array[] = [];
  for (let at = 0, index = 0; at < pcm.length; index += 1) {
    const size = sizes[index % sizes.length]!;
    cut.push(pcm.subarray(at, at + size));
    at += size;
  }
  return cut;
}
/** Told in one comparison: looking at each sample by itself is most of the time of a property. */
const isSame = (one: Int16Array, other: Int16Array): boolean =>
  Buffer.from(one.buffer, one.byteOffset, one.byteLength).equals(Buffer.from(other.buffer, other.byteOffset, other.byteLength));
const sizes = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 8 });
const quiet = (ms: number): Int16Array => new Int16Array(8 * ms);

it('chunks for the socket lose and reorder no sample for any pieces: a short chunk, then equal ones, then the rest', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 5000 }), sizes, (length, cut) => {
      const pcm = Int16Array.from({ length }, (_, index) => index);
      const chunker = new Chunker(100, 300);
      const chunks = pieces(pcm, cut).flatMap((piece) => chunker.push(piece));
      expect(chunks.map((chunk) => chunk.length)).toEqual(chunks.map((_, index) => (index === 0 ? 100 : 300)));
      const rest = chunker.flush();
      if (rest !== undefined) expect(rest.length).toBeLessThan(300);
      expect(isSame(joinSamples(rest === undefined ? chunks : [...chunks, rest]), pcm)).toBe(true);
      expect(chunker.flush()).toBeUndefined();
    }),
  );
});

describe('trimmed silence', () => {
  it('is removed at both ends and kept inside, for any pieces', () => {
    const inner = joinSamples([sine(440, 50, 8000), quiet(120), sine(440, 50, 8000)]);
    const loud = (sample: number): boolean => Math.abs(sample) >= 328;
    const wanted = inner.slice(inner.findIndex(loud), inner.findLastIndex(loud) + 1);
    fc.assert(
      fc.property(sizes, fc.nat(200), fc.nat(200), (cut, before, after) => {
        const trim = new SilenceTrim();
        const whole = joinSamples([quiet(before), inner, quiet(after)]);
        expect(isSame(joinSamples(pieces(whole, cut).map((piece) => trim.push(piece))), wanted)).toBe(true);
      }),
    );
  });

  it('leaves nothing of what is below -40 dB throughout', () => {
    const trim = new SilenceTrim();
    expect(trim.push(noise(100, 8000, 0.009, seededRandom(1)))).toHaveLength(0);
  });
});

describe('stretched speech', () => {
  it.each([
    [0.25, 0.8, 3.2],
    [0.8, 0.8, 1],
    [1, 1, 1],
    [1.25, 1.25, 1],
    [4, 1.25, 0.3125],
  ])('speed %d is the engine at %d and a stretch of %d', (speed, engine, stretch) => {
    expect(engineSpeed(speed)).toEqual({ engine, stretch });
  });

  it('has the given length and the same samples for any pieces', () => {
    const pcm = joinSamples([sine(200, 300, 8000), quiet(100), sine(330, 250, 8000)]);
    const run = (factor: number, cut: readonly number[]): Int16Array => {
      const stretch = new TimeStretch(factor, 8000);
      return joinSamples([...pieces(pcm, cut).map((piece) => stretch.push(piece)), stretch.flush()]);
    };
    fc.assert(
      fc.property(fc.double({ min: 0.3, max: 3.2, noNaN: true }), sizes, (factor, cut) => {
        const stretched = run(factor, cut);
        expect(stretched.length).toBe(Math.round(pcm.length * factor));
        expect(isSame(stretched, run(factor, [pcm.length]))).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it.each([0.3125, 0.8, 1.5, 3.2])('keeps pitch and level at factor %d', (factor) => {
    const stretch = new TimeStretch(factor, 8000);
    const pcm = joinSamples([stretch.push(sine(250, 1000, 8000)), stretch.flush()]);
    const middle = pcm.subarray(600, pcm.length - 600);
    let crossings = 0;
    for (let index = 1; index < middle.length; index += 1) if (middle[index - 1]! < 0 !== middle[index]! < 0) crossings += 1;
    expect((crossings * 8000) / (2 * middle.length)).toBeCloseTo(250, -1);
    const rms = Math.sqrt(middle.reduce((sum, sample) => sum + sample * sample, 0) / middle.length);
    expect(20 * Math.log10(rms / (0.3 * 32_767 * Math.SQRT1_2))).toBeCloseTo(0, 0);
  });

  it('gives nothing for nothing', () => {
    expect(new TimeStretch(2, 8000).flush()).toHaveLength(0);
  });
});

describe('speech activity', () => {
  const run = (pcm: Int16Array): boolean[] => {
    const activity = new SpeechActivity();
    return Array.from({ length: Math.floor(pcm.length / 160) }, (_, index) =>
      activity.frame(pcm.subarray(index * 160, index * 160 + 160)),
    );
  };

  it('notices sound within 60 ms and its end within 60 ms', () => {
    const active = run(joinSamples([quiet(200), sine(300, 200, 8000), quiet(200)]));
    expect(active.indexOf(true)).toBe(12);
    expect(active.lastIndexOf(true)).toBe(21);
  });

  it('takes neither a click nor a steady hum for speech', () => {
    expect(run(joinSamples([quiet(200), sine(300, 40, 8000), quiet(200)]))).not.toContain(true);
    const hum = run(noise(20_000, 8000, 0.02, seededRandom(2)));
    expect(hum.slice(-100)).not.toContain(true);
  });
});

describe('segments of a recording', () => {
  const segmentsOf = (pcm: Int16Array, cut: readonly number[]): SpeechSegment[] => {
    const segmenter = new Segmenter(8000);
    const found = pieces(pcm, cut).flatMap((piece) => segmenter.push(piece));
    const last = segmenter.flush();
    return last === undefined ? found : [...found, last];
  };

  it('hold every sound at its time with a lead and a tail, for any pieces', () => {
    const pcm = joinSamples([
      quiet(1000),
      sine(300, 400, 8000),
      quiet(1500),
      sine(500, 300, 8000),
      quiet(300),
      sine(500, 300, 8000),
    ]);
    fc.assert(
      fc.property(sizes, (cut) => {
        const segments = segmentsOf(pcm, cut);
        expect(segments).toHaveLength(2);
        for (const { startSample, pcm: part } of segments) {
          expect(isSame(part, pcm.subarray(startSample, startSample + part.length))).toBe(true);
        }
        const [first, second] = segments;
        expect(first!.startSample / 8).toBeGreaterThan(650);
        expect(first!.startSample / 8).toBeLessThan(900);
        expect((first!.startSample + first!.pcm.length) / 8).toBeGreaterThan(1500);
        expect(second!.startSample / 8).toBeLessThan(2800);
        expect(second!.startSample + second!.pcm.length).toBe(pcm.length);
      }),
      { numRuns: 30 },
    );
  });

  it('never overlap, and cut a sound without pauses at 30 s', () => {
    const segments = segmentsOf(
      joinSamples(Array.from({ length: 70 }, (_, index) => sine(200 + 5 * index, 1000, 8000, 0.2 + 0.2 * (index % 2)))),
      [4000],
    );
    expect(segments.length).toBeGreaterThanOrEqual(2);
    for (const { pcm } of segments) expect(pcm.length).toBeLessThanOrEqual(8 * 30_000);
    for (const [index, next] of segments.slice(1).entries()) {
      const before = segments[index]!;
      expect(next.startSample).toBeGreaterThanOrEqual(before.startSample + before.pcm.length);
    }
  });

  it('find nothing in silence', () => expect(segmentsOf(quiet(5000), [160])).toEqual([]));
});
