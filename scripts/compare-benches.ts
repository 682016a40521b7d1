// npx tsx scripts/compare-benches.ts before.json after.json
// Compares two documents that a benchmark printed with --json, measure by measure.
import { readFileSync } from 'node:fs';
import { compareDocuments } from '../bench/compare-documents.ts';

const [before, after] = process.argv.slice(2);
if (before === undefined || after === undefined) {
  process.stderr.write('usage: npx tsx scripts/compare-benches.ts before.json after.json\n');
  process.exit(2);
}

/** The document is the last line, as `npm run` writes lines of its own before it; or all of the file. */
function read(path: string): unknown {
  const text = readFileSync(path, 'utf8').trim();
  const last = text.split('\n').at(-1) ?? '';
  return JSON.parse(last.startsWith('{') && last.endsWith('}') ? last : text);
}

const verdicts = { true: 'ranges apart', false: 'within the spread', null: '' };
const rows = compareDocuments(read(before), read(after)).map(({ measure, before, after, ratio, apart }) => [
  measure,
  String(before ?? '–'),
  String(after ?? '–'),
  ratio === null ? '' : `${ratio > 1 ? '+' : ''}${(100 * (ratio - 1)).toFixed(1)} %`,
  verdicts[`${apart}`],
]);
const table = [['measure', 'before', 'after', 'change', ''], ...rows];
const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
for (const row of table) {
  const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
  process.stdout.write(`${cells.join('  ').trimEnd()}\n`);
}
