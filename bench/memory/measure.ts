// npm run bench -- memory [--json] [--sizes 50,300] [--rounds 12]
// What a live call holds of memory, and what is left of calls that have ended.
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { callersReport, done, speechAddresses, target, BenchChild } from '../../src/cli/bench/bench-child.ts';
import { lowMemoryEnvironment } from '../../src/kernel/process-tuning.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { compile } from '../capacity/compiled.ts';
import { measureRow, ROW_FILES } from '../capacity/row.ts';
import { printDocument, readOptions, round } from '../document.ts';

const values = readOptions({ sizes: '50,300', rounds: '12' });
const BOT = 'clinic';
const HOLD_MS = 10_000;
/** Fifty callers of six seconds, twelve times over, are an hour of calls and six hundred beginnings and ends. */
const ROUND = { calls: 50, holdMs: 6_000 };
const ENDED_WITHIN_MS = 60_000;
const number = z.number();
const memorySchema = z.object({ live: number, pauseMs: number, rssKb: number, heapKb: number, buffersKb: number });
type Memory = z.infer<typeof memorySchema>;
const ECHO_MS = 5_000;

const out = compile(['bench/memory/gateway-child', ...ROW_FILES[0]]);
const dataDir = mkdtempSync(join(tmpdir(), 'offhook-memory-'));
process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));
const child = (file: string, ...execArgv: string[]) =>
  fork(join(out, file), [], {
    execArgv: ['--no-warnings', ...execArgv],
    env: lowMemoryEnvironment(process.env),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
await using callers = new BenchChild(child('src/cli/bench/callers-child.js'), 'the process of the callers', systemClock);
await using gateway = new BenchChild(child('bench/memory/gateway-child.js', '--expose-gc'), 'the gateway', systemClock);
const speech = await callers.tell('standIn', speechAddresses);
const address = await gateway.tell('start', target, { dataDir, bot: BOT, speech });

/** Holds so many calls for so long. @returns memory while they are live, and when all have ended */
async function hold(calls: number, holdMs: number) {
  await callers.tell('place', done, { target: address, calls });
  await callers.tell('measure', done);
  await gateway.tell('memory', memorySchema);
  await wait(holdMs);
  const { lost } = await callers.tell('report', callersReport);
  const live = await gateway.tell('memory', memorySchema);
  await callers.tell('hangUp', done);
  for (let waitedMs = 0; waitedMs < ENDED_WITHIN_MS; waitedMs += 250) {
    await wait(250);
    const after = await gateway.tell('memory', memorySchema);
    if (after.live === 0) return { live, lost, after };
  }
  throw new Error('calls did not end');
}

// What is compiled, opened and cached once is no call's.
await hold(ROUND.calls, ROUND.holdMs);
const perCallKb: Record<string, object> = {};
const longestPauseMs: Record<string, number> = {};
const sizes = values.sizes.split(',').map(Number);
let lost = 0;
for (const size of sizes) {
  const idle = await gateway.tell('memory', memorySchema);
  const held = await hold(size, HOLD_MS);
  lost += held.lost;
  longestPauseMs[`n${size}`] = round(held.live.pauseMs);
  const each = (key: 'rssKb' | 'heapKb' | 'buffersKb'): number => Math.round((held.live[key] - idle[key]) / size);
  perCallKb[`n${size}`] = { rss: each('rssKb'), heap: each('heapKb'), buffers: each('buffersKb') };
}
const left: Memory[] = [];
for (let round = 0; round < Number(values.rounds); round += 1) {
  const held = await hold(ROUND.calls, ROUND.holdMs);
  lost += held.lost;
  left.push(held.after);
}
// The baseline: a bare echo server. Its processes are pinned and this one with them, so that it comes last.
const echoPerCallKb: Record<string, number> = {};
for (const size of sizes) {
  const row = await measureRow({ out, subject: 'echo', workload: 'W2', calls: size, warmUpMs: 0, measureMs: ECHO_MS });
  echoPerCallKb[`n${size}`] = row.rssPerCallKb;
}
const growth = (key: 'rssKb' | 'heapKb'): number | null =>
  left.length < 2 ? null : round((left.at(-1)![key] - left[0]![key]) / 1024);
printDocument({
  bot: BOT,
  perCallKb,
  echoPerCallKb,
  longestPauseMs,
  idleMb: Math.round((left.at(-1)?.rssKb ?? 0) / 1024),
  growthMb: { rss: growth('rssKb'), heap: growth('heapKb'), callSeconds: (left.length * ROUND.calls * ROUND.holdMs) / 1000 },
  lost,
});
