import { expect, it } from 'vitest';
import { SharedRateLimit } from '../../../src/http/rate-limit.ts';
import { MemoryHub } from '../../support/memory-hub.ts';
import type { SharedRates } from '../../../src/hosts/shared-state/port.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const pace = { burst: 3, perSecond: 0.1 };

it('paces requests over two machines', async () => {
  const clock = new ManualClock();
  const { rates } = new MemoryHub(clock).join();
  const [ours, theirs] = [new SharedRateLimit({ clock, rates }, 'api', pace), new SharedRateLimit({ clock, rates }, 'api', pace)];
  expect([await ours.take('key'), await theirs.take('key'), await ours.take('key')]).toEqual([0, 0, 0]);
  expect([await ours.wait('key'), await theirs.take('key')]).toEqual([10, 10]);
  expect(await new SharedRateLimit({ clock, rates }, 'dials', pace).take('key')).toBe(0);
  clock.advance(10_000);
  expect(await theirs.take('key')).toBe(0);
});

it('checks no more guesses than its pace allows, however many come before the machines have agreed', async () => {
  const clock = new ManualClock();
  const answers: (() => void)[] = [];
  const slow: SharedRates = {
    take: async () => 0,
    wait: () => new Promise((resolve) => answers.push(() => resolve(0))),
  };
  const limit = new SharedRateLimit({ clock, rates: slow }, 'passwords', pace);
  let checked = 0;
  const wrong = (): undefined => {
    checked += 1;
    return undefined;
  };
  const guesses = Array.from({ length: 50 }, () => limit.guess('10.0.0.1', wrong));
  for (const answer of answers) answer();
  const waits = (await Promise.all(guesses)).filter(({ waitS }) => waitS > 0);
  expect({ checked, refused: waits.length }).toEqual({ checked: 3, refused: 47 });
});

it('does not count right guesses', async () => {
  const limit = new SharedRateLimit({ clock: new ManualClock() }, 'passwords', pace);
  for (let at = 0; at < 10; at += 1) expect(await limit.guess('10.0.0.1', () => true)).toEqual({ waitS: 0, found: true });
});
