import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder with package.json, for compiled and source files. */
export const packageRoot = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));

/** A path inside the package. */
export function fromPackage(...parts: string[]): string {
  return join(packageRoot, ...parts);
}
