import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { isMainThread } from 'node:worker_threads';

/**
 * By how much of its size the old generation may grow before it is collected again. V8 takes a tenth where garbage is made slowly
 * and memory is cheap to collect, which a hundred calls fill twice a second.
 */
const GROWTH_PERCENT = 100;
/** How much nicer the threads are that help: each has a tenth of what calls have where they want all, and what calls leave. */
const NICER = 10;
const NICEST = 19;

let done = false;

/**
 * Has V8 disturb a process that carries calls as little as can be: the old generation is collected seldom, and the threads that go
 * through it meanwhile, four of them, no longer have most of a core that they share with the calls. Done once, before the process
 * starts threads of its own, which keep the priority they have. Where the system has no list of threads they stay as they are.
 */
export function letCallsGoFirst(): void {
  if (done || !isMainThread) return;
  done = true;
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
  const niceness = Math.min(NICEST, getPriority() + NICER);
  for (const thread of helpers()) {
    try {
      setPriority(thread, niceness);
    } catch {
      // It has ended in the meantime.
    }
  }
}

/** Every thread of this process but the one that runs JavaScript, by the number that Linux takes for a process's. */
function helpers(): readonly number[] {
  try {
    return readdirSync('/proc/self/task')
      .map(Number)
      .filter((thread) => thread !== process.pid);
  } catch {
    return [];
  }
}
