import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { knowledgeTool, loadKnowledge, markdownPassages } from '../../../../src/dialog/knowledge/knowledge.ts';
import { SearchIndex } from '../../../../src/dialog/knowledge/search-index.ts';
import type { DialogTurn } from '../../../../src/dialog/port.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'offhook-knowledge-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(files: Readonly<Record<string, string | Buffer>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

/** A PDF of one page with one line, as small as readers take it. */
function pdf(line: string): Buffer {
  const stream = `BT /F1 12 Tf 72 720 Td (${line}) Tj ET`;
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>',
    `<</Length ${stream.length}>>\nstream\n${stream}\nendstream`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const at = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(at).padStart(10, '0')} 00000 n \n`;
  });
  const start = text.length;
  text += `xref\n0 6\n0000000000 65535 f \n${offsets.join('')}trailer\n<</Size 6/Root 1 0 R>>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(text, 'latin1');
}

it('finds passages of Markdown, CSV and PDF by their words, with where they stand', async () => {
  write({
    'shop.md': '# Shop\n\n## Opening hours\n\nWe are open from nine to six.\n\n## Returns\n\nBring it back within thirty days.',
    'hindi/samay.md': '# समय\n\nदुकान सुबह नौ बजे खुलती है।',
    'prices.csv': 'item,price\nlamp,499\nchair,"1,299"\n',
    'manual.pdf': pdf('The lamp uses a halogen bulb'),
    '.hidden.md': 'halogen secrets',
    'picture.png': 'no text',
  });
  const index = await loadKnowledge(folder);
  const found = (query: string): string | undefined => index.search(query, 3).map(({ source, text }) => `${source}: ${text}`)[0];
  expect(found('When are your opening hours?')).toBe('shop.md › Shop › Opening hours: We are open from nine to six.');
  expect(found('can I return it')).toMatch(/^shop\.md › Shop › Returns/u);
  expect(found('price of chairs')).toBe('prices.csv, line 3: item: chair; price: 1,299');
  expect(found('halogen')).toBe('manual.pdf, page 1: The lamp uses a halogen bulb');
  expect(found('दुकान कब खुलती है')).toMatch(/^hindi\/samay\.md › समय/u);
  // Common words alone are no answer.
  expect(found('what is the of it')).toBeUndefined();
});

it('ranks the passage first that has the rarer words more densely', () => {
  const text = (words: string): string => `${words} ${'filler '.repeat(20)}`;
  const passages = [text('delivery delivery costs'), text('delivery to islands'), text('islands are far'), text('nothing')];
  const index = new SearchIndex(passages.map((each, at) => ({ source: `p${at}`, text: each })));
  expect(index.search('delivery islands', 4).map(({ source }) => source)).toEqual(['p1', 'p0', 'p2']);
});

it('cuts long sections behind sentences, joins short ones, and leaves headings in code alone', () => {
  const long = 'A sentence of some words. '.repeat(120);
  const pieces = markdownPassages(`# One\n\nshort\n\nshorter\n\n${long}\n\n\`\`\`\n# no heading\n\`\`\``, 'a.md');
  expect(pieces.every(({ text }) => text.length <= 1_400)).toBe(true);
  expect(pieces[0]?.text).toBe('short\nshorter');
  expect(pieces.slice(1, 3).every(({ text }) => text.endsWith('.'))).toBe(true);
  expect(new Set(pieces.map(({ source }) => source))).toEqual(new Set(['a.md › One']));
  expect(pieces.map(({ text }) => text.replaceAll(/\s+/gu, '')).join('')).toBe(
    `shortshorter${long}\`\`\`#noheading\`\`\``.replaceAll(/\s+/gu, ''),
  );
});

it.each([
  { files: {}, told: /holds no document/u },
  { files: { 'bad.md': Buffer.from([0xff, 0xfe, 0x41]) }, told: /bad\.md cannot be used/u },
  { files: { 'rows.csv': 'a,b\n1\n' }, told: /rows\.csv cannot be used: line 2/u },
  { files: { 'broken.pdf': '%PDF-1.4 broken' }, told: /broken\.pdf cannot be used/u },
  { files: { 'empty.md': '\n' }, told: /empty\.md cannot be used: it has no text/u },
])('names what it cannot read: $told', async ({ files, told }) => {
  write(files);
  await expect(loadKnowledge(folder)).rejects.toThrow(told);
});

it('searches ten thousand passages and gives the model the best with their sources', async () => {
  const passages = Array.from({ length: 10_000 }, (_, at) => ({
    source: `f${at}.md`,
    text: `topic ${at} about deliveries and returns number ${at * 7}`,
  }));
  const tool = knowledgeTool(new SearchIndex(passages), 2);
  const ask = (args: object): Promise<string> => tool.run(args, {} as DialogTurn, 1_000, new AbortController().signal);
  expect(await ask({ query: 'deliveries of topic 4321' })).toMatch(/^\[f4321\.md\]\ntopic 4321/u);
  expect(await ask({ query: 'zebra' })).toMatch(/^error: nothing was found/u);
  expect(await ask({})).toMatch(/^error: the arguments/u);
});
