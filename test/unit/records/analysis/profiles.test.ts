import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { fromPackage } from '../../../../src/cli/setup/package-root.ts';
import { AnalysisProfileError } from '../../../../src/records/errors.ts';
import { AnalysisProfiles, parseProfile, profileHash } from '../../../../src/records/analysis/analysis-profiles.ts';
import { analysisProfile } from '../../../../src/records/analysis/profile.ts';

const folder = fromPackage('config/analysis');

describe('the profiles that come with the program', () => {
  it('are all sound, each in the file of its name, and leave every bot to the default one', async () => {
    const book = await AnalysisProfiles.load(folder, {});
    const files = readdirSync(folder).map((name) => name.replace(/\.yaml$/u, ''));
    expect([...book.names].sort()).toEqual(files.sort());
    expect(book.forBot('clinic').loaded.profile.name).toBe('default');
    // What the plain book has for a process without the folder.
    const { loaded } = AnalysisProfiles.plain().forBot('any');
    expect(loaded.profile.channels.roles).toEqual(book.named('default')?.loaded.profile.channels.roles);
  });
});

it('docs/analysis.md shows profiles that can be used: every key with a value it takes', () => {
  const page = readFileSync(fromPackage('docs/analysis.md'), 'utf8');
  const blocks = [...page.matchAll(/```yaml\n(.*?)```/gsu)].map(([, yaml = '']) => yaml);
  expect(blocks).toHaveLength(2);
  const [keys = '', fields = ''] = blocks;
  // Told of further down.
  const whole = keys.replaceAll(/^(?:fields|checklist|disposition): # see below$/gmu, '');
  const { profile } = parseProfile(`${whole}\n${fields}`, 'docs/analysis.md', { MODEL_KEY: 'k' });
  const told = new Set([...Object.keys(profile), 'disposition']);
  expect(Object.keys(analysisProfile.shape).filter((key) => !told.has(key))).toEqual([]);
  expect(profile.fields.map(({ name }) => name)).toEqual(['order', 'reason']);
});

function problemsOf(yaml: string, env = {}): string[] {
  try {
    parseProfile(yaml, 'p.yaml', env);
    return [];
  } catch (error) {
    if (!(error instanceof AnalysisProfileError)) throw error;
    return error.problems.map(
      ({ where, message, nearest }) => `${where} ${message}${nearest === undefined ? '' : ` (${nearest})`}`,
    );
  }
}

describe('parseProfile', () => {
  test.each([
    { note: 'no YAML', yaml: 'a: [', problem: /:\d+ not readable as YAML/ },
    { note: 'an unknown key', yaml: 'name: p\nredactoin: {}', problem: /^p\.yaml:2 no such key .* \(redaction\)$/ },
    {
      note: 'a broken pattern',
      yaml: 'name: p\nfields:\n  - name: f\n    type: text\n    rules: [{ pattern: "(" }]',
      problem: /:5 .*regular expression/,
    },
    {
      note: 'a pattern that cannot run in linear time',
      yaml: 'name: p\nfields:\n  - name: f\n    type: text\n    rules: [{ pattern: "(?<=order )x" }]',
      problem: /:5 "\(\?<=order \)x" cannot be used: it looks ahead or behind\..*linear time/,
    },
    { note: 'a field from nowhere', yaml: 'name: p\nfields:\n  - { name: f, type: text }', problem: /:3 .*needs a rule/ },
    {
      note: 'a choice without choices',
      yaml: 'name: p\nfields:\n  - { name: f, type: choice, rules: [{ understand: choice }] }',
      problem: /needs choices/,
    },
    {
      note: 'a model field without a model',
      yaml: 'name: p\nfields:\n  - { name: f, type: text, from: model }',
      problem: /needs a model/,
    },
    {
      note: 'two fields of one name',
      yaml: 'name: p\nfields:\n  - { name: f, type: text, rules: [{ pattern: a }] }\n  - { name: f, type: text, rules: [{ pattern: a }] }',
      problem: /:4 a second field called f/,
    },
    {
      note: 'two conditions in one',
      yaml: 'name: p\nchecklist:\n  - { id: i, question: q, pass: { intent: a, sentiment: b } }',
      problem: /exactly one condition/,
    },
    {
      note: 'a condition on an unknown field',
      yaml: 'name: p\nchecklist:\n  - { id: i, question: q, pass: { field: { name: nobody } } }',
      problem: /:3 there is no field nobody/,
    },
    {
      note: 'a condition on an unknown role',
      yaml: 'name: p\nchecklist:\n  - { id: i, question: q, pass: { not: { said: { phrases: [a], by: seller } } } }',
      problem: /:3 there is no role seller/,
    },
    {
      note: 'insights of the medical route',
      yaml: 'name: p\nroute: medical\ninsights: { sentiment: true }',
      problem: /:3 the medical route has no insights/,
    },
    { note: 'an unknown time zone', yaml: 'name: p\ntimeZone: Mars/Olympus', problem: /:2 .*time zone/ },
    {
      note: 'a secret that is not set',
      yaml: 'name: p\nmodel: { baseUrl: "http://127.0.0.1:1", name: m, secretEnv: MODEL_KEY }',
      problem: /neither MODEL_KEY nor MODEL_KEY_FILE/,
    },
  ])('tells of $note with its line', ({ yaml, problem }) => {
    expect(problemsOf(yaml)).toEqual([expect.stringMatching(problem)]);
  });

  it('has one hash for the same settings however written, and another for others', () => {
    const { profile, hash } = parseProfile('name: p\nlanguage: en\ninsights: { summary: true }', 'a');
    expect(parseProfile('insights:\n  summary: {}\nlanguage: "en"\nname: p # me', 'b').hash).toBe(hash);
    expect(parseProfile('name: p\nlanguage: hi', 'c').hash).not.toBe(hash);
    expect(profileHash(profile)).toBe(hash);
  });

  it('keeps the secret out of everything that prints', () => {
    const yaml = 'name: p\nmodel: { baseUrl: "http://127.0.0.1:1", name: m, secretEnv: MODEL_KEY }';
    const loaded = parseProfile(yaml, 'p.yaml', { MODEL_KEY: 'the-key-itself' });
    expect(JSON.stringify(loaded)).not.toContain('the-key-itself');
    expect(loaded.modelSecret?.reveal()).toBe('the-key-itself');
  });
});
