import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashKeywords, maskPieces, profanity } from '../../../src/platform/server/asr/masking.ts';

describe('hash_keywords', () => {
  it.each([
    ['password', 'My PassWord is safe', 'My **** is safe'],
    ['password', 'my pass word is safe', 'my **** is safe'],
    ['password', 'my pass-word, is safe', 'my ****, is safe'],
    ['password', 'passwords and mypassword stay', 'passwords and mypassword stay'],
    ['john', "that is John's", "that is ****'s"],
    ['account number', 'the account  number is', 'the **** is'],
    ['account number', 'the accountnumber is', 'the **** is'],
    ['account number', 'the account, number is', 'the **** is'],
    ['c++ (new)', 'we use c++ (new) here', 'we use **** here'],
    ['$5', 'it costs $5 now', 'it costs **** now'],
    ['राम', 'राम और रामायण', '**** और रामायण'],
    ['राम', 'राम।', '****।'],
    ['दिल्ली', 'मैं दिल्ली से हूँ', 'मैं **** से हूँ'],
    ['दिल्ली', 'मैं दि ल्ली से हूँ', 'मैं **** से हूँ'],
    ['दिल', 'दिल्ली का दिल', 'दिल्ली का ****'],
    ['सड़क', 'वह सड़क पर', 'वह **** पर'],
    ['सडक', 'वह सड़क पर', 'वह **** पर'],
    ['ÉCOLE', 'une école', 'une ****'],
    ['', 'nothing to hide', 'nothing to hide'],
    [' - ', 'a - b', 'a - b'],
  ])('hides %j in %j', (keyword, text, wanted) => {
    expect(maskPieces([text], hashKeywords([keyword]))).toEqual([wanted.normalize('NFC')]);
  });

  it('leaves nothing of terms that overlap', () => {
    expect(maskPieces(['in new york city'], hashKeywords(['new york', 'york city']))).toEqual(['in ****']);
  });

  it('covers each piece of a term that runs across words or segments', () => {
    const mask = hashKeywords(['password', 'account number']);
    expect(maskPieces(['the', 'pass', 'word,', 'please'], mask)).toEqual(['the', '****', '****,', 'please']);
    expect(maskPieces(['give me the account', 'number of it'], mask)).toEqual(['give me the ****', '**** of it']);
  });

  it('shows a term nowhere, however it is cased, split and surrounded', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'क', 'ि', 'é', '3'), minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(word, fc.nat(), fc.boolean(), (term, cut, upper) => {
        fc.pre(/^\p{L}/u.test(term));
        const at = 1 + (cut % (term.length - 1));
        const said = `${term.slice(0, at)} ${term.slice(at)}`;
        expect(maskPieces([`so ${upper ? said.toUpperCase() : said} it is`], hashKeywords([term]))).toEqual(['so **** it is']);
      }),
    );
  });

  it('changes nothing where no term is', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), (pieces) => {
        expect(maskPieces(pieces, hashKeywords(['zzyzzx']))).toEqual(pieces.map((piece) => piece.normalize('NFC')));
      }),
    );
  });
});

describe('profanity', () => {
  it.each([
    ['what the fuck is this', 'what the **** is this'],
    ['Bullshit!', '********!'],
    ['scunthorpe is a town', 'scunthorpe is a town'],
    ['वह हरामी है', 'वह *** है'],
    ['वह हरामजादा है', 'वह ***** है'],
    ['चूतियापन्ती', 'चूतियापन्ती'],
    ['tum chutiya ho', 'tum ******* ho'],
  ])('hides what is profane in %j', (text, wanted) => {
    expect(maskPieces([text], profanity)).toEqual([wanted]);
  });
});
