import { expect, it } from 'vitest';
import { sine } from '../../../../src/audio/tone.ts';
import { LineQuality } from '../../../../src/call/inbound/line-quality.ts';

const voice = sine(300, 20, 8_000, 0.3);
/** The same, three times as loud as the line can carry. */
const cutOff = sine(300, 20, 8_000, 1).map((sample) => Math.max(-32_124, Math.min(32_124, sample * 3)));

function lineOf(frames: string): LineQuality {
  const line = new LineQuality();
  for (const frame of frames) {
    if (frame === '-') line.gap(100);
    else line.hear(frame === 'c' ? cutOff : voice, frame !== '.');
  }
  return line;
}

it.each([
  ['a good line', 'vvvvvvvvvv....vvvv', { gapsMs: 0, clippedShare: 0, problems: [] }],
  ['one with sound that is missing within speech', 'vvvv-vvvv-vvvv', { gapsMs: 200, problems: ['gaps'] }],
  ['one whose carrier sends no silence', 'vvvv.-vvvv.-vvvv.-', { gapsMs: 300, problems: [] }],
  ['one that lost little', 'vvvv-vvvvvvvvvvvvvvvvvvvv', { gapsMs: 100, problems: [] }],
  ['a caller who is too loud', 'vvccvvvv', { gapsMs: 0, problems: ['clipping'] }],
  ['a loud sound that is no voice', 'vv.', { clippedShare: 0, problems: [] }],
])('names what harms words: %s', (_, frames, expected) => {
  expect(lineOf(frames).record).toMatchObject(expected);
});

it('counts no single peak as clipped', () => {
  const line = new LineQuality();
  const peaks = voice.slice();
  for (const at of [3, 40, 41, 90]) peaks[at] = 32_767;
  line.hear(peaks, true);
  expect(line.record.clippedShare).toBe(0);
});
