import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { endWithNpm, stopInStages } from '../../../src/cli/stop-in-stages.ts';
import { ManualClock } from '../../support/manual-clock.ts';

function staged() {
  const clock = new ManualClock();
  const signals = new EventEmitter();
  const did: string[] = [];
  const calls = pending();
  stopInStages({
    drain: () => {
      did.push('drain');
      return calls.promise;
    },
    drainMs: 60_000,
    close: () => void did.push('close'),
    clock,
    signals,
    exit: (code) => void did.push(`exit ${code}`),
  });
  const signal = async (name = 'SIGTERM', afterMs = 1_000): Promise<void> => {
    clock.advance(afterMs);
    signals.emit(name);
    await settled();
  };
  return { clock, did, signal, calls };
}

function pending(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

it('lets live calls end after the first signal, and then closes', async () => {
  const { did, signal, calls } = staged();
  await signal();
  expect(did).toEqual(['drain']);
  calls.resolve();
  await settled();
  expect(did).toEqual(['drain', 'close']);
});

it('closes when live calls exceed the drain time', async () => {
  const { clock, did, signal } = staged();
  await signal();
  clock.advance(59_999);
  await settled();
  expect(did).toEqual(['drain']);
  clock.advance(1);
  await settled();
  expect(did).toEqual(['drain', 'close']);
});

it('says goodbye at once after a second signal, and exits at a third', async () => {
  const { did, signal, calls } = staged();
  await signal('SIGTERM');
  await signal('SIGINT');
  calls.resolve();
  await settled();
  expect(did).toEqual(['drain', 'close']);
  await signal('SIGTERM');
  expect(did).toEqual(['drain', 'close', 'exit 1']);
});

it('counts one Ctrl+C from the terminal and from npm once', async () => {
  const { did, signal } = staged();
  await signal('SIGINT');
  await signal('SIGINT', 3);
  expect(did).toEqual(['drain']);
});

it("stops when npm's shell is gone, and ignores its parent without npm", () => {
  const clock = new ManualClock();
  let parent = 4711;
  let left = 0;
  const leave = (): void => void (left += 1);
  endWithNpm(leave, {}, clock, () => parent);
  expect(clock.pendingTimers).toBe(0);
  endWithNpm(leave, { npm_lifecycle_event: 'start' }, clock, () => parent);
  clock.advance(10_000);
  expect(left).toBe(0);
  parent = 1;
  clock.advance(500);
  expect([left, clock.pendingTimers]).toEqual([1, 0]);
});
