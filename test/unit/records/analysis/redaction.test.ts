import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { passesLuhn, passesVerhoeff, findPersonal } from '../../../../src/records/analysis/redaction/personal.ts';
import { Redactor } from '../../../../src/records/analysis/redaction/redact.ts';
import { PERSONAL_KINDS } from '../../../../src/records/analysis/profile.ts';
import { sayNumber } from '../../../../src/language/understand/numbers.ts';

const redactor = new Redactor({ keywords: ['Lakeside Clinic'], personal: PERSONAL_KINDS });
const digits = (length: number) => fc.array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length });

/** The number with the digit at its end that makes it pass. */
function completed(head: string, passes: (digits: string) => boolean): string {
  return Array.from({ length: 10 }, (_, last) => `${head}${last}`).find(passes)!;
}

describe('checks of numbers', () => {
  it('pass what their definitions show, and nothing one digit away', () => {
    expect(['4111111111111111', '5500005555555559', '79927398713'].map(passesLuhn)).toEqual([true, true, true]);
    // 236 with the check digit 3 is the worked example of Verhoeff's method.
    expect([passesVerhoeff('2363'), passesVerhoeff('2364')]).toEqual([true, false]);
    fc.assert(
      fc.property(digits(11), fc.integer({ min: 0, max: 11 }), fc.integer({ min: 1, max: 9 }), (head, place, change) => {
        for (const passes of [passesLuhn, passesVerhoeff]) {
          const sound = completed(head.join(''), passes);
          const other = Array.from(sound, (digit, at) => (at === place ? (Number(digit) + change) % 10 : digit)).join('');
          expect(passes(sound)).toBe(true);
          expect(passes(other)).toBe(false);
        }
      }),
    );
  });

  it("catch every swap of neighbours by Verhoeff's", () => {
    fc.assert(
      fc.property(digits(11), fc.integer({ min: 0, max: 10 }), (head, at) => {
        const sound = completed(head.join(''), passesVerhoeff);
        fc.pre(sound[at] !== sound[at + 1]);
        const swapped = sound.slice(0, at) + sound[at + 1]! + sound[at]! + sound.slice(at + 2);
        expect(passesVerhoeff(swapped)).toBe(false);
      }),
    );
  });
});

