// npm run bench -- latency [--json] [--sizes 1,50,200] [--seconds 60] [--rows FILE]
// What the gateway adds to each hop of a conversation, with one call and with many.
import { writeFileSync } from 'node:fs';
import { compile } from '../capacity/compiled.ts';
import { described, measureRow, type Row, ROW_FILES, type RowOrder } from '../capacity/row.ts';
import { printDocument, readOptions } from '../document.ts';

const values = readOptions({ sizes: '1,50,200', seconds: '60', rows: '' });
const WARM_UP_MS = 5_000;
/** In ms, of the 99th percentile. */
const GOALS = { toRecogniser: 5, toCarrier: 5, turn: 25, clear: 25 } as const;
const HOPS = ['toRecogniser', 'toCarrier', 'turn', 'clear'] as const;

const out = compile(...ROW_FILES);
const rows: Row[] = [];

async function run(subject: RowOrder['subject'], calls: number): Promise<Row> {
  const measureMs = Number(values.seconds) * 1000;
  const row = await measureRow({ out, subject, workload: 'exchange', calls, warmUpMs: WARM_UP_MS, measureMs });
  rows.push(row);
  console.error(described(row));
  const hops = subject === 'echo' ? { 'there and back': row.echoMs } : row.latencyMs;
  for (const [hop, { p50, p95, p99, n }] of Object.entries(hops))
    console.error(`  ${hop}: p50 ${p50}, p95 ${p95}, p99 ${p99} ms (n ${n})`);
  return row;
}

const measured: Record<string, object> = {};
for (const calls of values.sizes.split(',').map(Number)) {
  const [echo, gateway] = [await run('echo', calls), await run('gateway', calls)];
  if (gateway.void.length === 0)
    measured[`n${calls}`] = { ...gateway.latencyMs, echo: echo.void.length === 0 ? echo.echoMs : null };
}
if (values.rows !== '') writeFileSync(values.rows, `${JSON.stringify({ rows }, null, 2)}\n`);
const gateways = rows.filter(({ subject }) => subject === 'gateway');
const reached = (hop: (typeof HOPS)[number]): boolean =>
  gateways.every((row) => row.void.length === 0 && (row.latencyMs[hop].p99 ?? Infinity) <= GOALS[hop]);
printDocument({
  ...measured,
  reached: Object.fromEntries(HOPS.map((hop) => [hop, reached(hop)])),
  voidRows: rows.filter((row) => row.void.length > 0).length,
});
process.exit(0);
