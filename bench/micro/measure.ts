// npm run bench -- micro [--json]
// What each part of the path does with 20 ms of a call costs, in nanoseconds.
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { compile } from '../capacity/compiled.ts';
import { printDocument, readOptions } from '../document.ts';
import type { Cost } from './frame-child.ts';

readOptions({});
const CHILD = 'bench/micro/frame-child';

const child = fork(join(compile([CHILD]), `${CHILD}.js`), { execArgv: ['--no-warnings', '--expose-gc'] });
const costs = await new Promise<readonly Cost[]>((resolve, reject) => {
  child.once('message', (message) => resolve(message as readonly Cost[]));
  child.once('exit', (code) => reject(new Error(`the measurement ended with ${code}`)));
});
printDocument({ costs: Object.fromEntries(costs.map(({ what, ns, leastNs }) => [what, { ns, leastNs }])) });
process.exit(0);
