import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { readForms, setList, setValue } from '../../../src/console/pages/bots/edit/bot-yaml.ts';
import { hunksOf, lineDiff } from '../../../src/console/pages/bots/edit/line-diff.ts';
import { type SchemaNode, suggestionsAt } from '../../../src/console/pages/bots/edit/schema-completion.ts';

const CLINIC = readFileSync('config/bots/clinic.yaml', 'utf8');
const SCHEMA: SchemaNode = JSON.parse(readFileSync('config/schemas/bot.json', 'utf8'));

describe('forms of a bot file', () => {
  it('finds the greeting, the texts of steps, the choices and the settings', () => {
    const forms = readForms(CLINIC);
    expect(forms?.kind).toBe('flow');
    expect(forms?.greeting[0]?.value).toMatch(/^\S/u);
    expect(forms?.steps.find(({ id }) => id === 'welcome')?.texts.length).toBeGreaterThan(0);
    expect(forms?.choices[0]?.options[0]?.items.length).toBeGreaterThan(0);
    expect(forms?.valueAt(['voice'])).not.toBe('');
    expect(readForms('dialog: [')).toBeUndefined();
  });

  it('changes every text in its place, and nothing else', () => {
    const forms = readForms(CLINIC);
    for (const { path } of forms?.steps.flatMap(({ texts }) => texts.slice(0, 1)) ?? []) {
      const changed = setValue(CLINIC, path, 'Good day: "you"\nand # yours.');
      const differing = lineDiff(CLINIC, changed).filter(({ kind }) => kind !== 'same');
      expect(differing.every(({ text }) => !text.trim().startsWith('#'))).toBe(true);
      expect(readForms(changed)?.valueAt(path)).toBe('Good day: "you"\nand # yours.');
    }
    const options = forms?.choices.flatMap((choice) => choice.options.slice(0, 2)) ?? [];
    for (const { path } of options) {
      const changed = setList(CLINIC, path, ['yes, please', 'no', '- dash']);
      const found = readForms(changed)?.choices.flatMap((choice) => choice.options);
      expect(found?.find((each) => each.path.join() === path.join())?.items).toEqual(['yes, please', 'no', '- dash']);
    }
  });

  it('reads back any text as it was typed', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 40 }), (typed) => {
        const source = '# the desk\nname: desk # ours\nvoice: anna\ndialog: { kind: llm, greeting: Hello., model: x }\n';
        const changed = setValue(source, ['dialog', 'greeting'], typed);
        expect(parse(changed)).toEqual({ name: 'desk', voice: 'anna', dialog: { kind: 'llm', greeting: typed, model: 'x' } });
        expect(changed).toContain('# the desk\nname: desk # ours\n');
        const listed = setList(changed, ['hints'], [typed, 'two']);
        expect(parse(listed).hints).toEqual([typed, 'two']);
      }),
      { numRuns: 150 },
    );
  });

  it('adds a setting that was not there, and takes one out', () => {
    const added = setValue('name: desk\n', ['noInputMs'], 9000);
    expect(added).toBe('name: desk\nnoInputMs: 9000\n');
    expect(setValue(added, ['noInputMs'], '')).toBe('name: desk\n');
    expect(parse(setValue(added, ['interruption', 'allow'], 'never'))).toMatchObject({ interruption: { allow: 'never' } });
  });
});

describe('the diff of two versions', () => {
  it('turns the older text into the newer, whatever they are', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 }).map((all) => all.join('\n'));
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const diff = lineDiff(before, after);
        const side = (kind: 'added' | 'removed'): string =>
          diff.flatMap((line) => (line.kind === 'same' || line.kind === kind ? [line.text] : [])).join('\n');
        expect([side('removed'), side('added')]).toEqual([before, after]);
      }),
      { numRuns: 300 },
    );
  });

  it('shows changes with the lines around them', () => {
    const before = Array.from({ length: 30 }, (_, index) => `line ${index}`).join('\n');
    const hunks = hunksOf(lineDiff(before, before.replace('line 15', 'line fifteen')), 2);
    expect(hunks.map((line) => line?.text)).toEqual([
      'line 13',
      'line 14',
      'line 15',
      'line fifteen',
      'line 16',
      'line 17',
      undefined,
    ]);
  });
});

describe('completion of a bot file', () => {
  const at = (text: string): string[] => suggestionsAt(SCHEMA, text, text.length).all.map(({ label }) => label);

  it('knows the keys of a place', () => {
    expect(at('name: desk\nend')).toContain('endpointingMs');
    expect(at('interruption:\n  ')).toEqual(expect.arrayContaining(['allow', 'stopPhrases']));
    expect(at('dialog:\n  kind: flow\n  flow:\n    states:\n      greet:\n        ')).toEqual(
      expect.arrayContaining(['say', 'ask', 'next']),
    );
    expect(at('dialog:\n  kind: flow\n  flow:\n    states:\n      greet:\n        ask:\n          ')).toContain('prompt');
  });

  it('knows the words of a key', () => {
    expect(at('interruption:\n  allow: ')).toEqual(['always', 'keypad', 'never']);
    expect(at('recording: al')).toContain('always');
    expect(at('default: ')).toEqual(['true', 'false']);
    expect(at('# a comment: ')).toEqual([]);
  });
});
