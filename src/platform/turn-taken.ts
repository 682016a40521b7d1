import { setImmediate } from 'node:timers/promises';

/** Lets sockets and timers have their turn in the middle of a long computation. */
export async function turnTaken(): Promise<void> {
  await setImmediate();
}
