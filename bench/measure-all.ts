// npm run bench -- [--json] [--save] [--only capacity,latency] [--sizes 200,500] [--pairs 7] [--quick]
// Runs the benchmarks of the gateway one after the other, and prints one document with what each of them printed.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { baselineFile, lastDocument } from './baselines.ts';
import { about, readOptions } from './document.ts';

/** `save` keeps the document among the baselines; `quick` shows only that all of it runs. */
const values = readOptions({ save: false, only: '', sizes: '200,500', pairs: '7', quick: false });

const QUICK_CAPACITY = ['--pairs', '1', '--seconds', '5', '--sizes', '20', '--no-limit'];
const CAPACITY = ['--sizes', values.sizes, '--pairs', values.pairs];
const BENCHES = [
  { name: 'capacity', file: 'capacity/measure.ts', options: CAPACITY, quick: QUICK_CAPACITY },
  { name: 'latency', file: 'latency/measure.ts', options: [], quick: ['--sizes', '1,10', '--seconds', '10'] },
  { name: 'micro', file: 'micro/measure.ts', options: [], quick: [] },
  { name: 'memory', file: 'memory/measure.ts', options: [], quick: ['--sizes', '10', '--rounds', '1'] },
  { name: 'startup', file: 'startup/measure.ts', options: [], quick: ['--times', '1'] },
];

/** @returns what a benchmark printed, or null where it failed */
function measure({ name, file, options, quick }: (typeof BENCHES)[number]): unknown {
  console.error(`== ${name}`);
  const path = fileURLToPath(new URL(file, import.meta.url));
  const measured = [...options, ...(values.quick ? quick : [])];
  const { status, stdout } = spawnSync(process.execPath, ['--import', import.meta.resolve('tsx'), path, '--json', ...measured], {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status === 0) return lastDocument(stdout);
  console.error(`${name} ended with ${status}`);
  process.exitCode = 1;
  return null;
}

const wanted = values.only === '' ? BENCHES.map(({ name }) => name) : values.only.split(',');
const unknown = wanted.find((name) => BENCHES.every((bench) => bench.name !== name));
if (unknown !== undefined) throw new Error(`there is no benchmark ${unknown}: ${BENCHES.map(({ name }) => name).join(', ')}`);
const started = about();
const benches: Record<string, unknown> = {};
for (const bench of BENCHES) if (wanted.includes(bench.name)) benches[bench.name] = measure(bench);
const document = { ...started, at: new Date().toISOString(), benches };
if (values.save) {
  const file = baselineFile(started.commit);
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
  console.error(`kept as ${fileURLToPath(file)}`);
}
console.log(JSON.stringify(document));
