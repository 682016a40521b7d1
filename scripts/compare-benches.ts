// npx tsx scripts/compare-benches.ts BEFORE AFTER
// Compares two documents of benchmarks measure by measure. Each is the file of one that was printed with --json, or a commit for which
// one was kept in bench/baselines.
import { z } from 'zod';
import { readDocument } from '../bench/baselines.ts';
import { compareDocuments } from '../bench/compare-documents.ts';

const [before, after] = process.argv.slice(2);
if (before === undefined || after === undefined) {
  process.stderr.write('usage: npx tsx scripts/compare-benches.ts BEFORE AFTER, each a file or a commit\n');
  process.exit(2);
}

const [old, fresh] = [readDocument(before), readDocument(after)];
const origin = z.object({ machine: z.string().optional(), commit: z.string().optional() });
const [was, is] = [origin.parse(old), origin.parse(fresh)];
process.stdout.write(
  `before: ${was.commit ?? before} on ${was.machine ?? '?'}\nafter:  ${is.commit ?? after} on ${is.machine ?? '?'}\n`,
);
if (was.machine !== is.machine) process.stdout.write('not the same machine: only ratios can be compared\n');

const verdicts = { true: 'ranges apart', false: 'within the spread', null: '' };
const rows = compareDocuments(old, fresh).map(({ measure, before, after, ratio, apart }) => [
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
