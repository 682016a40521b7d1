// npm run bench -- latency [--json] [--sizes 1,50,200] [--seconds 60] [--rows FILE]
// What the gateway adds to each hop of a conversation, with one call and with many.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compile } from '../capacity/compiled.ts';
import { machine } from '../capacity/processor.ts';
import { measureRow, type Row } from '../capacity/row.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    sizes: { type: 'string', default: '1,50,200' },
    seconds: { type: 'string', default: '60' },
    rows: { type: 'string' },
  },
});
const WARM_UP_MS = 5_000;
/** In ms, of the 99th percentile. */
const GOALS = { toRecogniser: 5, toCarrier: 5, turn: 25, clear: 25 } as const;
const HOPS = ['toRecogniser', 'toCarrier', 'turn', 'clear'] as const;

const HERE = 'bench/capacity';
const folder = join(compile([`${HERE}/echo-child`, `${HERE}/gateway-child`], [`${HERE}/bots`]), HERE);
const rows: Row[] = [];

async function run(subject: 'echo' | 'gateway', calls: number): Promise<Row> {
  const measureMs = Number(values.seconds) * 1000;
  const row = await measureRow({ folder, subject, workload: 'exchange', calls, warmUpMs: WARM_UP_MS, measureMs });
  rows.push(row);
  const hops = subject === 'echo' ? { 'there and back': row.echoMs } : row.latencyMs;
  const told = Object.entries(hops).map(([hop, { p50, p95, p99, n }]) => `${hop} ${p50} / ${p95} / ${p99} (n ${n})`);
  console.error(`${subject}, ${calls} calls, p50 / p95 / p99 in ms: ${told.join(', ')}`);
  const { cpu, loopP99Ms, generatorLateP99Ms, others } = row;
  const health = `core ${Math.round(100 * cpu)} %, loop p99 ${loopP99Ms} ms, generator late p99 ${generatorLateP99Ms} ms, others ${others}`;
  console.error(`  ${health}${row.void.length === 0 ? '' : ` — void: ${row.void.join('; ')}`}`);
  return row;
}

const measured: Record<string, object> = {};
const gateways: Row[] = [];
for (const calls of values.sizes.split(',').map(Number)) {
  const echo = await run('echo', calls);
  const gateway = await run('gateway', calls);
  gateways.push(gateway);
  if (gateway.void.length === 0)
    measured[`n${calls}`] = { ...gateway.latencyMs, echo: echo.void.length === 0 ? echo.echoMs : null };
}
if (values.rows !== undefined) writeFileSync(values.rows, `${JSON.stringify({ machine: machine(), rows }, null, 2)}\n`);
const reached = HOPS.map((hop) => {
  const all = gateways.every((row) => row.void.length === 0 && (row.latencyMs[hop].p99 ?? Infinity) <= GOALS[hop]);
  return [hop, all] as const;
});
const voidRows = rows.filter((row) => row.void.length > 0).length;
const document = { ...measured, reached: Object.fromEntries(reached), voidRows };
console.log(values.json ? JSON.stringify(document) : JSON.stringify(document, null, 2));
process.exit(0);
