import { describe, expect, it } from 'vitest';
import type { AnswerContract } from '../../../../src/language/contract/contract.ts';
import { contractHints } from '../../../../src/language/contract/hints.ts';
import { mostKeys } from '../../../../src/language/contract/most-keys.ts';
import { isSecure, readAnswer, readParts } from '../../../../src/language/contract/read-answer.ts';
import type { AnswerContext } from '../../../../src/language/contract/reading.ts';

/** A Thursday. */
const TODAY = '2026-01-01';
const english: AnswerContext = { language: 'en', today: TODAY };
const hindi: AnswerContext = { language: 'hi', today: TODAY };
const six: AnswerContract = { kind: 'digits', length: 6 };
const indian: AnswerContract = { kind: 'phone', region: 'IN' };
const american: AnswerContract = { kind: 'phone', region: 'US' };
const either: AnswerContract = {
  kind: 'choice',
  options: [
    { name: 'sales', phrases: ['sales', 'buy something'], key: '1' },
    { name: 'support', phrases: ['support', 'help with my order'], key: '2' },
  ],
};

function read(contract: AnswerContract, context: AnswerContext, heard: string, keys = ''): string {
  const reading = readAnswer(contract, context, heard, keys);
  switch (reading.status) {
    case 'complete':
      return `${reading.value} ${reading.more}`;
    case 'incomplete':
      return `incomplete ${reading.soFar} ${reading.missing ?? '?'}`;
    case 'impossible':
      return `impossible ${reading.why}`;
    case 'ambiguous':
      return `ambiguous ${reading.values.join(' ')}`;
  }
}

describe('digits', () => {
  it.each([
    ['four two seven', 'incomplete 427 3'],
    ['four two seven one nine nine', '427199 no'],
    ['four two um seven, and then one double nine', '427199 no'],
    ['it is 427 199', '427199 no'],
    ['forty two seventy one ninety nine', '427199 no'],
    ['one second, four two seven', 'incomplete 427 3'],
    ['four two seven one nine nine three', 'impossible too-long'],
    ['four two five, sorry, four two seven one nine nine', '427199 no'],
    ['four two five, sorry, four two seven', 'incomplete 427 3'],
    ['four two seven, no wait, one nine nine', '427199 no'],
    ['nine nine, let me start again, four two seven one', 'incomplete 4271 2'],
    ['I do not have it', 'incomplete  6'],
    ['', 'incomplete  6'],
  ])('reads "%s" as %s', (heard, reading) => expect(read(six, english, heard)).toBe(reading));

  it.each([
    ['चार दो सात', 'incomplete 427 3'],
    ['चार दो सात एक डबल नौ', '427199 no'],
    ['four two सात one double nine', '427199 no'],
    ['फ़ोर टू सेवन वन डबल नाइन', '427199 no'],
    ['char do saat ek double nau', '427199 no'],
    ['४२७ १९९', '427199 no'],
    ['बयालीस इकहत्तर निन्यानवे', '427199 no'],
    ['चार दो पाँच, सॉरी, चार दो सात एक नौ नौ', '427199 no'],
    ['एक मिनट', 'incomplete  6'],
    ['what do you mean', 'incomplete  6'],
    ['nau do char', 'incomplete 924 3'],
  ])('reads "%s" as %s', (heard, reading) => expect(read(six, hindi, heard)).toBe(reading));

  it.each([
    ['', '427199', '427199 no'],
    ['four two seven', '199', '427199 no'],
    ['four two', '7', 'incomplete 427 3'],
    ['', '42*427199', '427199 no'],
    ['', '427#', 'incomplete 427 3'],
  ])('reads "%s" and the keys %s as %s', (heard, keys, reading) => expect(read(six, english, heard, keys)).toBe(reading));

  it('reads spoken and typed digits in their order', () => {
    const parts = [
      { by: 'voice', text: 'four two' },
      { by: 'keys', keys: '71' },
      { by: 'voice', text: 'double nine' },
    ] as const;
    expect(readParts(six, english, parts)).toEqual({ status: 'complete', value: '427199', more: 'no' });
  });

  it('waits between the least and the most digits, until # ends the answer', () => {
    const contract: AnswerContract = { kind: 'digits', least: 3, most: 5 };
    expect(read(contract, english, 'one two')).toBe('incomplete 12 1');
    expect(read(contract, english, 'one two three')).toBe('123 likely');
    expect(read(contract, english, '', '123#')).toBe('123 no');
    expect(read(contract, english, 'one two three four five')).toBe('12345 no');
  });

  it('refuses a value with a wrong check digit', () => {
    expect(read({ kind: 'digits', length: 16, check: 'luhn' }, english, '4111 1111 1111 1111')).toBe('4111111111111111 no');
    expect(read({ kind: 'digits', length: 16, check: 'luhn' }, english, '4111 1111 1111 1112')).toBe('impossible check-digit');
    expect(read({ kind: 'digits', length: 12, check: 'verhoeff' }, english, '2345 6789 0124')).toBe('234567890124 no');
    expect(read({ kind: 'digits', length: 12, check: 'verhoeff' }, english, '2345 6789 0142')).toBe('impossible check-digit');
  });
});

