import { describe, expect, it } from 'vitest';
import { tokenise } from '../../../../src/language/understand/tokens.ts';
import { findYesNo } from '../../../../src/language/understand/yes-no.ts';

function said(text: string): string | undefined {
  return findYesNo(tokenise(text))?.value;
}

describe('a yes', () => {
  it.each([
    'yes',
    'Yeah, that works',
    "that's right",
    'of course',
    'of course I do',
    'ok',
    'all right',
    'no problem',
    'no doubt',
    'why not',
    'sure, why not',
    "I don't see why not",
    'yes, no problem',
    'yeah, no worries',
    'absolutely, no problem',
    "okay, don't worry",
    "yes, I don't mind",
    "yes, I'm good",
    "I'm fine with that",
    'हाँ',
    'जी',
    'जी हां',
    'ठीक है',
    'सही है',
    'बिल्कुल',
    'बिल्कुल सही है',
    'कोई बात नहीं',
    'हाँ, कोई दिक्कत नहीं',
    'क्यों नहीं',
    'haan ji',
    'bilkul, koi baat nahi',
  ])('is heard in "%s"', (text) => expect(said(text)).toBe('yes'));
});

describe('a no', () => {
  it.each([
    'no',
    'No, thank you.',
    "that's not right",
    'not really',
    'not yet',
    'not at all',
    'wrong',
    'never mind',
    "I don't think so",
    "I don't think that's right",
    "no, I don't think that's right",
    "that isn't correct",
    'not okay',
    'no good',
    "no, that's fine, thanks",
    "no, I'm good",
    "no, I'm not sure",
    'नहीं',
    'जी नहीं',
    'सही नहीं',
    'गलत है',
    'अच्छा नहीं',
    'nahi',
  ])('is heard in "%s"', (text) => expect(said(text)).toBe('no'));

  it.each([
    'absolutely not',
    'definitely not',
    'certainly not',
    'of course not',
    "of course I don't",
    "definitely isn't",
    'no, of course not',
    'बिल्कुल नहीं',
    'जी बिल्कुल नहीं',
    'बिल्कुल भी नहीं',
    'बिल्कुल सही नहीं है',
    'बिल्कुल गलत',
    'bilkul nahi',
    'bilkul bhi nahin',
  ])('is made stronger by a word of agreement: "%s"', (text) => expect(said(text)).toBe('no'));

  it.each([
    'okay no',
    'ok no thanks',
    'right, no',
    'fine, no',
    'alright, no thank you',
    'okay, right, no',
    "okay, that's not right",
    'ठीक है, नहीं चाहिए',
    'अच्छा, जी नहीं',
    'ओके नो',
    'theek hai nahi',
  ])('may be led up to: "%s"', (text) => expect(said(text)).toBe('no'));
});

describe('neither yes nor no', () => {
  it.each([
    'yes no',
    'yeah no',
    'yes, no wait',
    "yes that's wrong",
    'yes but not today',
    "yes it isn't",
    'correct, no',
    'sure, no',
    'no, yes',
    "no, that's right",
    'no, go ahead',
    'no no no yes',
    'हाँ नहीं',
    'जी वो नहीं',
    'नहीं, सही है',
    'haan nahi',
  ])('is heard where both are said: "%s"', (text) => expect(said(text)).toBeUndefined());

  it.each([
    '',
    'Tuesday',
    "I'm not sure",
    'not so sure',
    "I don't know",
    "okay, I don't know",
    'are you sure',
    'is that right?',
    "I can't right now",
    "that's not wrong",
    'no worries',
    "I don't mind",
    "I'm good",
    'पता नहीं',
    'गलत नहीं है',
    'सही है ना',
    'pata nahi',
  ])('is heard in "%s"', (text) => expect(said(text)).toBeUndefined());
});

it('names the words that say it', () => {
  expect(findYesNo(tokenise('well, of course not, thanks'))).toEqual({ value: 'no', from: 1, to: 4 });
  expect(findYesNo(tokenise('well, of course, thanks'))).toEqual({ value: 'yes', from: 1, to: 3 });
});
