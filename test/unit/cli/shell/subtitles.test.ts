import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Cue, cuesOf, srtOf, vttOf } from '../../../../src/cli/shell/subtitles.ts';

const none = { confidence: undefined, emotion: undefined, emotionConfidence: undefined };
const segment = (startS: number, endS: number, text: string, speaker?: string) => ({ startS, endS, text, speaker, ...none });

describe('subtitles', () => {
  it('writes SubRip with numbers and comma times', () => {
    const cues: Cue[] = [
      { startS: 0, endS: 1.5, text: 'Hello --> there', speaker: undefined },
      { startS: 3_661.042, endS: 3_662, text: 'Bye', speaker: 'Asha' },
    ];
    expect(srtOf(cues)).toBe(
      '1\n00:00:00,000 --> 00:00:01,500\nHello → there\n\n2\n01:01:01,042 --> 01:01:02,000\nAsha: Bye\n\n',
    );
  });

  it('writes WebVTT with voices, and escapes markup', () => {
    const cues: Cue[] = [{ startS: 0, endS: 1, text: 'a < b & c > d', speaker: 'SPEAKER_00' }];
    expect(vttOf(cues)).toBe('WEBVTT\n\n00:00:00.000 --> 00:00:01.000\n<v SPEAKER_00>a &lt; b &amp; c &gt; d\n\n');
  });

  it('breaks a long text into two lines near its middle', () => {
    const text = 'one two three four five six seven eight nine ten eleven';
    expect(srtOf([{ startS: 0, endS: 3, text, speaker: undefined }]).split('\n')[2]).toBe('one two three four five six');
  });

  it("cuts at word times when the words are the segment's", () => {
    const words = ['good', 'morning'].map((word, index) => ({ word, startS: index * 8, endS: index * 8 + 1, confidence: 1 }));
    const cues = cuesOf({ text: 'good morning', segments: [segment(0, 9, 'good morning')], words, durationS: 9 });
    expect(cues.map(({ startS, endS, text }) => [startS, endS, text])).toEqual([
      [0, 1, 'good'],
      [8, 9, 'morning'],
    ]);
  });

  it('makes one cue of a transcript without segments, and none of silence', () => {
    const bare = { segments: [], words: [], durationS: 2 };
    expect(cuesOf({ text: 'only text', ...bare })).toMatchObject([{ startS: 0, endS: 2, text: 'only text' }]);
    expect(cuesOf({ text: '  ', ...bare })).toEqual([]);
  });

  it('loses no word, never goes back, and keeps to two lines and seven seconds', () => {
    const word = fc.stringMatching(/^[a-zअ-ह]{1,12}$/u);
    const spans = fc.array(
      fc.tuple(fc.double({ min: 0.2, max: 40, noNaN: true }), fc.array(word, { minLength: 1, maxLength: 60 })),
      {
        maxLength: 6,
      },
    );
    fc.assert(
      fc.property(spans, (given) => {
        let atS = 0;
        const segments = given.map(([lengthS, words]) => {
          const startS = atS;
          atS += lengthS;
          return segment(startS, atS, words.join(' '));
        });
        const cues = cuesOf({ text: '', segments, words: [], durationS: atS });
        expect(cues.flatMap(({ text }) => text.split(' '))).toEqual(given.flatMap(([, words]) => words));
        let lastS = 0;
        for (const { startS, endS, text } of cues) {
          expect(startS).toBeGreaterThanOrEqual(lastS);
          expect(endS).toBeGreaterThanOrEqual(startS);
          lastS = endS;
          expect(text.length).toBeLessThanOrEqual(84);
          if (text.includes(' ')) expect(endS - startS).toBeLessThanOrEqual(7 + 1e-6);
        }
      }),
    );
  });
});
