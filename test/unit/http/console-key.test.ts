import { expect, it } from 'vitest';
import { ConsoleKey } from '../../../src/http/session/console-key.ts';
import { MemoryHub } from '../../../src/shared-state/memory.ts';
import { ManualClock } from '../../../src/sim/manual-clock.ts';

it('believes a session of another machine until it is signed out at either', async () => {
  const clock = new ManualClock(0, Date.now());
  const hub = new MemoryHub(clock);
  const keyOfMachine = async (): Promise<ConsoleKey> => {
    const shared = hub.join();
    return new ConsoleKey(await shared.secret('console'), shared.spent);
  };
  const [ours, theirs] = [await keyOfMachine(), await keyOfMachine()];
  const nowMs = clock.wallMs();
  const sealed = await ours.seal('session', { sub: 'asha' }, { nowMs, lifeMs: 60_000 });
  const opened = await theirs.open('session', sealed, nowMs);
  expect(opened).toMatchObject({ sub: 'asha' });
  if (opened === undefined) return;
  expect([await theirs.spend(opened, nowMs), await ours.spend(opened, nowMs)]).toEqual([true, false]);
  expect([await ours.open('session', sealed, nowMs), await theirs.open('session', sealed, nowMs)]).toEqual([
    undefined,
    undefined,
  ]);
});
