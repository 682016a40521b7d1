import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type Requirement, requirements } from '../requirements.ts';

const testFolder = fileURLToPath(new URL('..', import.meta.url));
const lastId = 208;

/** A text in quotes on one line; titles are never broken over lines. */
const literal = /(['"`])((?:\\.|(?!\1).)*)\1/g;
/** A number alone in brackets, behind a space: an index such as `list[3]` is no citation. */
const citation = /(?<=\s)\[(\d{1,3})\]/g;

/** The ids cited by the titles of one test file. A test that is skipped or only planned proves nothing. */
function citedIn(source: string): number[] {
  return source.split('\n').flatMap((line) => {
    if (/^\s*(\/\/|\/?\*)/.test(line) || /\.(skip|todo)\s*\(/.test(line)) return [];
    return [...line.matchAll(literal)].flatMap(([, , title = '']) => [...title.matchAll(citation)].map(([, id]) => Number(id)));
  });
}

/** Which files cite an id. */
function citations(folder: string): Map<number, string[]> {
  const cited = new Map<number, string[]>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.test.ts') || entry.name === 'requirements.test.ts') continue;
    const path = join(entry.parentPath, entry.name);
    for (const id of citedIn(readFileSync(path, 'utf8'))) cited.set(id, [...(cited.get(id) ?? []), relative(folder, path)]);
  }
  return cited;
}

/** Everything that is wrong with the list, one line each, with the ids to move. */
function problemsOf(list: readonly Requirement[], cited: ReadonlyMap<number, readonly string[]>): string[] {
  const known = new Set(list.map(({ id }) => id));
  const idsWhere = (wrong: (entry: Requirement) => boolean): number[] => list.filter(wrong).map(({ id }) => id);
  const told = (ids: readonly number[], text: string): string[] => (ids.length === 0 ? [] : [`${text}: ${ids.join(', ')}`]);
  const every = Array.from({ length: lastId }, (_, index) => index + 1);
  const unknown = [...cited].filter(([id]) => !known.has(id)).map(([id, files]) => `${id} in ${files.join(' and ')}`);
  return [
    ...(unknown.length === 0 ? [] : [`cited, but no such statement: ${unknown.join('; ')}`]),
    ...told(
      every.filter((id) => !known.has(id)),
      'missing from test/requirements.ts',
    ),
    ...told(
      [...known].filter((id) => id < 1 || id > lastId),
      `not between 1 and ${lastId}`,
    ),
    ...told(
      idsWhere((entry) => list.find(({ id }) => id === entry.id) !== entry),
      'listed twice',
    ),
    ...told(
      idsWhere(({ id, status }) => status === 'proven' && !cited.has(id)),
      "no test cites these: move from 'proven' to 'open', or cite them",
    ),
    ...told(
      idsWhere(({ id, status }) => status === 'open' && cited.has(id)),
      "tests cite these: move from 'open' to 'proven'",
    ),
    ...told(
      idsWhere(({ id, status }) => status === 'not-applicable' && cited.has(id)),
      "tests cite these: move from 'not-applicable' to 'proven'",
    ),
    ...told(
      idsWhere(({ status, reason }) => (status === 'not-applicable') !== (reason !== undefined && reason.trim() !== '')),
      "a reason belongs to 'not-applicable', and only there",
    ),
  ];
}

describe('the list of requirements', () => {
  it('agrees with what the tests cite', () => {
    const problems = problemsOf(requirements, citations(testFolder));
    expect(problems, `\n${problems.join('\n')}\n`).toEqual([]);
  });

  const sound = requirements.map(({ id, side, title }): Requirement => ({ id, side, title, status: 'open' }));
  const none = new Map<number, string[]>();
  const but = (id: number, change: Partial<Requirement>): Requirement[] =>
    sound.map((entry) => (entry.id === id ? { ...entry, ...change } : entry));

  it.each([
    {
      note: 'an unknown id',
      list: sound,
      cited: new Map([[209, ['a.test.ts']]]),
      problem: /no such statement: 209 in a\.test\.ts/,
    },
    { note: 'a missing id', list: sound.slice(1), cited: none, problem: /missing .*: 1$/ },
    { note: 'an id out of range', list: [...sound, { ...sound[0]!, id: 0 }], cited: none, problem: /not between .*: 0$/ },
    { note: 'an id listed twice', list: [...sound, { ...sound[6]! }], cited: none, problem: /listed twice: 7$/ },
    { note: 'proof that nothing cites', list: but(5, { status: 'proven' }), cited: none, problem: /'proven' to 'open'.*: 5$/ },
    { note: 'a citation of what is open', list: sound, cited: new Map([[5, ['a.test.ts']]]), problem: /'open' to 'proven': 5$/ },
    {
      note: 'a citation of what does not apply',
      list: but(5, { status: 'not-applicable', reason: 'no such part' }),
      cited: new Map([[5, ['a.test.ts']]]),
      problem: /'not-applicable' to 'proven': 5$/,
    },
    { note: 'no reason', list: but(5, { status: 'not-applicable' }), cited: none, problem: /a reason belongs .*: 5$/ },
  ])('is refused for $note', ({ list, cited, problem }) => {
    expect(problemsOf(list, cited)).toEqual([expect.stringMatching(problem)]);
  });

  it('counts citations in titles only', () => {
    const source = [
      "it('keeps order [12] [13]', () => {",
      "  it.each([1, 2])('is refused for %d [14], always', (size) => {",
      "  { note: 'the rate out of range [108]', rate: 7999 },",
      '  it("is the caller\'s own [15]", () => {',
      "  // told elsewhere 'as [16]'",
      "  it.skip('comes later [17]', () => {",
      "  expect(list[18]).toBe('sizes[19]');",
    ].join('\n');
    expect(citedIn(source)).toEqual([12, 13, 14, 108, 15]);
  });
});
