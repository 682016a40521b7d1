import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds package.json, from compiled and from source files alike. */
export const packageRoot = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));

/** A path inside the package. */
export function fromPackage(...parts: string[]): string {
  return join(packageRoot, ...parts);
}
