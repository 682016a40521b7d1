// npm run -s bench -- capacity/measure-ways [--calls 200] [--seconds 120] [--workload W2] [--rest 5] [--stages]
// What one way of doing something costs beside another, in one gateway with the same calls; README.md, "Two ways in one process".
import { fork } from 'node:child_process';
import { once } from 'node:events';
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
    /** Way 1 reads all sockets so often, in ms, and nothing between. */
    rest: { type: 'string', default: '0' },
    stages: { type: 'boolean', default: false },
  },
});
const HERE = 'bench/capacity';
if (values.stages) {
  const child = fork(join(compile([`${HERE}/stages-child`]), HERE, 'stages-child.js'), { execArgv: ['--no-warnings'] });
  const [costs] = await once(child, 'message');
  console.log(JSON.stringify(costs));
  process.exit(0);
}
process.env['BENCH_REST_MS'] = values.rest;
const row = await measureRow({
  folder: join(compile([`${HERE}/gateway-child`], [`${HERE}/bots`]), HERE),
  subject: 'gateway',
  workload: workloadNamed(values.workload),
  calls: Number(values.calls),
  warmUpMs: 10_000,
  measureMs: Number(values.seconds) * 1000,
  twoWays: true,
});
const { usPerCallSecond, checksumOk, holes, unanswered, ways, void: faults } = row;
console.log(JSON.stringify({ usPerCallSecond, checksumOk, holes, unanswered, ways: ways ?? null, void: faults }));
process.exit(0);
