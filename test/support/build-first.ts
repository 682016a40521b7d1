import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

/**
 * Compiles the program before a run of all tests, when it has changed: threads and processes then start over the build, which
 * costs each of them half a second of processor time less. A run of named files starts at once.
 */
export async function setup({ vitest }: TestProject): Promise<void> {
  // Not among its types. Without it, every run builds first.
  if (Reflect.get(vitest, 'filenamePattern') !== undefined) return;
  const bin = fileURLToPath(new URL('../../bin/offhook.js', import.meta.url));
  await promisify(execFile)(process.execPath, [bin, '--version']);
}
