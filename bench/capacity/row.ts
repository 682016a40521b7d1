import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { Carrier } from './carrier.ts';
import type { ChildReady, ChildReport } from './child.ts';
import { Ledger } from './ledger.ts';
import { busyMsOf, pin, usageOf } from './processor.ts';
import { startStandIn } from './stand-in.ts';
import { workload, type WorkloadName } from './workload.ts';

export type SubjectName = 'echo' | 'gateway';

export interface RowOrder {
  /** Where the compiled children are. */
  readonly folder: string;
  readonly subject: SubjectName;
  readonly workload: WorkloadName;
  readonly calls: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

/** What one run of one subject came to. */
export interface Row {
  readonly subject: SubjectName;
  readonly calls: number;
  /** Share of one processor, of all threads. */
  readonly cpu: number;
  /** Processor time for a second of one call, in microseconds. */
  readonly usPerCallSecond: number;
  readonly loopP99Ms: number;
  readonly longestGcMs: number;
  readonly rssPerCallKb: number;
  /** Share of the time in which the main thread was ready to run and another thread, its own process's or not, had the processor. */
  readonly waited: number;
  /** Share of the processor that went to anything but the subject: other processes, and the machine's host. */
  readonly others: number;
  readonly generatorCpu: number;
  readonly generatorLateP99Ms: number;
  readonly holes: number;
  readonly starvedByGateway: number;
  readonly lost: number;
  readonly toRecogniserMs: Quantiles;
  readonly toCarrierMs: Quantiles;
  readonly turnMs: Quantiles;
  readonly clearMs: Quantiles;
  /** Every sample arrived as it was sent, both ways. */
  readonly checksumOk: boolean;
  /** Why the row does not count; empty when it does. */
  readonly void: readonly string[];
}

export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
  readonly n: number;
}

const SUBJECT_PROCESSOR = 0;
const GENERATOR_PROCESSOR = 1;

/** Runs a subject on processor 0 with this process, generator and stand-ins, on processor 1. */
export async function measureRow({ subject, calls, warmUpMs, measureMs, ...order }: RowOrder): Promise<Row> {
  const work = workload(order.workload);
  const ledger = new Ledger(work.voice, (call, frame) => work.pcm(call, frame));
  const standIn = await startStandIn({ voice: work.voice, ledger });
  const child = startChild(order.folder, subject, order.workload);
  const pinned = pin(child.pid!, SUBJECT_PROCESSOR) && pin(process.pid, GENERATOR_PROCESSOR);
  child.send({ order: 'start', argument: standIn.speech });
  const ready = await answer<ChildReady>(child, 'ready');
  const idle = usageOf(child.pid!);
  const carrier = new Carrier(ready, ledger, work);
  await carrier.place(calls);
  await new Promise((resolve) => setTimeout(resolve, warmUpMs));
  child.send({ order: 'measure' });
  ledger.measuring = true;
  const generatorBefore = process.cpuUsage();
  const before = usageOf(child.pid!);
  const busyBeforeMs = busyMsOf(SUBJECT_PROCESSOR);
  await new Promise((resolve) => setTimeout(resolve, measureMs));
  const after = usageOf(child.pid!);
  const busyMs = busyMsOf(SUBJECT_PROCESSOR) - busyBeforeMs;
  const generator = process.cpuUsage(generatorBefore);
  ledger.measuring = false;
  child.send({ order: 'report' });
  const { loopP99Ms, longestGcMs, facts } = await answer<ChildReport>(child, 'report');
  const { holes, lost } = carrier;
  await carrier.hangUp();
  await stop(child);
  standIn.close();

  const wallMs = after.atMs - before.atMs;
  const cpuMs = after.cpuMs - before.cpuMs;
  const waited = (after.waitedMs - before.waitedMs) / wallMs;
  const others = Math.max(0, busyMs - cpuMs) / wallMs;
  const generatorCpu = (generator.user + generator.system) / 1000 / wallMs;
  const generatorLateP99Ms = quantiles(carrier.lateMs).p99;
  const isGateway = subject === 'gateway';
  const played = order.workload === 'W1' || ledger.wrongToCarrier === 0;
  const checksumOk =
    !isGateway || (ledger.wrongToRecogniser === 0 && ledger.samplesHeard > 0 && played && ledger.bytesPlayed > 0);
  const faults = [
    pinned ? undefined : 'could not be pinned to a processor',
    generatorLateP99Ms > 10 ? `the generator was late: ${generatorLateP99Ms} ms` : undefined,
    generatorCpu > 0.8 ? `the generator was busy: ${round(100 * generatorCpu)} %` : undefined,
    others > 0.05 ? `others had ${round(100 * others)} % of the server's processor` : undefined,
    lost > 0 ? `${lost} calls were lost` : undefined,
    checksumOk
      ? undefined
      : `audio differs: ${ledger.wrongToRecogniser} to the recogniser, ${ledger.wrongToCarrier} to the carrier`,
  ];
  return {
    subject,
    calls,
    cpu: round(cpuMs / wallMs, 4),
    usPerCallSecond: Math.round((cpuMs * 1000) / (wallMs / 1000) / calls),
    loopP99Ms: round(loopP99Ms),
    longestGcMs: round(longestGcMs),
    rssPerCallKb: Math.round((after.rssKb - idle.rssKb) / calls),
    waited: round(waited, 3),
    others: round(others, 3),
    generatorCpu: round(generatorCpu, 3),
    generatorLateP99Ms,
    holes: order.workload === 'W2' ? holes : 0,
    starvedByGateway: facts['starvedByGateway'] ?? 0,
    lost,
    toRecogniserMs: quantiles(ledger.toRecogniserMs),
    toCarrierMs: quantiles(ledger.toCarrierMs),
    turnMs: quantiles(ledger.turnMs),
    clearMs: quantiles(ledger.clearMs),
    checksumOk,
    void: faults.filter((fault) => fault !== undefined),
  };
}

function startChild(folder: string, subject: SubjectName, workloadName: WorkloadName): ChildProcess {
  return fork(join(folder, `${subject}-child.js`), [], {
    execArgv: ['--no-warnings', ...extraArguments()],
    env: { ...process.env, BENCH_WORKLOAD: workloadName },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

/** For profiling: `BENCH_NODE_ARGS="--cpu-prof --cpu-prof-dir=/tmp/prof"`. */
function extraArguments(): string[] {
  return (process.env['BENCH_NODE_ARGS'] ?? '').split(' ').filter((argument) => argument !== '');
}

function answer<Message extends { readonly type: string }>(child: ChildProcess, type: Message['type']): Promise<Message> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`the subject ended with ${code}`));
    const listen = (message: Message): void => {
      if (message.type !== type) return;
      child.off('message', listen);
      child.off('exit', onExit);
      resolve(message);
    };
    child.on('message', listen);
    child.once('exit', onExit);
  });
}

async function stop(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => {
    child.once('exit', resolve);
  });
  child.disconnect();
  const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await gone;
  clearTimeout(late);
}

function quantiles(values: readonly number[]): Quantiles {
  const sorted = Float64Array.from(values).sort();
  const at = (share: number): number => round(sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0, 2);
  return { p50: at(0.5), p99: at(0.99), n: sorted.length };
}

function round(value: number, digits = 1): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
