import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { hasCode } from '../../kernel/errors.ts';
import { ModelDownloadError } from './errors.ts';

/** The library that opens models. Tests run with this version. */
export const SHERPA_PACKAGE = 'sherpa-onnx-node';
export const SHERPA_VERSION = '1.13.8';

/** From where the package is looked for: beside the models, then beside Offhook. */
export function sherpaPlaces(modelsFolder: string): readonly string[] {
  return [resolve(modelsFolder, 'package.json'), import.meta.url];
}

/** Whether the package is installed; it is not loaded. */
export function hasSherpa(places: readonly string[]): boolean {
  return places.some((place) => {
    try {
      createRequire(place).resolve(SHERPA_PACKAGE);
      return true;
    } catch {
      return false;
    }
  });
}

/**
 * Installs the package beside the models, without its scripts, with the npm of the path.
 * @throws ModelDownloadError with what to run by hand
 */
export async function installSherpa(modelsFolder: string, signal?: AbortSignal): Promise<void> {
  await mkdir(modelsFolder, { recursive: true, mode: 0o700 });
  const wanted = `${SHERPA_PACKAGE}@${SHERPA_VERSION}`;
  const folder = resolve(modelsFolder);
  const args = ['install', '--prefix', folder, '--ignore-scripts', '--save-exact', '--no-audit', '--no-fund', wanted];
  let complaint = '';
  let failed: string | undefined;
  try {
    const npm = spawn('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], signal });
    npm.stderr.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(-1_000)));
    const [code] = (await once(npm, 'close')) as [number | null];
    if (code !== 0) failed = complaint.trim().replaceAll(/\s*\n\s*/gu, '; ');
  } catch (error) {
    signal?.throwIfAborted();
    if (!hasCode(error, 'ENOENT')) throw error;
    failed = 'there is no npm on the path';
  }
  if (failed === undefined) return;
  throw new ModelDownloadError(`${SHERPA_PACKAGE} could not be installed (${failed}); by hand: npm ${args.join(' ')}`);
}
