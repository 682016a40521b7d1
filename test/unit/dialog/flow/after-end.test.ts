import { describe, expect, it } from 'vitest';
import { flowHooks } from '../../../../src/dialog/flow/hook.ts';
import { parseFlow } from '../../../../src/dialog/flow/load.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { CallBench } from '../../call/call-bench.ts';

/** Connects, or books, and knows a way out of its goodbye. */
const desk = parseFlow(
  {
    start: 'desk',
    slots: { want: { kind: 'choice', options: { person: { phrases: ['reception'] }, booking: { phrases: ['book'] } } } },
    commands: { operator: { go: 'person' } },
    states: {
      desk: { ask: { slot: 'want', prompt: 'Reception or booking?' }, next: { person: 'person', booking: 'booked' } },
      person: { say: 'I will connect you with our reception. Please stay on the line.', transfer: '+15550100' },
      booked: { say: ['We will see you on Tuesday at half past ten.', 'Thank you for calling. Goodbye.'], hangup: 'booked' },
    },
  },
  { language: 'en' },
);

/** A call in which the caller wants `first`, and says `then` when the answer to that has been heard for so long. */
async function call(first: string, afterMs: number, then: string) {
  const hook = flowHooks(desk, new ManualClock()).create({
    callId: 'call_bench',
    botName: 'desk',
    from: '+1',
    to: '+2',
    direction: 'inbound',
    language: 'en',
  });
  using bench = new CallBench((turn, signal) => hook.respond(turn, signal));
  let transferredTo: string | undefined;
  bench.control = {
    transfer: async (_call, to) => void (transferredTo = to),
    sendDigits: async () => undefined,
    hangUp: async () => undefined,
  };
  await bench.start();
  await bench.quiet(2_000);
  await bench.voice(500);
  await bench.quiet(700);
  bench.recognised(0, first);
  await bench.quiet(afterMs);
  await bench.voice(700);
  bench.partial(1, then);
  await bench.quiet(700);
  bench.recognised(1, then);
  await bench.quiet(12_000);
  bench.session.hangUp('still there');
  const { turns, endReason } = await bench.session.ended;
  return { heard: turns.at(-1)?.botHeardText, endReason, transferredTo };
}

describe('a caller who talks over the last words of a flow', () => {
  it('is connected all the same', async () => {
    expect(await call('reception', 900, 'okay, thank you')).toMatchObject({
      heard: 'I will connect you with our reception. Please stay on the line.',
      transferredTo: '+15550100',
    });
  });

  it('hears what was cut, and the goodbye', async () => {
    expect(await call('book', 900, 'okay, thank you')).toMatchObject({
      heard: 'We will see you on Tuesday at half past ten. Thank you for calling. Goodbye.',
      endReason: 'booked',
    });
  });

  it('does not hear again what was heard', async () => {
    expect(await call('book', 3_600, 'okay, thank you')).toMatchObject({
      heard: 'Thank you for calling. Goodbye.',
      endReason: 'booked',
    });
  });

  it('repeats all of it on request', async () => {
    expect(await call('book', 3_600, 'sorry, what did you say?')).toMatchObject({
      heard: 'We will see you on Tuesday at half past ten. Thank you for calling. Goodbye.',
      endReason: 'booked',
    });
  });

  it('is let go who says goodbye', async () => {
    expect(await call('book', 900, 'bye')).toMatchObject({ heard: '', endReason: 'booked' });
  });

  it('may still ask for a person', async () => {
    expect(await call('book', 3_600, 'wait, I want to speak to a person')).toMatchObject({ transferredTo: '+15550100' });
  });
});

it('says nothing more to a caller who answers a goodbye they heard', async () => {
  expect(await call('book', 4_600, 'thank you too')).toMatchObject({ heard: '', endReason: 'booked' });
});
