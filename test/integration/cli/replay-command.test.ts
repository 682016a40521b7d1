import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { writeFixture } from '../../../src/rehearsal/replay/fixture-file.ts';
import { keptCall } from '../../unit/rehearsal/replay/kept-calls.ts';
import { lastJson, runCommand } from '../../support/command.ts';

it('replays a kept call, and says where other settings decide differently', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-replay-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const call = await writeFixture(folder, 'interrupted', await keptCall('interrupted'));
  const same = await runCommand(['replay', call]);
  const [other, none, wrong] = await Promise.all([
    runCommand(['replay', call, '--json', '--set', 'endpointingMs=900', 'interruption.clearAfterMs=200']),
    runCommand(['replay', fileURLToPath(import.meta.url), '--json']),
    runCommand(['replay', call, '--set', 'endpointingMs']),
  ]);
  expect(same.stdout).toContain('decides the same, at the same moments');
  expect(same.code).toBe(0);
  expect(lastJson(other)).toMatchObject({
    ok: false,
    equal: false,
    divergence: { turn: 1, was: { type: 'commit' }, is: { type: 'commit' } },
    turns: [{ standing: 'equal' }, { standing: 'diverges' }, { standing: 'counterfactual' }],
  });
  expect(other.code).toBe(1);
  expect(lastJson(none)).toMatchObject({ ok: false, code: 'OFFHOOK_FIXTURE_INVALID' });
  expect(none.code).toBe(1);
  expect(wrong.code).toBe(2);
});
