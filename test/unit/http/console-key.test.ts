import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/databases.ts';
import { ConsoleKey, LINK_LIFE_MS, SealedLinks } from '../../../src/http/session/console-key.ts';
import { MemoryHub } from '../../support/memory-hub.ts';
import { ManualClock } from '../../support/manual-clock.ts';

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

it('signs in once by a link of another machine, within its time', async () => {
  await using folder = await temporaryFolder();
  const clock = new ManualClock(0, Date.now());
  const hub = new MemoryHub(clock);
  const [ours, theirs] = [hub.join(), hub.join()];
  const machine = new SealedLinks(ConsoleKey.shared(folder.path, await ours.secret('console'), ours.spent));
  const another = new SealedLinks(new ConsoleKey(await theirs.secret('console'), theirs.spent));
  // As the command on the first machine makes it.
  const code = await new SealedLinks(ConsoleKey.ensure(folder.path)).make({ name: 'asha', role: 'viewer' }, clock.wallMs());
  expect(code.length).toBeLessThan(1_000);
  expect(await another.use(code, clock.wallMs() + LINK_LIFE_MS + 1_000)).toBeUndefined();
  expect(await another.use(code, clock.wallMs())).toEqual({ name: 'asha', role: 'viewer' });
  expect(await machine.use(code, clock.wallMs())).toBeUndefined();
});
