// npm run bench -- peers [--json] [--sizes 20] [--steps 10,20,…] [--no-steps] [--pairs 3] [--seconds 30] [--warm-up 10] [--python python3] [--rows FILE]
// What a call costs the gateway beside Pipecat on the same generator, and how many calls a core carries without a hole.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compile } from '../capacity/compiled.ts';
import { machine } from '../capacity/processor.ts';
import type { Row } from '../capacity/row.ts';
import type { Program } from '../capacity/subject.ts';
import { type Climb, cpuRatio, PeersRun, type Side, sideEntry, SIDES } from './peers-run.ts';
import { installPipecat, pipecatBot } from './pipecat-install.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    sizes: { type: 'string', default: '20' },
    steps: { type: 'string', default: '10,20,30,50,75,100,150,200,250,300,350,400' },
    'no-steps': { type: 'boolean', default: false },
    pairs: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '30' },
    'warm-up': { type: 'string', default: '10' },
    python: { type: 'string', default: 'python3' },
    rows: { type: 'string' },
  },
});
const numbers = (name: string, text: string): number[] =>
  text.split(',').map((word) => {
    const number = Number(word);
    if (!Number.isInteger(number) || number < 1) throw new TypeError(`--${name} is whole numbers from 1, not ${text}`);
    return number;
  });
const sizes = numbers('sizes', values.sizes);
const steps = values['no-steps'] ? [] : numbers('steps', values.steps);
const [pairs = 1] = numbers('pairs', values.pairs);
const [seconds = 1] = numbers('seconds', values.seconds);
const [warmUp = 1] = numbers('warm-up', values['warm-up']);

const pipecat = installPipecat(values.python);
const programs = new Map<Side, Program>();
if ('missing' in pipecat) console.error(`no Pipecat: ${pipecat.missing}`);
else programs.set('pipecatSilero', pipecatBot(pipecat, true)).set('pipecatNoVad', pipecatBot(pipecat, false));

const CHILDREN = 'bench/capacity';
const folder = join(compile([`${CHILDREN}/gateway-child`], [`${CHILDREN}/bots`]), CHILDREN);
const run = new PeersRun({ folder, pairs, warmUpMs: warmUp * 1000, measureMs: seconds * 1000, programs });

const compared: (readonly [number, readonly (readonly Row[])[]])[] = [];
for (const calls of sizes) compared.push([calls, await run.compare(calls)]);
const climbs = new Map<Side, Climb>();
if (steps.length > 0) for (const side of run.sides) climbs.set(side, await run.climb(side, steps));

const bySide = <Value>(of: (side: Side) => Value) => Object.fromEntries(SIDES.map((side) => [side, of(side)]));
const [, firstTurns = []] = compared[0] ?? [];
const document = {
  machine: machine(),
  pipecat: 'missing' in pipecat ? null : pipecat.about,
  sizes: Object.fromEntries(
    compared.map(([calls, turns]) => [calls, bySide((side) => sideEntry(turns.flat().filter((row) => row.subject === side)))]),
  ),
  cpuRatio: { silero: cpuRatio(firstTurns, 'pipecatSilero'), noVad: cpuRatio(firstTurns, 'pipecatNoVad') },
  callsWithoutHole: named((side) => climbs.get(side)?.calls ?? null),
  endedBy: named((side) => climbs.get(side)?.endedBy ?? null),
};
if (values.rows !== undefined) writeFileSync(values.rows, `${JSON.stringify({ machine: machine(), rows: run.rows }, null, 2)}\n`);
console.log(JSON.stringify(document, null, values.json ? 0 : 2));
process.exit(0);

function named<Value>(of: (side: Side) => Value) {
  return { gateway: of('gateway'), silero: of('pipecatSilero'), noVad: of('pipecatNoVad') };
}
