import { createRequire } from 'node:module';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { describe, expect, it, test } from 'vitest';
import { jsonSchemas } from '../../scripts/json-schemas.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const yamlIn = (folder: string): [name: string, value: unknown][] =>
  readdirSync(`${root}${folder}`)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => [name, parse(readFileSync(`${root}${folder}/${name}`, 'utf8'))]);

/** @returns what the schema has against the value; empty when it takes it */
function complaints(name: string, value: unknown): string[] {
  const ajv = new Ajv({ strict: false, allErrors: true, formats: { uri: true } });
  const takes = ajv.compile(jsonSchemas[name] ?? false);
  return takes(value) ? [] : (takes.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

test.each(Object.entries(jsonSchemas))('the file config/schemas/%s.json is what the code checks', async (name, schema) => {
  await expect(`${JSON.stringify(schema, undefined, 2)}\n`).toMatchFileSnapshot(`${root}config/schemas/${name}.json`);
});

test('every schema is exported by the package', () => {
  const { resolve } = createRequire(import.meta.url);
  for (const name of Object.keys(jsonSchemas)) expect(resolve(`offhook/schemas/${name}.json`)).toContain('schemas');
});

describe('the schemas', () => {
  test.each(yamlIn('config/bots'))('take the shipped bot %s', (_, bot) => {
    expect(complaints('bot', bot)).toEqual([]);
  });

  test.each(yamlIn('config/analysis'))('take the shipped profile %s', (_, profile) => {
    expect(complaints('analysis-profile', profile)).toEqual([]);
  });

  test.each(yamlIn('config/evals'))('take the shipped suite %s', (_, suite) => {
    expect(complaints('evals', suite)).toEqual([]);
  });

  it('take the shipped settings, and settings of which most are left out', () => {
    expect(complaints('settings', parse(readFileSync(`${root}config/default.yaml`, 'utf8')))).toEqual([]);
    expect(complaints('settings', { http: { port: 8081 } })).toEqual([]);
  });

  test.each([
    { name: 'bot', value: { name: 'a', voice: 'v', dialog: { kind: 'flow', flow: { start: 'a', stats: {} } } } },
    { name: 'settings', value: { http: { prot: 8081 } } },
    { name: 'evals', value: { scenarios: [{ name: 'a', caller: { turns: ['hello'] }, expects: { end: 'done' } }] } },
    { name: 'hook-answer', value: [{ type: 'shout', text: 'Hello' }] },
    { name: 'hook-request', value: { version: 1 } },
  ])('refuse a mistake in a $name', ({ name, value }) => {
    expect(complaints(name, value)).not.toEqual([]);
  });

  it('take what a bot answers', () => {
    for (const answer of ['Hello', { type: 'say', text: 'Hello' }, { actions: ['Hello', { type: 'hangup', reason: 'done' }] }]) {
      expect(complaints('hook-answer', answer)).toEqual([]);
    }
  });
});
