// npm run bench -- capacity [--json] [--pairs 7] [--seconds 30] [--sizes 200,500] [--no-limit] [--rows FILE]
// What a call costs the gateway, beside a bare echo server in the same run, and how many calls a core carries.
import { writeFileSync } from 'node:fs';
import { printDocument, readOptions, spread } from '../document.ts';
import { compile } from './compiled.ts';
import { described, measureRow, type Row, ROW_FILES, type RowOrder } from './row.ts';

const values = readOptions({ pairs: '7', seconds: '30', sizes: '200,500', 'no-limit': false, rows: '' });
const sizes = values.sizes.split(',').map(Number);
const WARM_UP_MS = 5_000;
/** Share of the core at which it carries as many calls as it should. */
const FULL = 0.6;
const STEP = 100;
const MOST_CALLS = 1_500;
const MOST_LOOP_MS = 20;

const out = compile(...ROW_FILES);
const rows: Row[] = [];

async function run(subject: RowOrder['subject'], calls: number, workload: RowOrder['workload'] = 'W2'): Promise<Row> {
  const row = await measureRow({ out, subject, calls, workload, warmUpMs: WARM_UP_MS, measureMs: Number(values.seconds) * 1000 });
  rows.push(row);
  console.error(described(row));
  return row;
}

/** The gateway's processor time over the echo server's, by turns, pair by pair; a pair with a void row does not count. */
async function compare(calls: number): Promise<number[]> {
  const ratios: number[] = [];
  for (let pair = 0; pair < Number(values.pairs); pair += 1) {
    const measured = new Map<string, Row>();
    for (const subject of pair % 2 === 0 ? (['echo', 'gateway'] as const) : (['gateway', 'echo'] as const))
      measured.set(subject, await run(subject, calls));
    const [gateway, echo] = [measured.get('gateway'), measured.get('echo')];
    if (gateway?.void.length === 0 && echo?.void.length === 0) ratios.push(gateway.usPerCallSecond / echo.usPerCallSecond);
  }
  return ratios;
}

/** Calls at which the core is as full as it should be, between two steps; null when a row before that was not healthy. */
async function limit(): Promise<number | null> {
  let before = { calls: 0, cpu: 0 };
  for (let calls = STEP; calls <= MOST_CALLS; calls += STEP) {
    const row = await run('gateway', calls);
    if (row.void.length > 0 || row.loopP99Ms > MOST_LOOP_MS) return null;
    if (row.cpu >= FULL)
      return Math.round(before.calls + ((calls - before.calls) * (FULL - before.cpu)) / (row.cpu - before.cpu));
    before = { calls, cpu: row.cpu };
  }
  return null;
}

const cpuRatio: Record<string, unknown> = {};
for (const calls of sizes) cpuRatio[`n${calls}`] = spread(await compare(calls), 3);
const { latencyMs, void: voided } = await run('gateway', sizes[0] ?? 200, 'W1');
const calls = values['no-limit'] ? null : await limit();
const gateway = rows.filter(({ subject }) => subject === 'gateway');
const counted = gateway.filter((row) => row.void.length === 0);
const cpuPerCall = Object.fromEntries(
  sizes.map((size) => {
    const steady = counted.filter((row) => row.workload === 'W2' && row.calls === size);
    return [`n${size}`, spread(steady.map(({ usPerCallSecond }) => usPerCallSecond))];
  }),
);
if (values.rows !== '') writeFileSync(values.rows, `${JSON.stringify({ rows }, null, 2)}\n`);
printDocument({
  cpuRatio,
  calls,
  cpuPerCall,
  latencyMs: voided.length === 0 ? latencyMs : null,
  holes: counted.length === 0 ? null : counted.reduce((sum, row) => sum + row.holes + row.starvedByGateway, 0),
  checksumOk: gateway.length > 0 && gateway.every(({ checksumOk }) => checksumOk),
  voidRows: rows.filter((row) => row.void.length > 0).length,
});
process.exit(0);
