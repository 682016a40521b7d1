import { EventEmitter } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { EndOfTurnThread } from '../../../../../src/call/inbound/end-of-turn/end-of-turn-thread.ts';

/** A worker that keeps what it is asked. */
class FakeWorker extends EventEmitter {
  readonly asked: { id: number; pcm: Int16Array }[] = [];
  /** It ends when it is told to. */
  obeys = true;
  postMessage(message: { id: number; pcm: Int16Array } | 'stop'): void {
    if (message !== 'stop') this.asked.push(message);
    else if (this.obeys) queueMicrotask(() => this.emit('exit', 0));
  }
  ref(): void {
    // A fake holds no process.
  }
  unref(): void {
    // A fake holds no process.
  }
}

function started() {
  const worker = new FakeWorker();
  const clock = new ManualClock(0);
  const [counted, warnings]: [boolean[], object[]] = [[], []];
  const thread = new EndOfTurnThread({
    path: 'model.onnx',
    events: { endOfTurnAsked: ({ answered }) => void counted.push(answered) },
    clock,
    logger: { warn: (fields: object) => void warnings.push(fields) },
    start: () => worker as unknown as Worker,
  });
  const heard: (readonly [string, number])[] = [];
  const ask = (name: string): void => thread.ask(new Int16Array(8), (likelihood) => heard.push([name, likelihood]));
  return { worker, thread, clock, counted, warnings, heard, ask };
}

it('gives each answer to its question, in whatever order they come', () => {
  const { worker, heard, ask } = started();
  worker.emit('message', 'ready');
  ask('first');
  ask('second');
  worker.emit('message', { id: 1, likelihood: 0.9 });
  worker.emit('message', { id: 0, likelihood: 0.1 });
  worker.emit('message', { id: 0, likelihood: 0.5 });
  expect(heard).toEqual([
    ['second', 0.9],
    ['first', 0.1],
  ]);
});

it('takes no question before it is ready, nor more than it can answer in time', () => {
  const { worker, counted, ask } = started();
  ask('too early');
  worker.emit('message', 'ready');
  for (let question = 0; question < 6; question += 1) ask('one of many');
  expect(worker.asked).toHaveLength(4);
  expect(counted).toEqual([false, false, false]);
  worker.emit('message', { id: 0, likelihood: 0.5 });
  ask('the next');
  expect(worker.asked).toHaveLength(5);
});

it('says once that its thread is gone, and goes on without answers', async () => {
  const { worker, thread, warnings, heard, ask } = started();
  worker.emit('message', 'ready');
  ask('before');
  worker.emit('error', new Error('no such file'));
  worker.emit('exit', 1);
  ask('after');
  await thread.settled;
  expect(warnings).toEqual([{ error: 'no such file' }]);
  expect([worker.asked.length, heard]).toEqual([1, []]);
});

it('answers nothing that is asked of a closed one, and warns of nothing', async () => {
  const { worker, thread, warnings, heard, ask } = started();
  worker.emit('message', 'ready');
  ask('before');
  await thread[Symbol.asyncDispose]();
  worker.emit('message', { id: 0, likelihood: 0.5 });
  expect([heard, warnings]).toEqual([[], []]);
});

it('does not wait for ever for a thread that does not end', async () => {
  const { worker, thread, clock } = started();
  worker.obeys = false;
  const closed = thread[Symbol.asyncDispose]();
  clock.advance(10_000);
  await closed;
  expect(worker.listenerCount('exit')).toBeGreaterThan(0);
});
