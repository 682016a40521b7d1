import { expect, it } from 'vitest';
import { notUnderstood, understandingOf } from '../../../../src/records/analysis/understanding.ts';

const said = (endS: number, unrecognised: readonly { startS: number; endS: number }[]) =>
  notUnderstood(
    understandingOf(
      {
        role: 'customer',
        source: 'asr',
        text: 'book an appointment',
        segments: [{ startS: 0, endS, text: 'book an appointment', confidence: 0.95 }],
        words: [],
        unrecognised,
      },
      6,
    ),
  );

it('concludes nothing from a channel on which more speech is unknown than known', () => {
  expect(said(2, [{ startS: 3, endS: 4 }])).toBeUndefined();
  expect(said(2, [{ startS: 2, endS: 4.5 }])).toBe('3 words were understood, and 2.5 s of speech were not');
});
