import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { carriers } from '../../src/carriers/registry.ts';
import { buildProgram } from '../../src/cli/program.ts';

const pages = [
  'README.md',
  'CHANGELOG.md',
  ...['docs', 'bench', 'deploy', 'examples'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md') && !file.includes('node_modules'))
      .map((file) => join(folder, file)),
  ),
];
const readme = readFileSync('README.md', 'utf8');

describe('the documents', () => {
  it.each(pages)('%s links to files that exist', (page) => {
    const links = [...readFileSync(page, 'utf8').matchAll(/\]\(([^)#\s]+)[^)]*\)/gu)].map(([, link = '']) => link);
    expect(links.filter((link) => !/^[a-z]+:/u.test(link) && !existsSync(join(dirname(page), link)))).toEqual([]);
  });

  it.each(pages)('%s links to headings that exist', (page) => {
    const links = [...readFileSync(page, 'utf8').matchAll(/\]\(([^)#:\s]*)#([^)\s]+)\)/gu)];
    const dead = links.filter(([, link = '', anchor = '']) => {
      const target = link === '' ? page : join(dirname(page), link);
      return target.endsWith('.md') && !anchorsOf(target).has(anchor);
    });
    expect(dead.map(([link]) => link)).toEqual([]);
  });

  it('list every command', async () => {
    const page = readFileSync('docs/commands.md', 'utf8');
    const { commands } = await buildProgram([]);
    expect(commands.map((command) => command.name()).filter((name) => !page.includes(`\`${name}`))).toEqual([]);
  });
});

describe('the README', () => {
  it('is at most 150 lines', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(150);
  });

  it('counts the carriers that the registry has beside the browser', () => {
    expect(readme).toContain(`[${carriers.filter(({ name }) => name !== 'browser').length} carriers]`);
  });
});

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): ReadonlySet<string> {
  const headings = [...readFileSync(page, 'utf8').matchAll(/^#+ (.+)$/gmu)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}
