import { defineBot } from 'offhook/bot';

/** Called once a turn; what it yields is spoken as it comes. */
export default defineBot(async function* ({ input }) {
  if (input.kind === 'start') {
    yield 'Hello, this is the front desk. At what time would you like to come?';
  } else if (input.kind !== 'no-input' && input.answer?.status === 'complete') {
    yield { type: 'set', variables: { time: input.answer.value } };
    yield `You are booked at ${input.answer.value}. Goodbye.`;
    yield { type: 'hangup', reason: 'booked' };
    return;
  } else {
    yield 'Sorry, at what time? You can say, for example, half past ten.';
  }
  yield { type: 'gather', contract: { kind: 'time', from: '09:00', to: '17:00' } };
});
