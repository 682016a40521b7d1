import { expect, test } from 'vitest';
import { ANSWER_READER, type ExpectedAnswer } from '../../../../src/call/control/answer-reader.ts';
import type { AnswerContract } from '../../../../src/language/index.ts';

const context = { language: 'en', today: '2026-01-01' } as const;
const phone: AnswerContract = { kind: 'phone', region: 'IN' };
const rupees: AnswerContract = { kind: 'money', currency: 'INR' };
const date: AnswerContract = { kind: 'date' };

test.each([
  { contract: phone, words: 'I do not have one', is: 'none' },
  { contract: phone, words: 'nine eight seven six five', is: 'missing' },
  { contract: phone, words: 'my number is', is: 'missing' },
  { contract: phone, words: 'nine eight seven six five four three two one zero', is: 'whole' },
  { contract: phone, words: 'nine eight seven six five four three two one zero one', is: 'other' },
  { contract: rupees, words: 'five thousand', is: 'likely-more' },
  { contract: rupees, words: 'five thousand rupees', is: 'unlikely-more' },
  { contract: date, words: '', keys: '02032026', is: 'several' },
  { contract: phone, words: 'nine eight seven six five', keys: '43210', is: 'whole' },
] as const)('$words $keys is $is of a value of kind $contract.kind', ({ contract, words, is, ...rest }) => {
  const expected: ExpectedAnswer = { contract, context };
  expect(ANSWER_READER.progress(expected, words, 'keys' in rest ? rest.keys : '')).toBe(is);
});
