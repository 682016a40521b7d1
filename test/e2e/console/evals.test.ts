import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wavFile } from '../../../src/audio/wav.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { EvalRuns } from '../../../src/rehearsal/evals/eval-runs.ts';
import { type SavedRun, savedRunOf } from '../../../src/rehearsal/evals/saved-run.ts';
import { type GatewayBench, startGatewayBench } from '../../integration/hosts/gateway-bench.ts';
import { chromiumProgram, type ConsoleBrowser, startConsoleBrowser } from '../../support/console.ts';
import { DESK, EvalFolder } from '../../unit/rehearsal/evals/eval-folder.ts';

const SUITE = `scenarios:
  - { name: asks for the hours, caller: { turns: [hours] }, expect: { end: finished, hears: [open all day] } }
  - name: visits
    about: The day that is read back is the day that was said.
    caller: { turns: [visit, { when: Which day, say: tomorrow }, { when: Right, say: 'yes' }] }
    expect: { end: finished, hears: [I have Friday. Right?] }
`;

describe.runIf(chromiumProgram !== undefined)('evals in the console', () => {
  const folder = new EvalFolder({ 'bots/desk.yaml': DESK });
  let bench: GatewayBench;
  let browser: ConsoleBrowser;

  const keep = async (atMs: number, before: readonly SavedRun[]): Promise<SavedRun> => {
    const runs = new EvalRuns(bench.dataDir);
    const run = await runs.begin({ seed: 5, asked: 'all' }, atMs);
    writeFileSync(join(run.folder, '1.wav'), wavFile(new Int16Array(16_000), 8_000, 2));
    const saved = savedRunOf(await folder.run(SUITE), {
      id: run.id,
      startedAtMs: atMs,
      endedAtMs: atMs + 2_000,
      depth: 'sound',
      seed: 5,
      stopped: false,
      botFacts: () => ({ tenant: 'default', version: before.length === 0 ? '0123456789ab' : 'ba9876543210' }),
      before,
      soundOf: () => '1.wav',
    });
    await run.finish(saved);
    return saved;
  };

  beforeAll(async () => {
    [bench, browser] = await Promise.all([startGatewayBench({ clock: systemClock }), startConsoleBrowser()]);
    const good = await keep(Date.UTC(2026, 10, 23, 9), []);
    folder.write('bots/desk.yaml', DESK.replace('I have {{ day }}', 'I have Wednesday'));
    await keep(Date.UTC(2026, 10, 23, 10), [good]);
  });

  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await bench[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  it('shows runs by bot version with what changed, and of a failure the line that shows it, and its sound', async () => {
    await using opened = await browser.open({ url: bench.gateway.url, dataDir: bench.dataDir }, 'operator', '/evals');
    const { page, complaints, foreign } = opened;
    await page.getByText('1 broken').waitFor();
    expect(await page.getByRole('row').nth(1).textContent()).toContain('ba9876543210');
    await opened.lookOver('evals');
    await page.getByRole('row').nth(1).getByRole('link').click();
    const failed = page.getByRole('region', { name: 'visits' });
    await failed.getByText('I have Wednesday. Right?', { exact: true }).waitFor();
    expect(await failed.textContent()).toContain('passed before');
    expect(await failed.textContent()).toContain('the caller to hear "I have Friday. Right?"');
    const sound = await failed.locator('audio').getAttribute('src');
    const answer = await page.request.get(`${bench.gateway.url}${sound}`);
    expect([answer.status(), answer.headers()['content-type']]).toEqual([200, 'audio/wav']);
    await opened.lookOver('eval');
    expect(complaints).toEqual([]);
    expect(foreign).toEqual([]);
  });
});
