// npm run bench -- micro [--json]
// What each part of the path does with 20 ms of a call costs, in nanoseconds.
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compile } from '../capacity/compiled.ts';
import { machine } from '../capacity/processor.ts';
import type { Cost } from './frame-child.ts';

const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } });
const CHILD = 'bench/micro/frame-child';

const child = fork(join(compile([CHILD]), `${CHILD}.js`), { execArgv: ['--no-warnings', '--expose-gc'] });
const costs = await new Promise<readonly Cost[]>((resolve, reject) => {
  child.once('message', (message) => resolve(message as readonly Cost[]));
  child.once('exit', (code) => reject(new Error(`the measurement ended with ${code}`)));
});
const byPart = Object.fromEntries(costs.map(({ what, ns, leastNs }) => [what, { ns, leastNs }]));
if (values.json) console.log(JSON.stringify({ machine: machine(), costs: byPart }));
else for (const { what, ns, leastNs } of costs) console.log(`${String(ns).padStart(8)} (${leastNs}) ns  ${what}`);
process.exit(0);
