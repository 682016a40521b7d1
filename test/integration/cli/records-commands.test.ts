import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/databases.ts';
import { lastJson, runCommand } from '../../support/command.ts';

it('exits with 1 when the call to erase does not exist, and with 2 for an empty id', async () => {
  await using folder = await temporaryFolder();
  const env = { OFFHOOK_DATA_DIR: folder.path };
  const unset = await runCommand(['erase', '--call', ''], env);
  expect(unset).toEqual({ code: 2, stdout: '', stderr: 'offhook erase: "" is no id of a call\n' });
  const unknown = await runCommand(['erase', '--call', 'foo', '--json'], env);
  expect([unknown.code, lastJson(unknown)]).toEqual([
    1,
    { erased: [], held: [], live: [], missing: ['foo'], suppressions: 0, consents: 0, contacts: 0 },
  ]);
});

it('answers several commands on one store', async () => {
  await using folder = await temporaryFolder();
  const env = { OFFHOOK_DATA_DIR: folder.path };
  const all = await Promise.all([1, 2, 3].map(() => runCommand(['hold', 'list', '--json'], env)));
  for (const finished of all) expect([finished.code, lastJson(finished)]).toEqual([0, { ok: true, held: [] }]);
});

it('names a broken API key file in one line', async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, 'api-keys.json'), '{');
  const finished = await runCommand(['api-keys', 'list'], { OFFHOOK_DATA_DIR: folder.path });
  expect(finished).toMatchObject({ code: 1, stdout: '' });
  expect(finished.stderr).toMatch(/^offhook api-keys list: [^\n]*api-keys\.json holds no API keys that can be read: [^\n]*\n$/u);
});
