import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mkdir, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { endOfTurnModelOf } from '../../../src/hosts/calls.ts';
import { temporaryFolder } from '../../../src/kernel/temporary.ts';

it('hears the end of turns by the installed model, by the one that is set in its place, and by none that is not whole', async () => {
  await using folder = await temporaryFolder(tmpdir(), 'offhook-turns');
  const warnings: string[] = [];
  const logger = { warn: (_fields: object, message: string) => void warnings.push(message) };
  const modelOf = (env: Readonly<Record<string, string>> = {}) =>
    endOfTurnModelOf(loadConfig({ env: { OFFHOOK_DATA_DIR: folder.path, ...env }, files: [] }).settings, logger);
  expect(await modelOf()).toBeUndefined();
  const models = join(folder.path, 'models');
  await mkdir(join(models, 'turns'), { recursive: true });
  await writeFile(join(models, 'used.json'), JSON.stringify({ 'end-of-turn': 'turns' }));
  expect([await modelOf(), warnings.splice(0)]).toEqual([undefined, [expect.stringContaining('turns end by silence')]]);
  const description = { name: 'turns', role: 'end-of-turn', kind: 'end-of-turn', files: { model: 'turns.onnx' } };
  await writeFile(join(models, 'turns/model.json'), JSON.stringify(description));
  await writeFile(join(models, 'turns/turns.onnx'), '');
  expect(await modelOf()).toBe(join(models, 'turns/turns.onnx'));
  expect(await modelOf({ OFFHOOK_CALL__END_OF_TURN_MODEL: '/mine.onnx' })).toBe('/mine.onnx');
  expect(warnings).toEqual([]);
});
