import { expect, it, test } from 'vitest';
import type { ChatEvent } from '../../../../src/rehearsal/chat/chat-event.ts';
import { check, readExpectation } from '../../../../src/rehearsal/chat/expectation.ts';

const says = (text: string): ChatEvent => ({ type: 'says', text, language: 'en', voice: 'Nisha' });
const action = (given: (ChatEvent & { type: 'action' })['action']): ChatEvent => ({ type: 'action', bot: 'desk', action: given });
const EVENTS: readonly ChatEvent[] = [
  says('We are open from nine.'),
  says('Which  day?'),
  action({ type: 'note', text: 'agreed' }),
  action({ type: 'digits', digits: '12w3' }),
  action({ type: 'gather', contract: { kind: 'phone', region: 'IN' } }),
  { type: 'understood', answer: { status: 'complete', value: '10:30', more: 'no' } },
  { type: 'failure', message: 'no server' },
  { type: 'end', reason: 'done', variables: {}, notes: [] },
];

/** What is wrong; undefined where the expectation is met. */
function unmet(written: string, slots: Readonly<Record<string, string>> = { day: '2026-03-05' }): string | undefined {
  const expectation = readExpectation(written);
  if (typeof expectation === 'string') throw new Error(expectation);
  const found = check(expectation, { events: EVENTS, slots });
  return found && `${found.expected} | ${found.got}`;
}

test.each([
  'open from NINE',
  'nine. Which day?',
  '= We are open from nine. Which day?',
  '/open.*day\\?$/',
  '/WHICH/i',
  '! Goodbye',
  '! /good(bye)?/',
  '[slot day = 2026-03-05]',
  '[slot day = /^2026-/]',
  '[slot time =]',
  '[note agreed]',
  '[note]',
  '[keys 12w3]',
  '[asks phone]',
  '[understood 10:30]',
  '[fails /server/]',
  '[end done]',
])('is met: %s', (written) => expect(unmet(written)).toBeUndefined());

test.each([
  ['Goodbye', 'the bot to say "Goodbye" | "We are open from nine. Which day?"'],
  ['= which day?', 'the bot to say exactly "which day?" | "We are open from nine. Which day?"'],
  ['/NINE/', 'the bot to say what matches /NINE/u | "We are open from nine. Which day?"'],
  ['! nine', 'the bot not to say "nine" | "We are open from nine. Which day?"'],
  ['', 'the bot to say nothing | "We are open from nine. Which day?"'],
  ['[slot day = 2026-03-06]', 'slot day to be "2026-03-06" | slot day is "2026-03-05"'],
  ['[slot time = 10:30]', 'slot time to be "10:30" | slot time is empty; filled are day = 2026-03-05'],
  ['[slot day =]', 'slot day to be empty | slot day is "2026-03-05"'],
  ['[end finished]', '[end] with "finished" | "done"'],
  [
    '[transfer +15550100123]',
    '[transfer] with "+15550100123" | no [transfer]; there was [end done], [keys 12w3], [note agreed], [asks phone], [understood 10:30], [fails no server]',
  ],
])('is not met: %s', (written, problem) => expect(unmet(written)).toBe(problem));

it('says that the bot said nothing where it did', () => {
  const expectation = readExpectation('hello');
  if (typeof expectation === 'string') throw new Error(expectation);
  expect(check(expectation, { events: [], slots: {} })?.got).toBe('the bot said nothing');
});
