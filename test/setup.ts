import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { thorough } from './support/thorough.ts';

/** The same verdict every time, for everyone; `FC_SEED=random` looks for what no seed has found yet, and prints the one that has. */
const seed = process.env.FC_SEED ?? '20261121';
fc.configureGlobal({ numRuns: thorough(50, 200), ...(seed === 'random' ? {} : { seed: Number(seed) }) });

/** Whether both are typed arrays of one type with the same bytes; undefined lets vitest compare them element by element. */
function sameBytes(one: unknown, other: unknown): true | undefined {
  if (!ArrayBuffer.isView(one) || !ArrayBuffer.isView(other) || one.constructor !== other.constructor) return undefined;
  const [a, b] = [one, other].map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength));
  return a !== undefined && b !== undefined && a.equals(b) ? true : undefined;
}

/** What outlives a file, as its process does: this module is run again for each file. */
const ONCE = Symbol.for('offhook.test.setup');
if (!Reflect.has(globalThis, ONCE)) {
  // Vitest compares typed arrays property by property: a second for 250 kB.
  expect.addEqualityTesters([sameBytes]);
  // V8 keeps the machine code of the embedded Postgres for as long as somebody holds the module, and compiles it anew, a second
  // of processor time, once the last store was closed.
  const pglite = dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite'));
  const wasm = Reflect.get(globalThis, 'WebAssembly') as { compile(bytes: Uint8Array): Promise<object> };
  Reflect.set(globalThis, ONCE, await wasm.compile(readFileSync(join(pglite, 'pglite.wasm'))));
}
