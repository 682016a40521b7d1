import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { addressOf, bytesOf, pinnedCatalogue, readCatalogue, sourcesOf } from '../../../../src/speech/models/catalogue.ts';
import { ONNX_RUNTIME, SHERPA } from '../../../../src/speech/models/model-library.ts';
import { languages } from '../../../../src/platform/languages.ts';

const root = join(import.meta.dirname, '../../../..');
const path = 'config/models.yaml';
const text = readFileSync(join(root, path), 'utf8');
const catalogue = readCatalogue(text, path);

describe('the manifest of models', () => {
  it('says who published each hash, and gives no size without a source', () => {
    for (const model of catalogue.models) {
      for (const each of sourcesOf(model).flat()) {
        expect([addressOf(each), each.hashFrom === undefined]).toEqual([addressOf(each), each.sha256 === undefined]);
        if (each.hashFrom !== undefined) expect(Object.keys(catalogue.hashSources)).toContain(each.hashFrom);
      }
    }
  });

  it('names languages of the platform alone', () => {
    const known = new Set(['auto', ...languages.map(({ code }) => code)]);
    for (const { description } of catalogue.models) {
      if (!('languages' in description)) continue;
      expect([description.name, description.languages.filter((code) => !known.has(code))]).toEqual([description.name, []]);
      expect(new Set(description.languages).size).toBe(description.languages.length);
    }
  });

  it('has for each set models of that language, one of a role', () => {
    for (const [language, names] of Object.entries(catalogue.sets)) {
      const members = catalogue.models.filter(({ description }) => names.includes(description.name));
      if (members.some(({ description }) => description.role === language)) continue;
      for (const { description } of members) expect('languages' in description && description.languages).toContain(language);
      expect(new Set(members.map(({ description }) => description.role)).size).toBe(names.length);
      expect(members.some(({ description }) => description.role === 'recognition')).toBe(true);
    }
  });

  it('comes from hosts whose redirects are known', () => {
    const downloads = catalogue.models.flatMap((model) => sourcesOf(model).flat()).filter((each) => !('package' in each));
    const hosts = downloads.map((each) => new URL(addressOf(each)).hostname);
    expect([...new Set(hosts)].toSorted()).toEqual(Object.keys(catalogue.redirects).toSorted());
  });

  it.each<[string, (text: string) => string, RegExp]>([
    [
      'a path that leaves the folder',
      (all) => all.replace('tokens: tokens.txt', 'tokens: ../tokens.txt'),
      /moonshine-v2.*files\.tokens: a path inside/,
    ],
    ['an address without encryption', (all) => all.replace('archive: https:', 'archive: http:'), /moonshine-v2.*elsewhere\.0\.0/],
    ['a hash that is none', (all) => all.replace(/sha256: \w+/u, 'sha256: abc'), /moonshine-v2.*downloads\.0/],
    [
      'a set of what is not there',
      (all) => all.replace('en: [', 'en: [nobody, '),
      /set en names nobody, which is not among the models/,
    ],
    ['a name twice', (all) => all.replaceAll('indicconformer-bn', 'indicconformer-hi'), /indicconformer-hi is there twice/],
    ['a name that the folder needs', (all) => all.replaceAll('indicconformer-bn', 'voices'), /voices: this name is reserved/],
    ['no YAML', () => 'models: [', /config\/models\.yaml/],
  ])('is refused with %s', (_, change, message) => {
    expect(() => readCatalogue(change(text), path)).toThrow(message);
  });

  it('takes a verified hash where it had none, keeps its comments, and refuses another one', () => {
    const model = catalogue.models.find(({ description }) => description.name === 'indicconformer-pa');
    const url = addressOf(model?.downloads[0] ?? { archive: '' });
    const pinned = { sha256: 'a'.repeat(64), bytes: 7, hashFrom: 'the list of the publisher' };
    const after = pinnedCatalogue(text, url, pinned);
    expect(after.split('\n').filter((line) => line.startsWith('#'))).toEqual(
      text.split('\n').filter((line) => line.startsWith('#')),
    );
    const again = readCatalogue(after, path).models.find(({ description }) => description.name === 'indicconformer-pa');
    expect(again?.downloads[0]).toMatchObject(pinned);
    expect(() => pinnedCatalogue(after, url, { ...pinned, sha256: 'b'.repeat(64) })).toThrow(/has another hash for .*: a{64}/);
  });
});

it('the library that opens models is installed at the version that package.json has', () => {
  const versions = z.record(z.string(), z.string());
  const manifest = z.object({ devDependencies: versions, peerDependencies: versions });
  const { devDependencies, peerDependencies } = manifest.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  expect(devDependencies[SHERPA.name]).toBe(SHERPA.version);
  expect(peerDependencies[ONNX_RUNTIME.name]).toBe(ONNX_RUNTIME.version);
});

it('docs/models.md has the table that the manifest makes', async () => {
  const [before = '', rest = ''] = readFileSync(join(root, 'docs/models.md'), 'utf8').split('<!-- models:begin -->');
  const recommended = new Set(Object.values(catalogue.sets).flat());
  const rows = catalogue.models.map((model) => {
    const { description } = model;
    const languages = 'languages' in description ? description.languages : [];
    const shown = languages.length > 6 ? `${languages.slice(0, 6).join(', ')}, …` : languages.join(', ');
    const bytes = bytesOf(model);
    const sources = new Set(model.downloads.map((each) => each.hashFrom ?? 'nobody found'));
    return [
      `\`${description.name}\`${recommended.has(description.name) ? ' ★' : ''}`,
      description.role === description.kind ? description.role : `${description.role}: ${description.kind}`,
      shown,
      bytes === undefined ? 'unknown' : `${Math.round(bytes / 1e6)} MB`,
      model.wordErrors === undefined ? '' : `${model.wordErrors.batchPercent} %`,
      model.measured ?? '',
      model.licence,
      [...sources].join(', '),
    ];
  });
  const table = [
    ['Model', 'Kind', 'Languages', 'Size', 'Words wrong', 'Memory and processor', 'Licence', 'Hash from'],
    ['-', '-', '-', '-', '-', '-', '-', '-'],
    ...rows,
  ];
  const sources = Object.entries(catalogue.hashSources).map(([name, meaning]) => `- \`${name}\`: ${meaning}.`);
  const made = [
    ...table.map((row) => `| ${row.join(' | ')} |`),
    '',
    '“Hash from” says who published the SHA-256:',
    '',
    ...sources,
  ].join('\n');
  const page = `${before}<!-- models:begin -->\n\n${made}\n\n<!-- models:end -->${rest.split('<!-- models:end -->')[1] ?? ''}`;
  await expect(formatted(page)).toMatchFileSnapshot(join(root, 'docs/models.md'));
});

/** As the repository's formatter leaves it. */
function formatted(page: string): string {
  return execFileSync('npx', ['oxfmt', '--stdin-filepath', 'docs/models.md'], { cwd: root, input: page, encoding: 'utf8' });
}
