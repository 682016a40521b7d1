// npm run bench:latency -- [--json] [--sizes 1,50,200] [--seconds 60] [--rows FILE]
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
const folder = join(compile([`${HERE}/gateway-child`], [`${HERE}/bots`]), HERE);
const rows: Row[] = [];
for (const calls of values.sizes.split(',').map(Number)) {
  const measureMs = Number(values.seconds) * 1000;
  const row = await measureRow({ folder, subject: 'gateway', workload: 'exchange', calls, warmUpMs: WARM_UP_MS, measureMs });
  rows.push(row);
  const hops = HOPS.map((hop) => {
    const { p50, p95, p99, n } = row.latencyMs[hop];
    return `${hop} ${p50} / ${p95} / ${p99} (n ${n})`;
  });
  console.error(`${calls} calls, p50 / p95 / p99 in ms: ${hops.join(', ')}`);
  const { cpu, loopP99Ms, generatorLateP99Ms, others } = row;
  const health = `core ${Math.round(100 * cpu)} %, loop p99 ${loopP99Ms} ms, generator late p99 ${generatorLateP99Ms} ms, others ${others}`;
  console.error(`  ${health}${row.void.length === 0 ? '' : ` — void: ${row.void.join('; ')}`}`);
}
if (values.rows !== undefined) writeFileSync(values.rows, `${JSON.stringify({ machine: machine(), rows }, null, 2)}\n`);
const counted = rows.filter((row) => row.void.length === 0);
const reached = HOPS.map((hop) => {
  const all = counted.length === rows.length && counted.every(({ latencyMs }) => (latencyMs[hop].p99 ?? Infinity) <= GOALS[hop]);
  return [hop, all] as const;
});
const document = {
  ...Object.fromEntries(counted.map(({ calls, latencyMs }) => [`n${calls}`, latencyMs])),
  reached: Object.fromEntries(reached),
  voidRows: rows.length - counted.length,
};
console.log(values.json ? JSON.stringify(document) : JSON.stringify(document, null, 2));
process.exit(0);
