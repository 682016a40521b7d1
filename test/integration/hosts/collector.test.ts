import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { favourEventLoop } from '../../../src/kernel/process-tuning.ts';

/** How nice each thread of this process is, by its number. */
function niceness(): ReadonlyMap<number, number> {
  const threads = readdirSync('/proc/self/task').map((thread) => {
    // What follows the name in parentheses begins with the third field; niceness is the nineteenth.
    const fields = readFileSync(`/proc/self/task/${thread}/stat`, 'latin1').split(') ').at(-1)!.split(' ');
    return [Number(thread), Number(fields[16])] as const;
  });
  return new Map(threads);
}

it.runIf(process.platform === 'linux')('has the threads that help the engine wait for the one that runs calls', () => {
  const before = niceness().get(process.pid)!;
  favourEventLoop();
  const after = niceness();
  expect(after.get(process.pid)).toBe(before);
  const nicer = [...after.values()].filter((nice) => nice === Math.min(19, before + 10));
  expect(nicer.length).toBeGreaterThanOrEqual(4);
  favourEventLoop();
  expect(niceness()).toEqual(after);
});