describe('Redactor', () => {
  test.each([
    ['my card is 4111 1111-1111 1111 thanks', 'my card is [card] thanks'],
    ['four one one one, one one one one, one one one one, one one one one', '[card]'],
    ['four triple one double one double one double one double one double one double one', '[card]'],
    ['the number is 2345 6789 0124', 'the number is [aadhaar]'],
    ['दो तीन चार पाँच छह सात आठ नौ शून्य एक दो चार है', '[aadhaar] है'],
    ['२३४५ ६७८९ ०१२४', '[aadhaar]'],
    ['call me on +44 20 7946 0958 please', 'call me on [phone] please'],
    ['nine eight seven six five, uh, four three two one zero', '[phone]'],
    ['ninety eight seventy six fifty four thirty two ten', '[phone]'],
    ['मेरा नंबर नौ आठ सात छह पाँच चार तीन दो एक शून्य है', 'मेरा नंबर [phone] है'],
    ['(415) 555-2671', '([phone]'],
    ['PAN is ABCPK1234F', 'PAN is [pan]'],
    ['a b c p k one two three four f', '[pan]'],
    ['A for apple B for Bombay C P K one two three four F', '[pan]'],
    ['ए बी सी पी के एक दो तीन चार एफ', '[pan]'],
    ['write to asha.rao+x@mail.example.com today', 'write to [email] today'],
    ['it is asha dot rao at gmail dot com okay', 'it is [email] okay'],
    ['a s h a nine at the rate yahoo dot co dot in', '[email]'],
    ['reference 123456789 it was', 'reference [long-number] it was'],
    ['this is lakeside  clinic speaking, LakesideClinic', 'this is **** speaking, ****'],
    ['come on Tuesday at ten thirty, room twelve', 'come on Tuesday at ten thirty, room twelve'],
    ['I waited twenty five minutes for 2 of you in 2026', 'I waited twenty five minutes for 2 of you in 2026'],
    ['meet at home dot', 'meet at home dot'],
    ['', ''],
  ])('makes of "%s" "%s"', (said, kept) => {
    expect(redactor.text(said)).toBe(kept);
  });

  it('hides a number across segments, even with a yes in between', () => {
    const { transcript, hidden } = redactor.channel(
      {
        role: 'mixed',
        source: 'asr',
        text: 'it is nine eight seven six yes five four three two one zero thank you',
        segments: [
          { startS: 0, endS: 2, text: 'it is nine eight seven six', speaker: 'A' },
          { startS: 2, endS: 2.5, text: 'yes', speaker: 'B' },
          { startS: 3, endS: 5, text: 'five four three two one zero thank you', speaker: 'A' },
        ],
        words: [
          { word: 'nine', startS: 1, endS: 1.1 },
          ...['eight', 'seven', 'six'].map((word) => ({ word, startS: 1.2, endS: 1.3 })),
          { word: 'yes', startS: 2.1, endS: 2.2 },
          ...['five', 'four', 'three', 'two', 'one', 'zero', 'thank'].map((word) => ({ word, startS: 3.2, endS: 3.3 })),
        ],
      },
      0,
    );
    expect(transcript.segments.map(({ text }) => text)).toEqual(['it is [phone]', 'yes', 'thank you']);
    expect(transcript.text).toBe('it is [phone] yes thank you');
    expect(transcript.words.map(({ word }) => word)).toEqual(['[phone]', 'yes', 'thank']);
    expect(hidden).toEqual([{ kind: 'phone', channel: 0, startS: 0, endS: 5 }]);
  });

  it('lets no digit of a phone number through, however it is cut, written or said', () => {
    const phone = fc.tuple(fc.integer({ min: 6, max: 9 }), digits(9)).map(([first, rest]) => [first, ...rest]);
    const way = fc.constantFrom('figures', 'english', 'hindi');
    const form = (how: string, digit: number): string =>
      how === 'figures' ? String(digit) : sayNumber(how === 'english' ? 'en' : 'hi', digit);
    fc.assert(
      fc.property(phone, way, fc.array(fc.nat(9), { maxLength: 4 }), (number, how, cuts) => {
        const words = number.map((digit) => form(how, digit));
        const places = [0, ...new Set(cuts), 10].sort((a, b) => a - b);
        const pieces = places.slice(1).map((to, index) => words.slice(places[index], to).join(' '));
        const { texts } = redactor.pieces(['my number', ...pieces, 'yes please']);
        // A number may pass the check of another kind as well: which one names it does not matter.
        expect(
          texts
            .join(' ')
            .replaceAll(/\[[a-z-]+\]/g, '')
            .trim()
            .replaceAll(/\s+/g, ' '),
        ).toBe('my number yes please');
      }),
    );
  });

  it('changes nothing without rules, and finds spans in order that never overlap', () => {
    const idle = new Redactor({ keywords: [], personal: [] });
    const chunk = fc.constantFrom(
      'nine',
      '98765',
      'at',
      'gmail',
      'dot',
      'com',
      'नौ',
      'a',
      'B',
      '+',
      ',',
      '4111111111111111',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 40 }), (chunks) => {
        const text = chunks.join(' ');
        expect(idle.text(text)).toBe(text);
        let last = 0;
        for (const { from, to } of findPersonal(text, PERSONAL_KINDS)) {
          expect(from).toBeGreaterThanOrEqual(last);
          expect(to).toBeGreaterThan(from);
          last = to;
        }
        expect(last).toBeLessThanOrEqual(text.length);
      }),
    );
  });
});

describe('words that are no numbers', () => {
  it.each(['nine constructor five', 'A constructor five B', 'toString'])(
    'leave a text as it is, like those that every object has: %s',
    (text) => {
      expect(redactor.text(text)).toBe(text);
    },
  );

  it('may repeat without end', () => {
    const text = 'double '.repeat(20_000).trim();
    expect(redactor.text(text)).toBe(text);
  });
});
