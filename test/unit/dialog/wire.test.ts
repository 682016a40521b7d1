import { expect, it } from 'vitest';
import type { DialogAction } from '../../../src/dialog/port.ts';
import { AnswerDeadline } from '../../../src/dialog/wire.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const say = (text: string): DialogAction => ({ type: 'say', text, more: true });

async function* parts(clock: ManualClock, ...texts: readonly string[]): AsyncGenerator<DialogAction> {
  for (const text of texts) {
    clock.advance(60);
    yield say(text);
  }
}

it('is paused while an action is spoken', async () => {
  const clock = new ManualClock();
  using deadline = new AnswerDeadline(clock, 100, 'the server', 1_000);
  for await (const _ of deadline.deliver(parts(clock, 'one', 'two', 'three'))) {
    clock.advance(90_000);
    expect(deadline.signal.aborted).toBe(false);
  }
});

it('is not renewed by an empty action', async () => {
  const clock = new ManualClock();
  using deadline = new AnswerDeadline(clock, 100, 'the server');
  const reading = (async () => {
    for await (const _ of deadline.deliver(parts(clock, 'one', ' ', '', 'two'))) deadline.signal.throwIfAborted();
  })();
  await expect(reading).rejects.toThrow('the server said nothing for 100 ms');
});

it('ends when all waits together are over, though each was short', async () => {
  const clock = new ManualClock();
  using deadline = new AnswerDeadline(clock, 100, 'the server', 200);
  const reading = (async () => {
    for await (const _ of deadline.deliver(parts(clock, 'one', 'two', 'three', 'four'))) deadline.signal.throwIfAborted();
  })();
  await expect(reading).rejects.toThrow('the server took 200 ms for one turn, all waits together');
});
