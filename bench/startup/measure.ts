// npm run bench -- startup [--json] [--times 5]
// How long `offhook start` takes to answer, and `offhook --help` to end.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../test/support/processes.ts';
import { compile } from '../capacity/compiled.ts';
import { printDocument, readOptions, spread } from '../document.ts';

const values = readOptions({ times: '5' });
const times = Number(values.times);
const START_WITHIN_MS = 300_000;

const main = join(compile([]), 'src', 'main.js');
const dataDir = mkdtempSync(join(tmpdir(), 'offhook-startup-'));
process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));

/** Ms from the process's start to its first healthy answer, and to the first that says it takes calls. */
async function start(): Promise<{ healthyMs: number; readyMs: number }> {
  const port = await freePort();
  const env = {
    ...process.env,
    OFFHOOK_DATA_DIR: dataDir,
    OFFHOOK_PORT: String(port),
    OFFHOOK_PLATFORM_PORT: '0',
    OFFHOOK_LOG__LEVEL: 'error',
  };
  const startedMs = performance.now();
  const child = spawn(process.execPath, [main, 'start', '--json'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const gone = once(child, 'exit');
  try {
    const healthyMs = await answering(`http://127.0.0.1:${port}/healthz`, startedMs);
    return { healthyMs, readyMs: await answering(`http://127.0.0.1:${port}/readyz`, startedMs) };
  } finally {
    child.kill('SIGTERM');
    await gone;
  }
}

async function answering(url: string, startedMs: number): Promise<number> {
  while (performance.now() - startedMs < START_WITHIN_MS) {
    const good = await fetch(url).then(
      ({ status }) => status === 200,
      () => false,
    );
    if (good) return performance.now() - startedMs;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`${url} did not answer within ${START_WITHIN_MS} ms`);
}

/** Ms from start to end. */
function run(...argv: readonly string[]): number {
  const startedMs = performance.now();
  const { status } = spawnSync(process.execPath, argv, { stdio: 'ignore' });
  if (status !== 0) throw new Error(`${argv.join(' ')} ended with ${status}`);
  return performance.now() - startedMs;
}

// The first start makes the data folder and its store, and the files of the program are read from disk.
const first = await start();
const starts: { healthyMs: number; readyMs: number }[] = [];
for (let time = 0; time < times; time += 1) starts.push(await start());
/** By turns with Node alone, the baseline: a process with `ws` loaded and nothing to do. */
const bares: number[] = [];
const helps: number[] = [];
for (let time = 0; time < times; time += 1) {
  bares.push(run('--input-type=module', '--eval', `await import(${JSON.stringify(import.meta.resolve('ws'))})`));
  helps.push(run(main, '--help'));
}
printDocument({
  firstStartMs: Math.round(first.healthyMs),
  healthyMs: spread(starts.map(({ healthyMs }) => healthyMs)),
  readyMs: spread(starts.map(({ readyMs }) => readyMs)),
  bareMs: spread(bares),
  helpMs: spread(helps),
});
