// Forty scenarios on the clinic with sound, over four lines. Run: npm run -s bench -- evals [--json] [--lines "clean,20 dB"] [--seed 1] [--most 40]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SoundDepth } from '../../src/cli/eval/sound-depth.ts';
import { requireConfiguration } from '../../src/cli/setup/configuration.ts';
import { stayAwake } from '../../src/kernel/clock.ts';
import { percentile } from '../../src/rehearsal/evals/evidence.ts';
import { runSuites, type ScenarioResult } from '../../src/rehearsal/evals/run-suites.ts';
import { suiteDocument } from '../../src/rehearsal/evals/suite-schema.ts';
import { printDocument, readOptions } from '../document.ts';
import { acceptedWrong, AT, LINES, scenariosOver } from './scenarios.ts';

const options = readOptions({ lines: Object.keys(LINES).join(','), seed: '1', most: '40', jobs: '10' });
const dataDir = mkdtempSync(join(tmpdir(), 'offhook-bench-evals-'));
process.env['OFFHOOK_DATA_DIR'] = dataDir;
// The shipped vocabulary has all that these callers say: nothing is learnt first.
process.env['OFFHOOK_PLATFORM__VOCABULARY'] = 'files';
try {
  await stayAwake(measure());
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}

async function measure(): Promise<void> {
  const { config, bots } = requireConfiguration();
  const called = bots.filter(({ name }) => name === 'clinic');
  await using sound = new SoundDepth({ carrier: 'twilio', bots: called });
  const lines: Record<string, ReturnType<typeof summaryOf>> = {};
  for (const name of options.lines.split(',') as (keyof typeof LINES)[]) {
    const scenarios = [...scenariosOver(LINES[name])].slice(0, Number(options.most));
    const suite = {
      ...suiteDocument.parse({ bot: 'clinic', at: AT, scenarios }),
      path: 'bench/evals',
      bot: 'clinic',
      whereOf: () => 'bench/evals',
    };
    const results = await runSuites([suite], {
      gateway: { settings: config.settings, bots: called },
      runs: 1,
      seed: Number(options.seed),
      share: undefined,
      jobs: Number(options.jobs),
      deadlineMs: 60_000,
      env: {},
      rehearse: sound.rehearse,
      dispositionOf: () => undefined,
      fixture: () => Promise.reject(new Error('no kept calls here')),
      signal: new AbortController().signal,
      onCall: ({ scenario, result, calls, of }) =>
        process.stderr.write(`${name}: ${calls} of ${of}, ${result.ok ? 'ok' : 'failed'}: ${scenario.scenario.name}\n`),
    });
    lines[name] = summaryOf(results);
    process.stderr.write(`${name}: ${JSON.stringify(lines[name])}\n`);
  }
  printDocument({ seed: Number(options.seed), lines });
}

function summaryOf(results: readonly ScenarioResult[]) {
  const calls = results.flatMap(({ scenario, runs }) => runs.map((run) => ({ scenario, run })));
  const replies = calls.flatMap(({ run }) => run.call.times.repliesMs);
  return {
    calls: calls.length,
    succeeded: calls.filter(({ run }) => run.ok).length,
    wrongAccepted: calls.filter(({ scenario, run: { call } }) => acceptedWrong(scenario, call.variables, call.end)).length,
    cutOffs: calls.reduce((sum, { run }) => sum + run.call.cutOffs, 0),
    replies: replies.length,
    replyMedianMs: percentile(replies, 0.5),
    replyP95Ms: percentile(replies, 0.95),
    failed: calls.filter(({ run }) => !run.ok).map(({ scenario, run }) => `${scenario.name}: ${run.unmet[0]?.got}`),
  };
}
