import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { callKey, EvalRuns } from '../../../src/rehearsal/evals/eval-runs.ts';
import type { RunResult } from '../../../src/rehearsal/evals/run-suites.ts';
import { runCommand, lastJson } from '../../support/command.ts';
import { keptCallsFolder } from '../../unit/rehearsal/replay/kept-calls.ts';
import { DESK, EvalFolder } from '../../unit/rehearsal/evals/eval-folder.ts';

const SUITE = `bot: desk
scenarios:
  - name: asks for the hours
    tags: [smoke]
    caller: { turns: [hours] }
    expect: { end: finished, hears: [open all day] }
  - name: visits
    caller:
      turns:
        - visit
        - { when: Which day, say: tomorrow }
        - { when: Right, say: 'yes' }
    expect:
      end: finished
      hears: [I have Friday. Right?]
`;
const folder = new EvalFolder({ 'bots/desk.yaml': DESK, 'evals/desk.yaml': SUITE });
const wrong = new EvalFolder({
  'bots/desk.yaml': DESK.replace('I have {{ day }}', 'I have Wednesday'),
  'evals/desk.yaml': SUITE,
});
afterAll(() => {
  folder[Symbol.dispose]();
  wrong[Symbol.dispose]();
});

const evaluate = (at: EvalFolder, ...args: string[]) =>
  runCommand(['eval', ...args], { OFFHOOK_BOTS__FOLDER: join(at.path, 'bots'), OFFHOOK_DATA_DIR: join(at.path, 'data') });

