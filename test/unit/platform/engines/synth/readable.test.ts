import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { letterSubstitutes, inReadableScript, readable, soundsRead } from '../../../../../src/platform/engines/synth/readable.ts';

describe('scripts that no engine reads', () => {
  it.each([
    ['ꯈꯨꯔꯨꯝꯖꯔꯤ', 'খুরুম্জরি'],
    ['ꯑꯩꯅ ꯄꯥꯡꯕ ꯱꯲꯫', 'ঐন পাংব ১২।'],
    ['ᱡᱚᱦᱟᱨ', 'जहार'],
    ['ᱤᱧ ᱟᱢ', 'इञ आम'],
    ['ᱠᱷᱟᱛᱤᱨ ᱥᱟᱱᱛᱟᱲ', 'खातिर सान्ताड़'],
    ['ᱵᱟᱝ ᱑᱒᱾', 'बां १२।'],
    ['plain & नमस्ते', 'plain & नमस्ते'],
  ])('%s is written %s', (text, written) => expect(inReadableScript(text)).toBe(written.normalize('NFC')));

  it('leave none of their letters behind', () => {
    const letters = fc.string({
      unit: fc.integer({ min: 0, max: 0x6f }).map((n) => String.fromCodePoint(n < 0x30 ? 0x1c50 + n : 0xab90 + n)),
    });
    fc.assert(
      fc.property(letters, (text) => {
        expect(inReadableScript(text)).not.toMatch(/[\p{Script=Ol_Chiki}\p{Script=Meetei_Mayek}]/u);
      }),
    );
  });
});

describe('letters that would be spelled out', () => {
  it.each([
    ['as', 'সহায়', 'সহা\u09df'],
    ['bn', 'ৰামৱ', 'রামব'],
    ['mr', 'ॲप', 'ऍप'],
    ['ur', 'كيتھ ٹھٟک', 'کيتھ ٹھک'],
    ['sd', 'ہں ڪك', 'ہن ڪڪ'],
    ['or', 'ୱାହ', 'ଵାହ'],
    ['en-us', 'as it is ڪ', 'as it is ڪ'],
  ])('become others in %s: %s', (language, text, wanted) => {
    expect(readable(text.normalize('NFC'), language)).toBe(wanted.includes('\u09df') ? wanted : wanted.normalize('NFC'));
  });

  it('are replaced in any text, and no substitute is one of them', () => {
    for (const [language, letters] of Object.entries(letterSubstitutes)) {
      const all = [...letters.keys()].join('');
      expect(readable(readable(all, language), language)).toBe(readable(all, language));
    }
  });
});

describe('a length of speech', () => {
  it.each([
    [true, 'नमस्ते आप कैसे हैं', 1.6],
    [false, 'नमस्ते आप कैसे हैं', 20],
    [false, 'नमस्ते आप कैसे हैं', 0.05],
    [true, '1234567890', 8],
    [true, 'ab', 0],
  ])('can be read (%s): %s in %d s', (wanted, text, seconds) => expect(soundsRead(text, seconds)).toBe(wanted));
});
