import { afterAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { LatexReader } from '../../../../../src/platform/engines/latex/latex-reader.ts';
import { Mathematics, numberSpeller } from '../../../../../src/platform/engines/latex/mathematics.ts';
import { indicLanguages } from '../../../../../src/platform/languages.ts';

const reader = new LatexReader(new ManualClock());
afterAll(() => reader[Symbol.asyncDispose]());

const FORMULAS = [
  '\\frac{-b \\pm \\sqrt{b^2-4ac}}{2a}',
  '\\int_0^\\infty e^{-x}\\,dx \\le 1',
  '\\sum_{i=1}^{n} i^3 = \\prod_{k=2}^{10} k',
  '\\lim_{x\\to 0}\\frac{\\sin x}{x} \\approx 1.25',
  'f(x) + \\log_2 8 \\ne |y - 3|',
  '\\alpha + \\beta > 90^\\circ',
  '\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}',
  '\\sqrt[3]{27} \\times \\sqrt[n]{x} \\div (a+b)',
  '50\\% \\in \\{1, 2, 99\\}',
  '\\vec{v}\\cdot\\overline{AB} \\ge n! \\binom{n}{k}',
  '12{,}34{,}567.89 < x_1^{n+1}',
  "\\forall x \\exists y: \\tan^{-1} x = \\cos' y",
];
const NATIVE = [...indicLanguages].filter((language) => language !== 'en');
const SCRIPT: Readonly<Record<string, RegExp>> = {
  as: /\p{Script=Bengali}/u,
  bn: /\p{Script=Bengali}/u,
  mni: /\p{Script=Bengali}/u,
  gu: /\p{Script=Gujarati}/u,
  kn: /\p{Script=Kannada}/u,
  ks: /\p{Script=Arabic}/u,
  ml: /\p{Script=Malayalam}/u,
  or: /\p{Script=Oriya}/u,
  pa: /\p{Script=Gurmukhi}/u,
  sd: /\p{Script=Arabic}/u,
  ta: /\p{Script=Tamil}/u,
  te: /\p{Script=Telugu}/u,
  ur: /\p{Script=Arabic}/u,
};
const scriptOf = (language: string): RegExp => SCRIPT[language] ?? /\p{Script=Devanagari}|\p{Script=Ol_Chiki}/u;

describe('formulas in a language of India', () => {
  it.each(NATIVE)('spoke English words in %s: they have its own letters alone, and no digits', async (language) => {
    for (const formula of FORMULAS) {
      const { text } = await reader.read(`$${formula}$`, language, language);
      expect(text, formula).not.toMatch(/[\p{Script=Latin}\p{Nd}\p{S}{}]/u);
      for (const letter of text.match(/\p{L}/gu)!) expect(letter, `${formula}: ${text}`).toMatch(scriptOf(language));
    }
  });

  it.each(NATIVE)('of %s come with a warning until their words are reviewed', async (language) => {
    const { warnings } = await reader.read('$x^2 + 3$', language, language);
    expect(warnings).toEqual([expect.stringMatching(/^latex: no speaker of .+ has reviewed the words/u)]);
  });

  it('are read in English where a sign has no word, and say so', async () => {
    const { text, warnings } = await reader.read('$a \\oplus b$', 'bn', 'bn');
    expect(text).toMatch(/[a-z]/u);
    expect(warnings).toEqual([expect.stringContaining('there is no word for ⊕ in Bengali (bn)')]);
  });

  it.each([
    ['bn', 'x^2', 'এক্স এর বর্গ'],
    ['ta', '\\frac{a}{12}', 'ஏ கீழ் பன்னிரண்டு'],
    ['ur', '\\sqrt{x+1}', 'ایکس جمع ایک کا جذر'],
    ['te', '-5', 'రుణ ఐదు'],
    ['gu', '2 - 5', 'બે ઓછા પાંચ'],
    ['mr', '[1,2)', 'कंस सुरू एक, दोन कंस पूर्ण'],
    ['kn', '\\begin{aligned}x&=1\\\\y&=2\\end{aligned}', 'ಎಕ್ಸ್ ಸಮ ಒಂದು, ವೈ ಸಮ ಎರಡು'],
    ['hi', 'x + 12345.6', 'एक्स धन बारह हज़ार तीन सौ पैंतालीस दशमलव छह'],
    ['bn', '১২ + ৩', 'বারো যোগ তিন'],
    ['pa', '\\text{ਖੇਤਰ} = 21', 'ਖੇਤਰ ਬਰਾਬਰ ਇੱਕੀ'],
  ])('in %s %s is %s', async (language, formula, words) => {
    expect((await reader.read(`$${formula}$`, language, language)).text.trim()).toBe(words);
  });
});

describe('the tables', () => {
  it.each(NATIVE)('spell the numbers of %s, each below a hundred differently', (language) => {
    const { spell } = numberSpeller(language);
    const below = Array.from({ length: 100 }, (_, value) => spell(String(value), ''));
    expect(new Set(below).size).toBe(100);
    const [crore, lakh] = [spell('10000000', ''), spell('100000', '')];
    expect(spell('10100001', '').split(' ').length).toBeGreaterThan(Math.max(crore.split(' ').length, lakh.split(' ').length));
    expect(spell('007', '')).toBe([below[0], below[0], below[7]].join(' '));
    expect(spell('1.05', '.')).toBe([below[1], '.', below[0], below[5]].join(' '));
  });

  it.each([
    ['mr', '100', 'शंभर'],
    ['mr', '105', 'एकशे पाच'],
    ['te', '2500', 'రెండు వేల ఐదు వందలు'],
    ['bn', '1,23,45,678', 'এক কোটি তেইশ লাখ পঁয়তাল্লিশ হাজার ছয়শো আটাত্তর'],
    ['ta', '234', 'இருநூறு முப்பது நான்கு'],
    ['hi', '1000000000000', 'एक लाख करोड़'],
    ['ur', '1234567890123456', 'ایک دو تین چار پانچ چھ سات آٹھ نو صفر ایک دو تین چار پانچ چھ'],
  ])('spell in %s %s as %s', (language, numeral, words) => {
    expect(numberSpeller(language).spell(numeral, '')).toBe(words);
  });

  it('have the same words in every language', async () => {
    const { readdirSync, readFileSync } = await import('node:fs');
    const { parse } = await import('yaml');
    const folder = new URL('../../../../../config/platform/mathematics/words/', import.meta.url);
    const keys = readdirSync(folder).map((file) =>
      Object.keys(parse(readFileSync(new URL(file, folder), 'utf8')).words).join(' '),
    );
    expect(keys).toHaveLength(22);
    expect(new Set(keys).size).toBe(1);
    expect(new Mathematics('bn').say('fraction', 'ক', 'খ')).toBe('ক বাই খ');
  });
});