describe('offhook eval', () => {
  it('runs the suites beside the bots, and is green', async () => {
    const { code, stdout, stderr } = await evaluate(folder, '--seed', '5');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.replaceAll(`${folder.path}/`, '').replace(/in [\d.]+ s/u, 'in 0 s')).toBe(`desk  evals/desk.yaml
  ok      asks for the hours
  ok      visits
2 scenarios: 2 passed, 0 failed; 2 calls in 0 s, seed 5
`);
  });

  it('is red where the bot reads back a wrong day, with the line that the caller heard', async () => {
    const { code, stdout } = await evaluate(wrong, '--seed', '5');
    expect(code).toBe(1);
    const at = `${wrong.path}/evals/desk.yaml`;
    expect(stdout).toContain(`  FAILED  visits
    ${at}:15: expected the caller to hear "I have Friday. Right?"
    ${' '.repeat(at.length + 5)}got      heard in turn 2: "I have Wednesday. Right?"

      bot     Hello, this is the desk. Hours, or a visit?
      caller  visit
      bot     Which day?
      caller  tomorrow
      bot     I have Wednesday. Right?
      caller  yes
      bot     You are booked. Goodbye.
      values  wish = visit, day = 2026-03-06
      end     finished
    again: npx offhook eval ${at} --only "visits" --runs 1 --seed 5
`);
    expect(stdout).toContain('2 scenarios: 1 passed, 1 failed; 2 calls');
  });

  it('makes one JSON document, and a JUnit file', async () => {
    const junit = join(wrong.path, 'evals.xml');
    const finished = await evaluate(wrong, 'desk', '--runs', '2', '--seed', '5', '--json', '--junit', junit);
    expect(finished.stdout.trim().split('\n')).toHaveLength(1);
    expect(lastJson(finished)).toMatchObject({
      ok: false,
      seed: 5,
      scenarios: 2,
      calls: 4,
      verdicts: { passed: 1, failed: 1, flaky: 0, skipped: 0 },
      results: [
        { name: 'asks for the hours', verdict: 'passed', passed: 2, runs: 2 },
        {
          name: 'visits',
          verdict: 'failed',
          passed: 0,
          calls: [
            { seed: 5, ok: false },
            { seed: 6, ok: false },
          ],
        },
      ],
    });
    expect(readFileSync(junit, 'utf8')).toContain('tests="2" failures="1"');
  });

  it('writes a page with the transcript of each failure, which needs nothing else', async () => {
    const page = join(wrong.path, 'evals.html');
    await evaluate(wrong, '--html', page);
    const html = readFileSync(page, 'utf8');
    expect(html).toContain('<h1>1 of 2 scenarios passed</h1>');
    expect(html).toContain('<li class="shown"><b>bot</b><span>I have Wednesday. Right?</span></li>');
    expect(html).toContain('expected the caller to hear &quot;I have Friday. Right?&quot;');
    expect(html).not.toMatch(/<script|<link|src=|https?:/u);
  });

  it('compares two versions of a bot: a folder, or a revision of git', async () => {
    const { code, stdout } = await evaluate(wrong, '--against', join(folder.path, 'bots'));
    expect(code).toBe(1);
    expect(stdout).toContain(
      `against ${folder.path}/bots: 1 worse, 0 better, 1 the same\n  worse   desk: visits  1 of 1 → 0 of 1\n`,
    );
    const repository = new EvalFolder({
      'bots/desk.yaml': DESK.replace('I have {{ day }}', 'I have Wednesday'),
      'evals/desk.yaml': SUITE,
    });
    try {
      const git = (...args: string[]) =>
        execFileSync('git', ['-C', repository.path, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { stdio: 'ignore' });
      git('init');
      git('add', '.');
      git('commit', '-m', 'before');
      repository.write('bots/desk.yaml', DESK);
      const better = await evaluate(repository, '--against', 'HEAD');
      expect([better.code, better.stderr]).toEqual([0, '']);
      expect(better.stdout).toContain('against HEAD: 0 worse, 1 better, 1 the same\n  better  desk: visits  0 of 1 → 1 of 1\n');
      expect((await evaluate(repository, '--against', 'none')).stderr).toContain(
        '"none" is no folder of bots, and git has no such revision',
      );
    } finally {
      repository[Symbol.dispose]();
    }
  });

  it('goes on with a run that was stopped: its calls are not made again', async () => {
    const at = new EvalFolder({ 'bots/desk.yaml': DESK, 'evals/desk.yaml': SUITE });
    try {
      expect((await evaluate(at, '--resume')).stderr).toContain('there is no stopped run of these arguments to go on with');
      const dataDir = join(at.path, 'data');
      const full = lastJson(await evaluate(at, '--json', '--runs', '2')) as { seed: number; results: { calls: object[] }[] };
      // As Ctrl-C leaves it after three of four calls: the calls, and no end.
      const runs = new EvalRuns(dataDir);
      const asked = createHash('sha256')
        .update(JSON.stringify([[], 2, undefined, undefined, undefined, undefined, 'text', 'twilio']))
        .digest('hex');
      const stopped = await runs.begin({ seed: full.seed, asked }, Date.now());
      const suite = join(at.path, 'evals/desk.yaml');
      const bot = at.bots[0]?.version ?? '';
      const version = createHash('sha256').update(readFileSync(suite)).update(bot).digest('hex');
      const marked = { ...(full.results[0]?.calls[0] as RunResult), tookMs: 123_456 };
      stopped.add(callKey({ path: suite, version }, 'asks for the hours', full.seed), marked);
      const { stderr, stdout } = await evaluate(at, '--json', '--runs', '2', '--resume');
      expect(stderr).toBe(`Going on with the run ${stopped.id}: 1 calls were made.\n`);
      const resumed = JSON.parse(stdout) as typeof full;
      expect(resumed.seed).toBe(full.seed);
      expect(resumed.results.map(({ calls }) => calls.length)).toEqual([2, 2]);
      expect(resumed.results[0]?.calls[0]).toMatchObject({ tookMs: 123_456 });
      expect((await runs.list()).map(({ id, stopped: isStopped }) => [id, isStopped])[0]).toEqual([stopped.id, false]);
    } finally {
      at[Symbol.dispose]();
    }
  });

  it('makes a scenario of a kept call, which is a test from then on', async () => {
    const at = new EvalFolder({ 'bots/desk.yaml': DESK, 'evals/desk.yaml': `# Ours.\n${SUITE}` });
    try {
      const call = join(keptCallsFolder, 'appointment.fixture.gz');
      const kept = await evaluate(at, 'keep', call, '--name', "Monday's call", '--suite', join(at.path, 'evals/desk.yaml'));
      expect([kept.code, kept.stderr]).toEqual([0, expect.stringContaining("has the caller's voice and words, unsealed")]);
      const suite = readFileSync(join(at.path, 'evals/desk.yaml'), 'utf8');
      expect(suite).toMatch(/^# Ours\.\n/u);
      expect(suite).toContain('recorded: calls/monday-s-call.fixture.gz');
      const { stdout } = await evaluate(at, '--only', "Monday's call", '--json');
      const [result] = (JSON.parse(stdout) as { results: { calls: { call: { lines: { who: string }[] } }[] }[] }).results;
      expect(result?.calls[0]?.call.lines.filter(({ who }) => who === 'caller').length).toBeGreaterThan(1);
      expect((await evaluate(at, 'keep', 'call_none')).stderr).toContain(
        '"call_none" is no file, and no call of this id was kept',
      );
    } finally {
      at[Symbol.dispose]();
    }
  });

  it('is green in a folder that init has just made, and red with the heard line where its bot is broken', async () => {
    const made = mkdtempSync(join(tmpdir(), 'offhook-evals-init-'));
    try {
      expect((await runCommand(['init', made])).code).toBe(0);
      const env = { OFFHOOK_BOTS__FOLDER: join(made, 'config/bots'), OFFHOOK_DATA_DIR: join(made, 'data') };
      const green = await runCommand(['eval'], env);
      expect([green.code, green.stderr]).toEqual([0, '']);
      const file = join(made, 'config/bots/desk.yaml');
      writeFileSync(file, readFileSync(file, 'utf8').replace('I have {{ day }} at', 'I have Sunday at'));
      const junit = join(made, 'evals.xml');
      const red = await runCommand(['eval', '--runs', '5', '--junit', junit], env);
      expect(red.code).toBe(1);
      expect(red.stdout).toContain('"I have Sunday at half past ten. Is that right?"');
      expect(red.stdout).toContain('0 of 5 calls');
      expect(readFileSync(junit, 'utf8')).toMatch(/<testsuite [^>]*failures="[1-9]/u);
    } finally {
      rmSync(made, { recursive: true, force: true });
    }
  });

  it('chooses scenarios by name and tag', async () => {
    for (const args of [
      ['--only', 'HOURS'],
      ['--tag', 'smoke'],
    ]) {
      const { stdout } = await evaluate(folder, ...args);
      expect(stdout).toContain('1 scenario: 1 passed');
      expect(stdout).not.toContain('visits');
    }
  });

  it('names the lines of a scenario that is chosen alone', async () => {
    const { stdout } = await evaluate(wrong, '--only', 'visits');
    expect(stdout).toContain('evals/desk.yaml:15: expected the caller to hear');
  });

  it('reports mistakes of suites with their lines, and calls nobody', async () => {
    const path = folder.write('other/bad.yaml', SUITE.replace('hears: [open', 'heard: [open').replace('tags', 'tgas'));
    const { code, stdout, stderr } = await evaluate(folder, path);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr.replaceAll(`${folder.path}/`, ''))
      .toBe(`scenarios.0.tgas (other/bad.yaml:4): no such key in a suite. Did you mean tags?
scenarios.0.expect.heard (other/bad.yaml:6): no such key in a suite. Did you mean hears?
2 problems in the suites; no call was made.
`);
  });

  it.each([
    { args: ['--depth', 'line'], says: 'Allowed choices are text, sound' },
    { args: ['none'], says: 'offhook eval: there is no file, folder or bot "none"' },
    { args: ['--only', 'nothing'], says: 'offhook eval: no scenario has this name or tag' },
    { args: ['--share', '2'], says: 'it is a number above 0, up to 1' },
    { args: ['--seed', '-1'], says: 'it is a whole number up to 4294967295' },
    { args: ['--runs', '0'], says: 'it is a whole number, 1 or more' },
  ])('refuses $args', async ({ args, says }) => {
    const { code, stderr } = await evaluate(folder, ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(says);
  });
});
