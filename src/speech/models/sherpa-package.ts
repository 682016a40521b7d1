import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { ModelDownloadError } from './errors.ts';
import { runClient } from './package-client.ts';

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
  const failure = await runClient(['npm'], args, { cwd: folder, signal });
  if (failure === undefined) return;
  throw new ModelDownloadError(`${SHERPA_PACKAGE} could not be installed (${failure.complaint}); by hand: npm ${args.join(' ')}`);
}
