import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { ModelDownloadError } from './errors.ts';
import type { ModelDescription } from './model.ts';
import { runClient } from './package-client.ts';

/** A package of npm that opens models. */
export interface ModelLibrary {
  readonly name: string;
  /** The one that the tests run with. */
  readonly version: string;
  readonly licence: string;
}

export const SHERPA: ModelLibrary = { name: 'sherpa-onnx-node', version: '1.13.8', licence: 'Apache-2.0' };
export const ONNX_RUNTIME: ModelLibrary = { name: 'onnxruntime-node', version: '1.30.0', licence: 'MIT' };

/** The library that opens models of a role. */
export function libraryOf({ role }: Pick<ModelDescription, 'role'>): ModelLibrary {
  return role === 'end-of-turn' ? ONNX_RUNTIME : SHERPA;
}

/** From where a library is looked for: beside the models, then beside Offhook. */
export function libraryPlaces(modelsFolder: string): readonly string[] {
  return [resolve(modelsFolder, 'package.json'), import.meta.url];
}

/** Whether the library is installed; it is not loaded. */
export function hasLibrary({ name }: ModelLibrary, places: readonly string[]): boolean {
  return places.some((place) => {
    try {
      createRequire(place).resolve(name);
      return true;
    } catch {
      return false;
    }
  });
}

/**
 * Installs a library beside the models, without its scripts, with the npm of the path.
 * @throws ModelDownloadError with what to run by hand
 */
export async function installLibrary({ name, version }: ModelLibrary, modelsFolder: string, signal?: AbortSignal): Promise<void> {
  const folder = resolve(modelsFolder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const args = [
    'install',
    '--prefix',
    folder,
    '--ignore-scripts',
    '--save-exact',
    '--no-audit',
    '--no-fund',
    `${name}@${version}`,
  ];
  const failure = await runClient(['npm'], args, { cwd: folder, signal });
  if (failure === undefined) return;
  throw new ModelDownloadError(`${name} could not be installed (${failure.complaint}); by hand: npm ${args.join(' ')}`);
}
