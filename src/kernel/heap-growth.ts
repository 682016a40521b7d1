import { setFlagsFromString } from 'node:v8';

/**
 * By how much of its size the old generation may grow before it is collected again. V8 takes a tenth where garbage is made slowly
 * and memory is cheap to collect, which a hundred calls fill twice a second: each time its helpers go through all of the heap beside
 * the calls, and on one core have most of it for a tenth of a second.
 */
const GROWTH_PERCENT = 100;

/** Has this process collect its old generation seldom. For one that carries calls, before it has any. */
export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
