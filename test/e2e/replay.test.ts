import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { writeFixture } from '../../src/replay/fixture-file.ts';
import { keptCall } from '../unit/replay/kept-calls.ts';
import { lastJson, runOffhook } from './run-offhook.ts';

// Each starts a process, which compiles the program first when it has changed.
vi.setConfig({ testTimeout: 120_000 });

it('runs a kept call again, and says where other settings would have decided otherwise', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-replay-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const call = await writeFixture(folder, 'interrupted', await keptCall('interrupted'));
  const same = await runOffhook(['replay', call]);
  const [other, none, wrong] = await Promise.all([
    runOffhook(['replay', call, '--json', '--set', 'endpointingMs=900', 'interruption.clearAfterMs=200']),
    runOffhook(['replay', fileURLToPath(import.meta.url), '--json']),
    runOffhook(['replay', call, '--set', 'endpointingMs']),
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
