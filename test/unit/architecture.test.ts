import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ARROWS } from '../support/arrows.ts';

const page = readFileSync('docs/architecture.md', 'utf8');
const sections = new Map(
  page.split(/^#{2,3} /mu).map((section) => {
    const [heading = '', ...lines] = section.split('\n');
    return [heading, lines.join('\n')];
  }),
);
const ways = [...sections].flatMap(([heading, text]) => {
  const [, way = '', count = ''] = /^(.+): (\d+) files$/u.exec(heading) ?? [];
  return way === '' ? [] : [{ way, count: Number(count), files: filesIn(text) }];
});

describe('docs/architecture.md', () => {
  it('is at most 1,800 words', () => {
    expect(page.split(/\s+/u).filter((word) => /\w/u.test(word)).length).toBeLessThanOrEqual(1800);
  });

  it('names only files and folders that exist, below the project or below src', () => {
    const paths = [...page.matchAll(/`([\w./-]+)`/gu)]
      .map(([, path = '']) => path)
      .filter((path) => /[/.]/u.test(path) && !path.startsWith('offhook/'));
    expect(paths.length).toBeGreaterThan(60);
    expect(paths.filter((path) => !existsSync(path) && !existsSync(join('src', path)))).toEqual([]);
  });

  it('lists the halls of the table of arrows, and no other', () => {
    const rows = [...(sections.get('The halls') ?? '').matchAll(/^\| `([^`]+)` /gmu)].map(([, hall]) => hall);
    expect(new Set(rows)).toEqual(new Set(Object.keys(ARROWS)));
  });

  it('shows five ways through the code', () => {
    expect(ways).toHaveLength(5);
  });

  it.each(ways)('counts the files of the way "$way"', ({ count, files }) => {
    expect(files.size).toBe(count);
  });
});

/** The files of a way, each once. */
function filesIn(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/`([\w/-]+\.ts)`/gu)].map(([, file = '']) => file));
}
