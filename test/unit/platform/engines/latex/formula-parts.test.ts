import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formulaParts, formulaLocale } from '../../../../../src/platform/engines/latex/latex-reader.ts';

const shown = (text: string): string[] =>
  formulaParts(text).map((part) => (part.type === 'text' ? part.text : `<${part.latex}>`));

describe('formulas in a text', () => {
  it.each([
    ['$x^2$', ['<x^2>']],
    ['so $a+b$ and $c$.', ['so ', '<a+b>', ' and ', '<c>', '.']],
    ['$$ \\frac{1}{2} $$', ['<\\frac{1}{2}>']],
    ['\\[x\\] or \\(y\\)', ['<x>', ' or ', '<y>']],
    ['from $5 to $6', ['from $5 to $6']],
    ['\\$5 is $x$', ['$5 is ', '<x>']],
    ['$\\$5+x$', ['<\\$5+x>']],
    ['x^2 + y_1', ['<x^2 + y_1>']],
    ['\\sqrt{area}', ['<\\sqrt{area}>']],
    ['my file_name is long', ['my file_name is long']],
    ['plain', ['plain']],
    ['', []],
  ])('%j are %j', (text, parts) => expect(shown(text)).toEqual(parts));

  it('leave no other text out', () => {
    const word = fc.constantFrom(' one ', ' two, ', ' तीन ', ' 5 ');
    fc.assert(
      fc.property(fc.array(fc.tuple(word, fc.constantFrom('$x$', '\\(y\\)', '$$z$$'))), (pairs) => {
        const text = pairs.flat().join('');
        expect(
          formulaParts(text)
            .map((part) => (part.type === 'text' ? part.text : '#'))
            .join(''),
        ).toBe(pairs.map(([plain]) => `${plain}#`).join(''));
      }),
    );
  });
});

describe('the words of a formula', () => {
  it.each([
    ['', undefined, 'hi', 'hi'],
    ['', undefined, 'en', 'en'],
    ['', 'mr', 'en', 'mr'],
    ['', 'bho', 'en', 'hi'],
    ['The area', undefined, 'hi', 'en'],
    ['क्षेत्रफल', undefined, 'en', 'hi'],
    ['வணக்கம்', undefined, 'ta', 'ta'],
    ['', 'sat', 'hi', 'sat'],
    ['سلام', 'sd', 'hi', 'sd'],
    ['नमस्ते', 'sd', 'hi', 'hi'],
    ['ᱡᱚᱦᱟᱨ', undefined, 'sat', 'sat'],
    ['ꯈꯨꯔꯨꯝꯖꯔꯤ', undefined, 'mni', 'mni'],
    ['bonjour', 'fr', 'hi', 'fr'],
  ])('beside %j (asked %s, voice of %s) are in %s', (text, asked, home, locale) => {
    expect(formulaLocale(text, asked, home)).toBe(locale);
  });
});