describe('telephone numbers', () => {
  it.each([
    [indian, 'nine eight seven six five', 'incomplete 98765 5'],
    [indian, 'nine eight seven six five four three two one zero', '+919876543210 no'],
    [indian, 'plus nine one nine eight seven six five four three two one oh', '+919876543210 no'],
    [indian, '+91 98765-43210', '+919876543210 no'],
    [indian, 'zero nine eight seven six five four three two one zero', '+919876543210 no'],
    [indian, 'nine one two three four five six seven eight nine', '+919123456789 unlikely'],
    [indian, '91 98765 43210', '+919876543210 no'],
    [indian, '98765 43210 1', 'impossible too-long'],
    [american, '(415) 155-0132', 'impossible no-such-value'],
    [american, '(415) 555-0132', '+14155550132 no'],
    [american, 'one four one five five five five oh one three two', '+14155550132 no'],
    [american, 'eight hundred five five five oh one three two', '+18005550132 no'],
    [american, 'one one five', 'impossible no-such-value'],
    [american, 'four one five', 'incomplete 415 7'],
  ])('reads %j "%s" as %s', (contract, heard, reading) => expect(read(contract, english, heard)).toBe(reading));

  it('reads Hindi with English digits', () => {
    expect(read(indian, hindi, 'मेरा नंबर है नौ आठ डबल सात five चार तीन दो एक zero')).toBe('+919877543210 no');
    expect(read(indian, hindi, 'अट्ठानवे छिहत्तर चौवन बत्तीस दस')).toBe('+919876543210 no');
  });
});

describe('yes, no and choices', () => {
  it.each([
    ['yes', '', 'yes unlikely'],
    ['ji nahin', '', 'no unlikely'],
    ['haan ji', '', 'yes unlikely'],
    ['', '2', 'no no'],
    ['', '5', 'impossible no-such-value'],
    ['what?', '', 'incomplete  ?'],
  ])('takes "%s%s" for %s', (heard, keys, reading) => expect(read({ kind: 'yes-no' }, hindi, heard, keys)).toBe(reading));

  it.each([
    ['sales please', '', 'sales unlikely'],
    ['help with my order', '', 'support unlikely'],
    ['sales or support', '', 'ambiguous sales support'],
    ['number two', '', 'support unlikely'],
    ['', '1', 'sales no'],
    ['', '7', 'impossible no-such-value'],
    ['something else', '', 'incomplete  ?'],
  ])('takes "%s%s" for %s', (heard, keys, reading) => expect(read(either, english, heard, keys)).toBe(reading));
});

describe('secrets', () => {
  it('accepts cards and one-time codes from the keypad only', () => {
    expect(isSecure({ kind: 'card' })).toBe(true);
    expect(read({ kind: 'card' }, english, 'four one one one')).toBe('impossible keypad-only');
    expect(read({ kind: 'card' }, english, '', '4111111111111111')).toBe('4111111111111111 no');
    expect(read({ kind: 'card' }, english, '', '4111111111111112')).toBe('impossible check-digit');
    expect(read({ kind: 'card' }, english, '', '371449635398431')).toBe('371449635398431 no');
    expect(read({ kind: 'card' }, english, '', '4111')).toBe('incomplete 4111 12');
    expect(read({ kind: 'otp', length: 6 }, english, '', '482911')).toBe('482911 no');
    expect(contractHints({ kind: 'otp', length: 6 }, 'en')).toEqual([]);
  });
});

it('gives at most ten hints, and the number of keys of an answer', () => {
  expect(contractHints(either, 'en')).toEqual(['sales', 'support', 'buy something', 'help with my order']);
  expect(contractHints(six, 'hi')).toHaveLength(10);
  expect([six, indian, either, { kind: 'yes-no' } as const].map(mostKeys)).toEqual([6, 14, 1, 1]);
});

it('reads the end of an endless answer', () => {
  const rambling = 'so I was thinking about the weather and other things '.repeat(200);
  expect(read(six, english, `one two three, ${rambling} it is four two seven one nine nine`)).toBe('427199 no');
});
