import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scales, units, spokenNumbers } from '../../../../../src/platform/engines/script/spoken-numbers.ts';
import { refineText, rewriteText } from '../../../../../src/platform/engines/script/codeswitch.ts';

const digits = (text: string) => rewriteText(text.normalize('NFC'), spokenNumbers);

describe('spoken numbers', () => {
  it.each([
    ['twenty five', '25'],
    ['four two seven nine', '4279'],
    ['double four triple two oh one', '4422201'],
    ['two thousand five hundred and six rupees', '2506 rupees'],
    ['one hundred and five, please', '105, please'],
    ['three lakh twenty thousand', '320000'],
    ['nineteen ninety nine', '1999'],
    ['twenty twenty six', '2026'],
    ['ten twenty thirty', '10 20 30'],
    ['three point one four', '3.14'],
    ['one of them', 'one of them'],
    ['one percent of two hundred', '1 percent of 200'],
    ['salt and two eggs', 'salt and 2 eggs'],
    ['nine, ten', '9, 10'],
    ['पच्चीस', '25'],
    ['निन्यानवे', '99'],
    ['एक आदमी', 'एक आदमी'],
    ['मुझे दे दो', 'मुझे दे दो'],
    ['दो बजे', '2 बजे'],
    ['एक दो तीन चार', '1234'],
    ['दो हज़ार पाँच सौ छह रुपये', '2506 रुपये'],
    ['साढ़े दस बजे', '10:30 बजे'],
    ['सवा तीन बजे', '3:15 बजे'],
    ['पौने चार बजे', '3:45 बजे'],
    ['डेढ़ सौ', '150'],
    ['ढाई बजे', '2:30 बजे'],
    ['डेढ़ किलो', '1.5 किलो'],
    ['साढ़े तीन लाख', '350000'],
  ])('%s: %s', (text, wanted) => expect(digits(text)).toBe(wanted.normalize('NFC')));

  const english =
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen';
  const tens = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
  function spelt(value: number): string {
    if (value < 20) return english.split(' ')[value]!;
    if (value < 100) return [tens[Math.floor(value / 10) - 2]!, ...(value % 10 === 0 ? [] : [spelt(value % 10)])].join(' ');
    const [name, scale] = (
      [
        ['crore', 1e7],
        ['lakh', 1e5],
        ['thousand', 1e3],
        ['hundred', 100],
      ] as const
    ).find(([, each]) => value >= each)!;
    return [spelt(Math.floor(value / scale)), name, ...(value % scale === 0 ? [] : [spelt(value % scale)])].join(' ');
  }

  it('reads every number that is spelt', () => {
    fc.assert(
      fc.property(fc.integer({ min: 3, max: 99_99_99_999 }), (value) => {
        expect(digits(spelt(value))).toBe(String(value));
      }),
    );
  });

  it('knows all of Hindi to 99', () => {
    const hindi = [...units].filter(([word]) => /\p{Script=Devanagari}/u.test(word)).map(([, value]) => value);
    expect(new Set(hindi).size).toBe(100);
    expect(Math.max(...hindi)).toBe(99);
  });

  it('touches no other word, whatever stands where', () => {
    const word = fc.constantFrom(...units.keys(), ...scales.keys(), 'and', 'point', 'double', 'oh', 'साढ़े', 'बजे', 'cat,', 'x');
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const kept = (list: readonly string[]) => list.filter((each) => each === 'cat,' || each === 'x');
        expect(kept(digits(words.join(' ')).split(' '))).toEqual(kept(words));
      }),
    );
  });
});

describe('the code-switch pass', () => {
  it.each([
    ['मुझे डॉक्टर से अपॉइंटमेंट चाहिए', 'मुझे doctor से appointment चाहिए'],
    ['मेरा ओटीपी चार दो सात नौ है', 'मेरा OTP 4279 है'],
    ['मैंने फ्लिपकार्ट, से मोबाइल लिया।', 'मैंने Flipkart, से mobile लिया।'],
    ['half past ten', 'Half past 10'],
    ['i am in new delhi on monday', 'I am in new Delhi on Monday'],
    ['  blank   space ', 'Blank space'],
    ['', ''],
  ])('%s: %s', (text, wanted) => expect(refineText(text)).toBe(wanted.normalize('NFC')));
});
