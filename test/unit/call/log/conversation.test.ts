import { expect, it } from 'vitest';
import { Conversation } from '../../../../src/call/log/conversation.ts';
import { Timeline } from '../../../../src/call/log/timeline.ts';
import { HeardLedger } from '../../../../src/call/outbound/heard-ledger.ts';

const stepsOf = (conversation: Conversation) =>
  conversation.records(new HeardLedger(8000), new Timeline()).map(({ steps }) => steps);

it('keeps the steps of the answer that counts, where a turn is asked again or taken back', () => {
  const conversation = new Conversation();
  conversation.open({ kind: 'start' }, 0);
  conversation.stepped(['hello', 'ask-day']);
  conversation.open({ kind: 'spoken', text: 'two' }, 1);
  conversation.stepped(['ask-time']);
  conversation.amend({ kind: 'spoken', text: 'Tuesday' });
  expect(conversation.step).toBe('ask-day');
  conversation.stepped(['confirm']);
  expect(stepsOf(conversation)).toEqual([['hello', 'ask-day'], ['confirm']]);
  conversation.takeBack();
  expect(conversation.step).toBe('ask-day');
  conversation.open({ kind: 'spoken', text: 'Tuesday at ten' }, 2);
  expect(stepsOf(conversation)).toEqual([['hello', 'ask-day'], undefined]);
});

it('keeps a bounded number of steps of a turn', () => {
  const conversation = new Conversation();
  conversation.open({ kind: 'start' }, 0);
  for (let round = 0; round < 1_000; round += 1) conversation.stepped(['round']);
  expect(stepsOf(conversation)[0]).toHaveLength(100);
});
