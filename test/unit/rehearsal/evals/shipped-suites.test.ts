import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { loadBots } from '../../../../src/config/bot-files.ts';
import { fromPackage } from '../../../../src/cli/setup/package-root.ts';
import { readSuites } from '../../../../src/rehearsal/evals/suite-file.ts';
import { suiteDocument } from '../../../../src/rehearsal/evals/suite-schema.ts';
import { EvalFolder, runAll, unmetOf } from './eval-folder.ts';

const bots = loadBots(fromPackage('config/bots')).bots;

describe('the shipped bots', () => {
  test.each(bots.map(({ name }) => name))('%s does in every scenario of its suite what callers need', async (name) => {
    const { suites, problems } = await readSuites([fromPackage(`config/evals/${name}.yaml`)], bots);
    expect(problems).toEqual([]);
    expect(suites[0]?.scenarios.length).toBeGreaterThanOrEqual(15);
    const results = await runAll(suites, bots);
    expect(unmetOf(results)).toEqual([]);
    // Each turn of each caller is taken: none has a condition that nothing meets.
    expect(results.flatMap(({ runs }) => runs.flatMap(({ unusedTurns }) => unusedTurns))).toEqual([]);
  });
});

describe('the templates', () => {
  // A speech-to-speech model answers nothing that could be mocked in text.
  const kinds = readdirSync(fromPackage('config/templates')).filter((kind) => !['common', 'realtime'].includes(kind));

  it('each have a suite', () => {
    for (const kind of kinds) expect(readdirSync(fromPackage(`config/templates/${kind}/config/evals`))).toEqual(['desk.yaml']);
  });

  // The module needs the installed package, and the http bot its server.
  test.each(['flow', 'llm'])('the suite of a %s passes', async (kind) => {
    const folder = fromPackage(`config/templates/${kind}/config`);
    const own = loadBots(join(folder, 'bots')).bots;
    const { suites, problems } = await readSuites([join(folder, 'evals/desk.yaml')], own);
    expect(problems).toEqual([]);
    expect(unmetOf(await runAll(suites, own))).toEqual([]);
  });
});

describe('the document of evals', () => {
  const page = readFileSync(fromPackage('docs/evals.md'), 'utf8');
  const { scenarios, ...suiteKeys } = suiteDocument.shape;
  const { expect: expectation, caller, ...scenarioKeys } = scenarios.element.shape;

  it('has an example that passes', async () => {
    using folder = new EvalFolder({});
    const [, example = ''] = /^```yaml\n(.*?)^```/msu.exec(page) ?? [];
    const { suites, problems } = await readSuites([folder.write('clinic.yaml', example)], bots);
    expect(problems).toEqual([]);
    expect(unmetOf(await runAll(suites, bots))).toEqual([]);
  });

  test.each([
    ...Object.keys(suiteKeys),
    ...Object.keys(scenarioKeys),
    ...Object.keys(expectation.shape),
    ...Object.keys(caller.shape),
  ])('has the key %s', (key) => expect(page).toMatch(new RegExp(`\`${key}[\`:]`, 'u')));
});
