import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Debian keeps PostgreSQL's own programs out of PATH, a folder a version. */
function postgresFolders(): string[] {
  const root = '/usr/lib/postgresql';
  try {
    return readdirSync(root)
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(root, version, 'bin'));
  } catch {
    return [];
  }
}

function runs(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const told = new Set<string>();

/**
 * The absolute path of a program that a test needs beyond Node; undefined when it is not installed, which is said in one
 * line: the test is then to be skipped. With `OFFHOOK_TEST_REQUIRE_ALL=1` a missing program is an error instead.
 */
export function requireTool(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== ''), ...postgresFolders()];
  const found = folders.map((folder) => join(folder, name)).find(runs);
  if (found !== undefined) return found;
  if (process.env.OFFHOOK_TEST_REQUIRE_ALL === '1') throw new Error(`${name} is required and not installed`);
  if (!told.has(name)) process.stdout.write(`skipped: ${name} is not installed\n`);
  told.add(name);
  return undefined;
}

/** Whether a Debian package's files are there that a test needs; what `requireTool` does for programs. */
export function requirePackage(name: string, file: string): boolean {
  if (existsSync(file)) return true;
  if (process.env.OFFHOOK_TEST_REQUIRE_ALL === '1') throw new Error(`${name} is required and not installed`);
  if (!told.has(name)) process.stdout.write(`skipped: ${name} is not installed\n`);
  told.add(name);
  return false;
}
