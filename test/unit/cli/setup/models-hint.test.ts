import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { modelsHint, usedModelsFolder } from '../../../../src/cli/setup/speech-settings.ts';
import { loadConfig } from '../../../../src/config/load.ts';
import { libraryPlaces } from '../../../../src/speech/models/model-library.ts';

let dataDir = '';
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'offhook-hint-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const config = (env: Readonly<Record<string, string>> = {}) =>
  loadConfig({ env: { OFFHOOK_DATA_DIR: dataDir, ...env }, files: [] });

const use = (used: object): void => writeFileSync(join(dataDir, 'models/used.json'), JSON.stringify(used));

describe('a start without models', () => {
  it('names the command that makes people understood', async () => {
    expect(await modelsHint(config())).toMatch(/^Callers are people: npx offhook models get en makes them understood\./);
    expect(await usedModelsFolder(config().settings)).toBeUndefined();
  });

  it.each([
    ['with a model in use', {}, true],
    ['with a folder of models', { OFFHOOK_PLATFORM__MODELS_FOLDER: '/models' }, false],
    ['with a hosted platform', { OFFHOOK_ASR_URL: 'https://asr.example' }, false],
    ['with a vendor that recognises', { OFFHOOK_SPEECH__RECOGNISER: 'deepgram' }, false],
  ])('says nothing %s', async (_, env, used) => {
    mkdirSync(join(dataDir, 'models'));
    if (used) use({ recognition: { en: 'any' } });
    expect(await modelsHint(config(env))).toBeUndefined();
  });

  it('finds models from whatever folder the library is looked for', async () => {
    mkdirSync(join(dataDir, 'models'));
    use({ recognition: { en: 'any' } });
    const near = config({ OFFHOOK_DATA_DIR: relative(process.cwd(), dataDir) });
    expect(await usedModelsFolder(near.settings)).toBe(join(dataDir, 'models'));
    const [place = ''] = libraryPlaces(relative(process.cwd(), join(dataDir, 'models')));
    expect(place).toBe(join(dataDir, 'models/package.json'));
  });

  it('finds the models of the data folder as soon as one is used', async () => {
    mkdirSync(join(dataDir, 'models/.partial'), { recursive: true });
    expect(await usedModelsFolder(config().settings)).toBeUndefined();
    use({ recognition: { en: 'any' } });
    expect(await usedModelsFolder(config().settings)).toBe(join(dataDir, 'models'));
  });

  it('leaves an end-of-turn model to the calls: the platform starts without models', async () => {
    const folder = join(dataDir, 'models');
    mkdirSync(folder);
    use({ 'end-of-turn': 'any' });
    expect(await usedModelsFolder(config().settings)).toBeUndefined();
    const named = config({ OFFHOOK_PLATFORM__MODELS_FOLDER: folder });
    expect(await usedModelsFolder(named.settings)).toBeUndefined();
    expect(await modelsHint(named)).toMatch(/^Callers are people/);
    use({ 'end-of-turn': 'any', voices: { en: 'any' } });
    expect(await usedModelsFolder(config().settings)).toBe(folder);
  });
});
