import { expect, it } from 'vitest';
import { stepFlow } from '../../../../src/dialog/flow/flow.ts';
import { inputOf, small, talk, TODAY } from './talk.ts';

const SORRY = 'Sorry, I did not catch that. Your last four digits?';

/** A caller who is asked for four digits says or keys a part of them, hears so much of what the bot says to that, and goes on. */
function digits(first: string, heard: string, then: string): string | undefined {
  const asked = talk(small, ['repair on Tuesday at half past ten', 'yes', first]);
  expect(asked.said).toBe(SORRY);
  return stepFlow(small, asked.state, inputOf(then), { today: TODAY, heard: `Your last four digits? ${heard}` }).state.slots[
    'phone'
  ];
}

it.each([
  ['four two', 'Sorry, I—', 'seven one', '4271'],
  ['four two', '', 'seven one', '4271'],
  ['four two', 'Sorry, I did—', '#71', '4271'],
  ['#42', 'Sorry, I did—', '#71', '4271'],
  ['four two', 'Sorry, I did—', 'four two seven one', '4271'],
  ['four two', SORRY, 'seven one', undefined],
  ['four two', SORRY, 'four two seven one', '4271'],
  ['four two', 'Sorry, I did—', 'purple', undefined],
])('keeps %j of a caller who goes on over %j with %j', (first, heard, then, whole) => {
  expect(digits(first, heard, then)).toBe(whole);
});

it('drops it after a silence, and when the caller starts again', () => {
  const silent = talk(small, ['repair on Tuesday at half past ten', 'yes', 'four two', '-']);
  expect(silent.state.partial).toBeUndefined();
  expect(digits('four two', 'Sorry, I did—', 'four two seven')).toBeUndefined();
});

it('puts together more than two pieces', () => {
  const { state } = talk(small, ['repair on Tuesday at half past ten', 'yes', 'four', 'two seven']);
  expect(stepFlow(small, state, inputOf('one'), { today: TODAY, heard: 'Sorry,—' }).state.slots['phone']).toBe('4271');
});

it('drops it at another question', () => {
  const { state } = talk(small, ['repair on Tuesday at half past ten', 'yes', 'four two', 'repeat']);
  expect(state.partial).toBeUndefined();
});
