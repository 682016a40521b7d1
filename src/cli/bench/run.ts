import { fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { abortable, sleep } from '../../kernel/waiting.ts';
import { systemClock } from '../../kernel/clock.ts';
import { entryFile } from '../../kernel/entry-file.ts';
import { callersReport, done, gatewayReport, speechAddresses, target, BenchProcessError, BenchChild } from './bench-child.ts';
import {
  type BenchStep,
  judge,
  type Recommendation,
  type RecommendedSetting,
  recommend,
  settingFor,
  stepsUpTo,
} from './recommend.ts';

export interface BenchOptions {
  /** The most calls that are tried. */
  readonly calls: number;
  /** Length of each step's measurement. */
  readonly seconds: number;
  readonly bot: string;
  /** How many processes will carry calls. One is measured. */
  readonly processes: number;
  readonly signal: AbortSignal;
  readonly onStage: (stage: string) => void;
  readonly onStep: (step: BenchStep) => void;
}

export interface BenchReport extends Recommendation {
  readonly machine: string;
  readonly bot: string;
  readonly secondsAStep: number;
  readonly steps: readonly (BenchStep & ReturnType<typeof judge>)[];
  /** Processes that the setting is for; `maximum` is for one of them. */
  readonly processes: number;
  readonly setting: RecommendedSetting | null;
}

/** Calls before the first step, so that no step includes one-time costs. */
const WARM_CALLS = 10;
/** Time between the last call's start and the measurement; at most the measurement's own length. */
const SETTLE_MS = 3_000;
const CALLS_END_WITHIN_MS = 30_000;

/**
 * Measures one gateway process with the user's settings and one of their bots at rising numbers of calls. The gateway is one process;
 * callers and the speech stand-in are another. Ends at the first step that the gateway does not carry.
 * @throws BenchProcessError, or the signal's reason
 */
export async function runBench(options: BenchOptions): Promise<BenchReport> {
  const { signal, bot, processes } = options;
  const dataDir = await mkdtemp(join(tmpdir(), 'offhook-bench-'));
  const steps: BenchStep[] = [];
  try {
    await using callers = start('callers-child', 'the process of the callers');
    await using gateway = start('gateway-child', 'the gateway');
    // A stop ends the processes, and with them the measurement under way.
    await abortable(measureSteps({ callers, gateway }, { ...options, dataDir }, steps), signal);
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  }
  const recommendation = recommend(steps);
  return {
    machine: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`,
    bot,
    secondsAStep: options.seconds,
    steps: steps.map((step) => ({ ...step, ...judge(step) })),
    ...recommendation,
    processes,
    setting: settingFor(recommendation.maximum, processes),
  };
}

interface Processes {
  readonly callers: BenchChild;
  readonly gateway: BenchChild;
}

async function measureSteps(
  { callers, gateway }: Processes,
  options: BenchOptions & { readonly dataDir: string },
  steps: BenchStep[],
): Promise<void> {
  const { dataDir, bot, calls, seconds, signal, onStage, onStep } = options;
  onStage('starting the gateway');
  const speech = await callers.tell('standIn', speechAddresses);
  const address = await gateway.tell('start', target, { dataDir, bot, speech });
  onStage('warming up');
  await holdCalls({ callers, gateway }, address, Math.min(WARM_CALLS, calls), Math.min(SETTLE_MS, seconds * 1_000), signal);
  for (const count of stepsUpTo(calls)) {
    onStage(`${count} calls`);
    const step = await holdCalls({ callers, gateway }, address, count, seconds * 1_000, signal);
    steps.push(step);
    onStep(step);
    const { faults, void: reasons } = judge(step);
    if (faults.length > 0 || reasons.length > 0) return;
  }
}

/** Holds a number of calls for a while, and ends them. */
async function holdCalls(
  { callers, gateway }: Processes,
  address: object,
  calls: number,
  measureMs: number,
  signal: AbortSignal,
): Promise<BenchStep> {
  const { starved: starvedBefore } = await gateway.tell('report', gatewayReport);
  await callers.tell('place', done, { target: address, calls });
  await sleep(systemClock, Math.min(SETTLE_MS, measureMs), signal);
  await Promise.all([gateway.tell('measure', done), callers.tell('measure', done)]);
  await sleep(systemClock, measureMs, signal);
  const [used, made] = await Promise.all([gateway.tell('report', gatewayReport), callers.tell('report', callersReport)]);
  await callers.tell('hangUp', done);
  // Holes are reported at a call's end.
  const starved = await callsEnded(gateway, signal);
  return {
    calls,
    cpu: round(used.cpu, 3),
    loopBusy: round(used.loopBusy, 3),
    loopP99Ms: round(used.loopP99Ms, 1),
    rssMb: Math.round(used.rssMb),
    holes: starved - starvedBefore,
    lost: made.lost,
    turnP50Ms: made.turnP50Ms === null ? null : Math.round(made.turnP50Ms),
    turnP99Ms: made.turnP99Ms === null ? null : Math.round(made.turnP99Ms),
    callersLateP99Ms: round(made.lateP99Ms, 1),
    callersBusy: round(made.loopBusy, 3),
  };
}

async function callsEnded(gateway: BenchChild, signal: AbortSignal): Promise<number> {
  for (let waitedMs = 0; waitedMs < CALLS_END_WITHIN_MS; waitedMs += 200) {
    const { live, starved } = await gateway.tell('report', gatewayReport);
    if (live === 0) return starved;
    await sleep(systemClock, 200, signal);
  }
  throw new BenchProcessError(`calls did not end within ${CALLS_END_WITHIN_MS} ms of hanging up`);
}

function start(file: string, name: string): BenchChild {
  const { path, execArgv } = entryFile(import.meta.url, file);
  const child = fork(path, [], {
    execArgv: ['--no-warnings', ...execArgv],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // Detached: Ctrl-C reaches the whole process group, but this process ends the others itself.
    detached: true,
  });
  return new BenchChild(child, name, systemClock);
}

function round(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
