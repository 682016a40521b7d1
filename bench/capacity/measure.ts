// npm run bench:capacity -- [--json] [--pairs 7] [--seconds 30] [--sizes 200,500] [--no-limit]
// What a call costs the gateway, beside a bare echo server in the same run, and how many of them a core carries.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compile } from './compiled.ts';
import { machine } from './processor.ts';
import { measureRow, type Row, type RowOrder } from './row.ts';
import type { SubjectName } from './subject.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    pairs: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '30' },
    sizes: { type: 'string', default: '200,500' },
    'no-limit': { type: 'boolean', default: false },
  },
});
const pairs = Number(values.pairs);
const measureMs = Number(values.seconds) * 1000;
const WARM_UP_MS = 5_000;
/** Share of the core at which it carries as many calls as it should. */
const FULL = 0.6;
const STEP = 100;
const MOST_CALLS = 1_500;
const MOST_LOOP_MS = 20;

/** The middle of the rows that count, with the least and the most. */
interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
  readonly n: number;
}

const HERE = 'bench/capacity';
const folder = join(compile([`${HERE}/echo-child`, `${HERE}/gateway-child`], [`${HERE}/bots`]), HERE);
const rows: Row[] = [];

async function run(subject: SubjectName, calls: number, workload: RowOrder['workload'] = 'W2'): Promise<Row> {
  const row = await measureRow({ folder, subject, workload, calls, warmUpMs: WARM_UP_MS, measureMs });
  rows.push(row);
  const { usPerCallSecond, loopP99Ms, generatorCpu, others } = row;
  const facts = `${subject} ${workload} ${calls}: ${usPerCallSecond} us a call-second, ${Math.round(100 * row.cpu)} % of a core`;
  const health = `loop p99 ${loopP99Ms} ms, generator ${Math.round(100 * generatorCpu)} %, others ${Math.round(100 * others)} %, ${row.rssPerCallKb} KB a call`;
  console.error(`${facts}, ${health}${row.void.length === 0 ? '' : ` — void: ${row.void.join('; ')}`}`);
  return row;
}

/** Ratio of the gateway to the echo server at one size, pair by pair; a pair with a void row does not count. */
async function ratioAt(calls: number): Promise<Spread | null> {
  const ratios: number[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const order: SubjectName[] = pair % 2 === 0 ? ['echo', 'gateway'] : ['gateway', 'echo'];
    const pairRows = new Map<SubjectName, Row>();
    for (const subject of order) pairRows.set(subject, await run(subject, calls));
    const [echo, gateway] = [pairRows.get('echo')!, pairRows.get('gateway')!];
    if (echo.void.length === 0 && gateway.void.length === 0) ratios.push(gateway.usPerCallSecond / echo.usPerCallSecond);
  }
  return spread(ratios);
}

/** Calls at which the core is as full as it should be, between two steps; null when a row before that was not healthy. */
async function limit(): Promise<number | null> {
  let before = { calls: 0, cpu: 0 };
  for (let calls = 3 * STEP; calls <= MOST_CALLS; calls += STEP) {
    const row = await run('gateway', calls);
    if (row.void.length > 0 || row.loopP99Ms > MOST_LOOP_MS) return null;
    if (row.cpu >= FULL)
      return Math.round(before.calls + ((calls - before.calls) * (FULL - before.cpu)) / (row.cpu - before.cpu));
    before = { calls, cpu: row.cpu };
  }
  return null;
}

function spread(numbers: readonly number[]): Spread | null {
  if (numbers.length === 0) return null;
  const sorted = [...numbers].sort((a, b) => a - b).map((value) => Math.round(value * 1000) / 1000);
  return { median: sorted[(sorted.length - 1) >> 1]!, least: sorted[0]!, most: sorted.at(-1)!, n: sorted.length };
}

const ratios = new Map<number, Spread | null>();
for (const size of values.sizes.split(',').map(Number)) ratios.set(size, await ratioAt(size));
const conversation = await run('gateway', 200, 'W1');
const calls = values['no-limit'] ? null : await limit();
const gatewayRows = rows.filter(({ subject }) => subject === 'gateway');
const counted = gatewayRows.filter((row) => row.void.length === 0);
const document = {
  machine: machine(),
  commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim(),
  pairs,
  secondsARow: measureMs / 1000,
  cpuRatio: Object.fromEntries([...ratios].map(([size, ratio]) => [`n${size}`, ratio])),
  // The peer is no dependency of this project.
  peerRatio: null,
  calls,
  cpuPerCall: spread(counted.map(({ usPerCallSecond }) => usPerCallSecond)),
  rssPerCallKb: spread(counted.map(({ rssPerCallKb }) => rssPerCallKb)),
  longestGcMs: Math.max(...gatewayRows.map(({ longestGcMs }) => longestGcMs)),
  latencyMs: conversation.latencyMs,
  holes: counted.reduce((sum, { holes, starvedByGateway }) => sum + holes + starvedByGateway, 0),
  checksumOk: gatewayRows.every(({ checksumOk }) => checksumOk),
  voidRows: rows.filter((row) => row.void.length > 0).length,
  rows,
};
if (values.json) console.log(JSON.stringify(document));
else console.log(JSON.stringify({ ...document, rows: rows.length }, null, 2));
process.exit(0);
