import { mkdtempSync, readdirSync, rmSync, writeFileSync, appendFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { callKey, EvalRuns, EVALS_FOLDER } from '../../../../src/rehearsal/evals/eval-runs.ts';
import { savedRunOf, type SavedRun } from '../../../../src/rehearsal/evals/saved-run.ts';
import { DESK, EvalFolder } from './eval-folder.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'offhook-eval-runs-'));
const folder = new EvalFolder({ 'bots/desk.yaml': DESK });
afterAll(() => {
  rmSync(dataDir, { recursive: true, force: true });
  folder[Symbol.dispose]();
});

const SUITE = (end: string): string => `scenarios:
  - { name: hours, caller: { turns: [hours] }, expect: { end: ${end} } }
  - { name: goodbye, caller: { turns: [hours] }, expect: { hears: [Goodbye] } }`;

async function savedOf(end: string, id: string, before: readonly SavedRun[] = []): Promise<SavedRun> {
  return savedRunOf(await folder.run(SUITE(end)), {
    id,
    startedAtMs: 1_000,
    endedAtMs: 2_000,
    depth: 'text',
    seed: 1,
    stopped: false,
    botFacts: () => ({ tenant: 'default', version: 'abc' }),
    before,
    soundOf: () => undefined,
  });
}

describe('runs of evals in the data folder', () => {
  const runs = new EvalRuns(dataDir);

  it('are listed newest first, with what changed since the run before', async () => {
    const first = await runs.begin({ seed: 1, asked: 'a' }, Date.UTC(2026, 0, 1, 9));
    const good = await savedOf('finished', first.id);
    await first.finish(good);
    const second = await runs.begin({ seed: 1, asked: 'a' }, Date.UTC(2026, 0, 1, 10));
    await second.finish(await savedOf('transferred', second.id, [good]));
    const listed = await runs.list();
    expect(listed.map(({ id }) => id)).toEqual([second.id, first.id]);
    expect(listed[0]?.suites).toEqual([
      expect.objectContaining({ bot: 'desk', verdicts: { passed: 1, failed: 1, flaky: 0, skipped: 0 }, broken: 1, mended: 0 }),
    ]);
    const run = await runs.read(second.id);
    expect(run?.scenarios).toMatchObject([
      {
        name: 'hours',
        verdict: 'failed',
        before: 'passed',
        calls: [{ seed: 1, end: 'finished', unmet: [{ got: 'it ended with "finished"' }] }],
      },
      { name: 'goodbye', verdict: 'passed', calls: [] },
    ]);
    expect(run?.scenarios[0]?.calls[0]?.lines[0]).toMatchObject({
      who: 'bot',
      text: 'Hello, this is the desk. Hours, or a visit?',
    });
  });

  it('go on where they were stopped, also after a line that was cut short', async () => {
    const [result] = await folder.run(SUITE('finished'));
    const started = await runs.begin({ seed: 7, asked: 'b' }, Date.UTC(2026, 0, 1, 11));
    const key = callKey({ path: 'desk.yaml', version: '1' }, 'hours', 7);
    started.add(key, result!.runs[0]!);
    appendFileSync(join(started.folder, 'calls.jsonl'), '{"of":"cut');
    const resumed = await runs.resume('b');
    expect(resumed?.seed).toBe(7);
    expect([...(resumed?.made.keys() ?? [])]).toEqual([key]);
    expect(resumed?.made.get(key)).toMatchObject({ seed: 1, ok: true });
    expect(await runs.resume('another')).toBeUndefined();
    await resumed?.finish(await savedOf('finished', started.id));
    expect(await runs.resume('b')).toBeUndefined();
  });

  it('are fifty at most, and take no name from outside as a path', async () => {
    for (let minute = 0; minute < 55; minute += 1)
      await runs.begin({ seed: minute, asked: 'c' }, Date.UTC(2026, 0, 2, 9, minute));
    expect(readdirSync(join(dataDir, EVALS_FOLDER))).toHaveLength(50);
    writeFileSync(join(dataDir, 'secret.wav'), 'x');
    expect(await runs.read('../..')).toBeUndefined();
    expect(await runs.sound('20260101-090000-abcdef', '../../secret.wav')).toBeUndefined();
  });
});
