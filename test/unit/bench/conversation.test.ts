import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { botSpeech } from '../../../bench/conversation/bot-voice.ts';
import { rateOf } from '../../../bench/document.ts';
import { stamp, WatermarkReader } from '../../../bench/conversation/watermark.ts';
import { decodeMulaw, encodeMulaw } from '../../../src/audio/g711.ts';
import { noise, seededRandom } from '../../../src/audio/tone.ts';

describe('the watermark', () => {
  it('is read wherever it stands, in pieces of any size, and in any sound', () => {
    const anything = fc.record({
      id: fc.integer({ min: 0, max: 65_535 }),
      before: fc.integer({ min: 0, max: 500 }),
      piece: fc.integer({ min: 1, max: 400 }),
      amplitude: fc.double({ min: 0, max: 0.9, noNaN: true }),
      seed: fc.nat(),
    });
    fc.assert(
      fc.property(anything, ({ id, before, piece, amplitude, seed }) => {
        const codes = encodeMulaw(noise(200, 8000, amplitude, seededRandom(seed)));
        stamp(codes.subarray(before), id);
        const pcm = decodeMulaw(codes);
        const marks: unknown[] = [];
        const reader = new WatermarkReader((found, atSample) => marks.push([found, atSample]));
        for (let at = 0; at < pcm.length; at += piece) reader.push(pcm.subarray(at, at + piece));
        expect(marks).toEqual([[id, before]]);
      }),
      { numRuns: 100 },
    );
  });
});

describe('the statistics', () => {
  it.each([
    // Clopper and Pearson, one-sided: 1 − 0.05^(1/n) where nothing was counted.
    [0, 500, 0.00597],
    [0, 100, 0.02951],
    [5, 500, 0.02091],
    [100, 100, 1],
  ])('bounds %i of %i by %d', (count, n, upper95) => {
    expect(rateOf(count, n).upper95).toBeCloseTo(upper95, 4);
  });
});

describe("the bot's voice", () => {
  it('is the same for the same text, and knows where each word lies', () => {
    const { pcm, words } = botSpeech('We open at nine, and close at six.');
    expect(words.map(({ word }) => word)).toEqual(['We', 'open', 'at', 'nine,', 'and', 'close', 'at', 'six.']);
    for (const [index, { fromMs, toMs }] of words.entries()) {
      expect(fromMs).toBeGreaterThanOrEqual(words[index - 1]?.toMs ?? 0);
      expect(toMs).toBeGreaterThan(fromMs);
      expect(toMs * 8).toBeLessThanOrEqual(pcm.length);
    }
  });
});
