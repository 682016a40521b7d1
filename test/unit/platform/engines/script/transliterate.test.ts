import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { outputScripts, transliterate } from '../../../../../src/platform/engines/script/transliterate.ts';

describe('transliteration', () => {
  it.each([
    ['latin', 'मुझे अपॉइंटमेंट चाहिए', 'mujhe apointment chaahie'],
    ['latin', 'करना समझना लड़का, नहीं।', 'karna samajhna larka, nahin.'],
    ['latin', 'संबंध फ़ोन १२३', 'sambandh fon 123'],
    ['latin', 'வணக்கம்', 'vanakkam'],
    ['latin', 'నమస్కారం', 'namaskaaram'],
    ['latin', 'ਸੱਤ', 'satta'],
    ['latin', 'മലയാളം', 'malayaalam'],
    ['latin', 'آپ کا نام؟', 'aap ka nam?'],
    ['latin', 'hello **** 42', 'hello **** 42'],
    ['itrans', 'मुझे लड़का ज्ञान दुःख', 'mujhe la.DakA j~nAna duHkha'],
    ['itrans', 'ಧನ್ಯವಾದಗಳು', 'dhanyavAdagaLu'],
    ['devanagari', 'ধন্যবাদ', 'धन्यबाद'],
    ['devanagari', 'ನಮಸ್ಕಾರ', 'नमस्कार'],
    ['devanagari', 'phone **** A4', 'फोन **** A4'],
    ['bengali', 'वह यहाँ', 'বহ য়হাঁ'],
    ['telugu', 'नमस्ते', 'నమస్తే'],
    ['kannada', 'नमस्ते', 'ನಮಸ್ತೇ'],
    ['tamil', 'हिंदी में बंबई', 'ஹிந்தீ மேம் பம்பஈ'],
    ['tamil', 'கணினி', 'கணினி'],
    ['auto', 'नमस्ते hello', 'नमस्ते hello'],
  ] as const)('writes in %s: %s', (script, text, wanted) => {
    expect(transliterate(text, script)).toBe(wanted.normalize('NFC'));
  });

  const blocks = [0x900, 0x980, 0xa00, 0xa80, 0xb00, 0xb80, 0xc00, 0xc80, 0xd00];
  const indic = fc
    .array(
      fc.oneof(
        fc.tuple(fc.constantFrom(...blocks), fc.nat(0x7f)).map(([block, offset]) => String.fromCodePoint(block + offset)),
        fc.constantFrom(' ', 'a', '7', '*', 'ا', 'ی'),
      ),
    )
    .map((characters) => characters.join(''));

  it('leaves no letter of another script in Latin', () => {
    fc.assert(
      fc.property(indic, fc.constantFrom('latin', 'itrans'), (text, script) => {
        expect(transliterate(text, script)).not.toMatch(/(?!\p{Script=Latin})[\p{L}\p{M}]/u);
      }),
    );
  });

  it('writes a script in itself unchanged, and a second time changes nothing', () => {
    fc.assert(
      fc.property(indic, fc.constantFrom(...outputScripts), (text, script) => {
        const once = transliterate(text, script);
        expect(transliterate(once, script)).toBe(once);
      }),
    );
  });

  const first = { devanagari: 0x900, bengali: 0x980, telugu: 0xc00, tamil: 0xb80, kannada: 0xc80 } as const;

  it.each(Object.entries(first) as [keyof typeof first, number][])(
    'leaves every character of %s as it is in it',
    (script, block) => {
      for (let offset = 0; offset < 0x80; offset += 1) {
        const character = String.fromCodePoint(block + offset);
        if (/\p{Cn}/u.test(character)) continue;
        const text = character.normalize('NFC');
        expect(transliterate(text, script)).toBe(text);
      }
    },
  );

  it('writes nothing that Unicode has no character for, and no letter that another script has by chance in the same place', () => {
    for (const block of blocks)
      for (let offset = 0; offset < 0x80; offset += 1) {
        const character = String.fromCodePoint(block + offset);
        if (/\p{Cn}/u.test(character)) continue;
        for (const script of outputScripts) {
          const once = transliterate(character, script);
          expect(once).not.toMatch(/\p{Cn}/u);
          expect(transliterate(once, script)).toBe(once);
        }
      }
    expect(transliterate('௰ ॰ ૱', 'bengali')).toBe('௰ ॰ ૱');
    expect(transliterate('হঠাৎ', 'bengali')).toBe('হঠাৎ');
    expect(transliterate('হঠাৎ', 'devanagari')).toBe('हठात्');
  });

  it('keeps every mask, whatever the script', () => {
    fc.assert(
      fc.property(indic, indic, fc.constantFrom(...outputScripts), (before, after, script) => {
        expect(transliterate(`${before} **** ${after}`, script)).toContain(' **** ');
      }),
    );
  });
});
