// npm run -s bench:ways -- [--calls 200] [--seconds 120] [--workload W2]
// What one way of doing something costs beside another, in one gateway with the same calls; README.md, "Two ways in one process".
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compile } from './compiled.ts';
import { measureRow } from './row.ts';
import { workloadNamed } from './workload.ts';

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '120' },
    workload: { type: 'string', default: 'W2' },
  },
});
const HERE = 'bench/capacity';
const row = await measureRow({
  folder: join(compile([`${HERE}/gateway-child`], [`${HERE}/bots`]), HERE),
  subject: 'gateway',
  workload: workloadNamed(values.workload),
  calls: Number(values.calls),
  warmUpMs: 10_000,
  measureMs: Number(values.seconds) * 1000,
  twoWays: true,
});
const { usPerCallSecond, checksumOk, ways, void: faults } = row;
console.log(JSON.stringify({ usPerCallSecond, checksumOk, ways: ways ?? null, void: faults }));
process.exit(0);
