import { describe, expect, it } from 'vitest';
import { SpokenText } from '../../../../../src/call/inbound/echo/spoken-text.ts';

describe('recognised words', () => {
  it.each([
    { heard: 'Your parcel left, our warehouse', own: true, note: 'in order and whatever the punctuation' },
    { heard: 'your parsel left our warehouse yesterday', own: true, note: 'with one of them misheard' },
    { heard: 'warehouse yesterday', own: true, note: 'two, one after the other' },
    { heard: 'yesterday warehouse', own: false, note: 'in another order' },
    { heard: 'parcel yesterday', own: false, note: 'two that did not follow one another' },
    { heard: 'no my parcel has not left', own: false, note: 'some of them among others' },
    { heard: 'house', own: false, note: 'part of a word' },
    { heard: '', own: false, note: 'none' },
  ])("are the bot's, or not: $note", ({ heard, own }) => {
    const spoken = new SpokenText();
    spoken.sounds('u1', 'Your parcel left our warehouse', 2_000);
    spoken.sounds('u2', 'yesterday evening.', 3_000);
    expect(spoken.contains(heard, 4_000)).toBe(own);
  });

  it('are not compared with what was said long ago', () => {
    const spoken = new SpokenText();
    spoken.sounds('u1', 'Your parcel left', 2_000);
    spoken.sounds('u1', 'Your parcel left', 2_100);
    expect(spoken.contains('parcel left', 12_000)).toBe(true);
    expect(spoken.contains('parcel left', 12_200)).toBe(false);
  });
});
