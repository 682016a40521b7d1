import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecognitionResult } from '../../../src/platform/engines/recognise/port.ts';
import { bySpeaker } from '../../../src/platform/server/asr/wire-voices.ts';

function result(words: readonly string[], startS: number, eachS = 1): RecognitionResult {
  return {
    text: words.join(' '),
    words: words.map((word, index) => ({
      word,
      startS: startS + index * eachS,
      endS: startS + (index + 1) * eachS,
      confidence: 1,
    })),
    startS,
    endS: startS + words.length * eachS,
    confidence: 1,
    language: 'en',
    alternatives: [],
  };
}

describe('segments by speaker', () => {
  it('cuts where the speaker changes', () => {
    const turns = [
      { startS: 0, endS: 2.2, speaker: 0 },
      { startS: 2.2, endS: 4, speaker: 1 },
    ];
    expect(
      bySpeaker([result(['how', 'are', 'you', 'fine'], 0)], turns).map(({ text, speaker, startS, endS }) => [
        text,
        speaker,
        startS,
        endS,
      ]),
    ).toEqual([
      ['how are', 0, 0, 2],
      ['you fine', 1, 2, 4],
    ]);
  });

  it('gives what lies between turns to the nearest', () => {
    const turns = [
      { startS: 0, endS: 1, speaker: 0 },
      { startS: 9, endS: 10, speaker: 1 },
    ];
    expect(bySpeaker([result(['a'], 3), result(['b'], 7)], turns).map(({ speaker }) => speaker)).toEqual([0, 1]);
  });

  it('leaves a text whole whose words are not its text', () => {
    const turns = [
      { startS: 0, endS: 1, speaker: 0 },
      { startS: 1, endS: 3, speaker: 1 },
    ];
    const odd = { ...result(['a', 'b', 'c'], 0), text: 'a-b c' };
    expect(bySpeaker([odd], turns)).toEqual([{ ...odd, speaker: 1 }]);
  });

  it('keeps every word in order, whatever the turns', () => {
    const turn = fc.record({ startS: fc.nat(9), endS: fc.nat(9), speaker: fc.nat(2) });
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1 }), fc.array(turn), (words, turns) => {
        const segments = bySpeaker([result(words, 0, 0.5)], turns);
        expect(segments.map(({ text }) => text).join(' ')).toBe(words.join(' '));
        expect(segments.flatMap((segment) => segment.words.map(({ word }) => word))).toEqual(words);
      }),
    );
  });
});
