import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutOverlap } from '../../../../../src/platform/engines/models/model-speakers.ts';
import { SpeechTape } from '../../../../../src/platform/engines/speakers/speech-tape.ts';

const rateHz = 16_000;
const speech = (seconds: number, value: number): Int16Array => new Int16Array(seconds * rateHz).fill(value);

describe('the tape of speech', () => {
  const tape = (): SpeechTape => {
    const made = new SpeechTape(10);
    made.add(speech(2, 1), 5);
    made.add(speech(3, 2), 20);
    return made;
  };

  it('leaves the silences out but for half a second, and knows where everything stood', () => {
    const joined = tape().joined();
    expect(joined.length).toBe((2 + 0.5 + 3 + 0.5) * rateHz);
    expect([joined[0], joined[2 * rateHz], joined[2.5 * rateHz]]).toEqual([1, 0, 2]);
    expect(tape().inRecording({ startS: 0.5, endS: 1.5 })).toEqual([{ startS: 5.5, endS: 6.5 }]);
    expect(tape().inRecording({ startS: 1, endS: 4 })).toEqual([
      { startS: 6, endS: 7 },
      { startS: 20, endS: 21.5 },
    ]);
    expect(tape().inRecording({ startS: 2.1, endS: 2.4 })).toEqual([]);
  });

  it('cuts out the speech of the given spans, up to a length', () => {
    const spans = [
      { startS: 6, endS: 7 },
      { startS: 19, endS: 22 },
    ];
    expect([...new Set(tape().cut(spans, 30))]).toEqual([1, 2]);
    expect(tape().cut(spans, 30)).toHaveLength(3 * rateHz);
    expect(tape().cut(spans, 1.5)).toHaveLength(1.5 * rateHz);
    expect(tape().cut([{ startS: 8, endS: 19 }], 30)).toHaveLength(0);
  });

  it('says when something was left out', () => {
    const full = tape();
    expect(full.whole).toBe(true);
    full.add(speech(6, 3), 40);
    expect(full.whole).toBe(false);
    expect(full.joined().length).toBe(6 * rateHz);
  });
});

it('turns are sorted without overlap for any input, speakers numbered by first appearance', () => {
  const span = fc
    .tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 10 }), fc.integer({ min: 0, max: 3 }))
    .map(([startS, lengthS, speaker]) => ({ startS, endS: startS + lengthS, speaker }));
  fc.assert(
    fc.property(fc.array(span), (spans) => {
      const turns = withoutOverlap(spans);
      for (const [index, turn] of turns.entries()) {
        expect(turn.endS).toBeGreaterThan(turn.startS);
        if (index > 0) expect(turn.startS).toBeGreaterThanOrEqual(turns[index - 1]!.endS);
      }
      const seen = turns.map(({ speaker }) => speaker);
      expect([...new Set(seen)]).toEqual([...new Set(seen)].toSorted((a, b) => a - b));
      const covered = (list: readonly { startS: number; endS: number }[], atS: number): boolean =>
        list.some(({ startS, endS }) => startS <= atS && atS < endS);
      for (let atS = 0.5; atS < 60; atS += 1) expect(covered(turns, atS)).toBe(covered(spans, atS));
    }),
  );
});
