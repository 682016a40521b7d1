import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { loadBots } from '../../../../src/config/bot-files.ts';
import type { Bot } from '../../../../src/config/bots.ts';
import { diallingSettings } from '../../../../src/config/dialling-settings.ts';
import { problemText } from '../../../../src/config/problem.ts';
import { settingsSchema } from '../../../../src/config/schema.ts';
import { countedAs } from '../../../../src/outbound/attempt-steps.ts';
import { type EvalOptions, runSuites, type ScenarioResult } from '../../../../src/rehearsal/evals/run-suites.ts';
import { readFixture } from '../../../../src/rehearsal/replay/fixture-file.ts';
import { systemClock } from '../../../../src/kernel/clock.ts';
import { readSuites, type Suite } from '../../../../src/rehearsal/evals/suite-file.ts';

/** A bot that asks for a day and a time, reads them back, and books them at its server where there is one. */
export const DESK = `name: desk
voice: Nisha
dialog:
  kind: flow
  flow:
    start: welcome
    slots:
      wish: { kind: choice, options: { hours: { phrases: [hours] }, visit: { key: '2', phrases: [visit] } } }
      day: { kind: day }
      number: { kind: digits }
    states:
      welcome:
        say: Hello, this is the desk.
        ask: { slot: wish, prompt: 'Hours, or a visit?', notUnderstood: [Sorry?] }
        next: { hours: hours, visit: day }
      hours: { say: We are open all day., next: bye }
      day: { ask: { slot: day, prompt: Which day? }, next: check }
      check: { confirm: { prompt: 'I have {{ day }}. Right?', which: The day?, parts: { day: day }, yes: book } }
      book:
        request: { path: /visits, tries: 2, answer: { number: number }, failed: { 409: taken, otherwise: broken }, unset: booked }
        next: booked
      taken: { clear: [day], say: That day is taken., next: day }
      broken: { note: No calendar., say: The calendar is closed., next: bye }
      booked: { say: You are booked., next: bye }
      bye: { say: Goodbye., hangup: finished }
  server: { urlEnv: DESK_URL }
`;

/** A folder with bots and suites for one test file. */
export class EvalFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'offhook-evals-'));

  constructor(files: Readonly<Record<string, string>>) {
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }

  /** @returns the path of the file */
  write(name: string, text: string): string {
    const path = join(this.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  get bots(): readonly Bot[] {
    return loadBots(join(this.path, 'bots')).bots;
  }

  /** The problems of a suite, without the folder's path. */
  async problemsOf(suite: string, name = 'evals/desk.yaml'): Promise<string[]> {
    const { problems } = await readSuites([this.write(name, suite)], this.bots);
    return problems.map((problem) => problemText(problem).replaceAll(`${this.path}/`, ''));
  }

  async read(suite: string, name = 'evals/desk.yaml'): Promise<readonly Suite[]> {
    const { suites, problems } = await readSuites([this.write(name, suite)], this.bots);
    if (problems.length > 0) throw new Error(problems.map(problemText).join('\n'));
    return suites;
  }

  async run(suite: string, options: Partial<EvalOptions> = {}): Promise<readonly ScenarioResult[]> {
    return runAll(await this.read(suite), this.bots, options);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

export function runAll(
  suites: readonly Suite[],
  bots: readonly Bot[],
  options: Partial<EvalOptions> = {},
): Promise<readonly ScenarioResult[]> {
  const settings = { bots: settingsSchema.shape.bots.parse({}), dialling: diallingSettings.parse({}) };
  return runSuites(suites, {
    gateway: { settings, bots },
    runs: undefined,
    seed: 1,
    share: undefined,
    jobs: 1,
    deadlineMs: 30_000,
    env: {},
    dispositionOf: (record) => countedAs(record, record.callBackAtWallMs),
    fixture: (path) => readFixture(path, systemClock.wallMs()),
    signal: new AbortController().signal,
    onCall: () => undefined,
    ...options,
  });
}

/** Unmet expectations of all runs, for messages. */
export function unmetOf(results: readonly ScenarioResult[]): string[] {
  return results.flatMap(({ scenario, runs }) =>
    runs.flatMap(({ unmet }) => unmet.map(({ expected, got }) => `${scenario.name}: expected ${expected}, got ${got}`)),
  );
}
