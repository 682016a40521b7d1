import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { LoadedConfig } from '../../config/load.ts';
import type { ModelFacts } from '../../http/api/settings/settings-orders.ts';
import { bytesOf, readCatalogue } from '../../speech/models/catalogue.ts';
import { installedModels } from '../../speech/models/installed.ts';
import { readUsedNames, type UsedNames } from '../../speech/models/read-models.ts';
import { fromPackage } from './package-root.ts';

/** Speech models of the catalogue, which are installed, and what each is used for. */
export async function modelFacts({ platform, dataDir }: LoadedConfig['settings']): Promise<readonly ModelFacts[]> {
  const catalogue = readCatalogue(readFileSync(fromPackage('config', 'models.yaml'), 'utf8'), 'config/models.yaml');
  const folder = resolve(platform.modelsFolder ?? join(dataDir, 'models'));
  const [installed, used] = await Promise.all([installedModels(folder), readUsedNames(folder)]);
  const here = new Set(installed.map(({ model }) => model.name));
  return catalogue.models.map((model) => {
    const { description, title, licence, licenceFrom, note, measured, wordErrors } = model;
    return {
      name: description.name,
      title,
      role: description.role,
      languages: 'languages' in description ? description.languages : [],
      licence,
      licenceFrom,
      note,
      bytes: bytesOf(model),
      isInstalled: here.has(description.name),
      usedFor: usedFor(description.name, used),
      wordErrors: wordErrors && {
        percent: wordErrors.realtimePercent,
        recordings: wordErrors.recordings,
        words: wordErrors.words,
        on: wordErrors.on,
      },
      measured,
    };
  });
}

/** Languages and roles that a model is used for. */
export function usedFor(name: string, used: UsedNames): string[] {
  const of = (names: Readonly<Record<string, string>> = {}): string[] =>
    Object.keys(names).filter((each) => names[each] === name);
  const speakers = used.embedding === name || used.segmentation === name ? ['speakers'] : [];
  const turns = used['end-of-turn'] === name ? ['end-of-turn'] : [];
  return [...of(used.recognition), ...of(used.voices), ...speakers, ...turns];
}
