import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { loadVoiceActivity } from '../../src/audio/voice-activity/voice-activity.ts';
import { DEFAULT_ENDPOINTING } from '../../src/call/turn/turn-settings.ts';
import { BenchChild, done, gatewayReport } from '../../src/cli/bench/bench-child.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { lowMemoryEnvironment } from '../../src/kernel/process-tuning.ts';
import type { LoadNotes, Reaction } from '../../src/sim/load/load-call.ts';
import { LoadCarrier } from '../../src/sim/load/load-carrier.ts';
import { FRAME_MS } from '../../src/sim/load/load-sounds.ts';
import { startLoadSpeech } from '../../src/sim/load/load-speech.ts';
import { quantiles, round } from '../document.ts';
import { framesAfterEnd, framesToClear, hearLine } from './detector-frames.ts';
import { Ledger } from './ledger.ts';
import { busyMsOf, pin, usageOf } from './processor.ts';
import { type Workload, workload, type WorkloadName } from './workload.ts';

/** Files that `compile` has to be given for a row, and what they read. */
export const ROW_FILES = [['bench/capacity/echo-child'], ['bench/capacity/bots']] as const;

export interface RowOrder {
  /** The root of what was compiled. */
  readonly out: string;
  readonly subject: 'echo' | 'gateway';
  readonly workload: WorkloadName;
  readonly calls: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** Folder of another bot `talks`. */
  readonly bots?: string;
}

export type Row = Awaited<ReturnType<typeof measureRow>>;

const SUBJECT_PROCESSOR = 0;
const GENERATOR_PROCESSOR = 1;
const CALLS_END_WITHIN_MS = 10_000;
const started = z.object({ url: z.string(), authToken: z.string().optional() });

/** Runs a subject on processor 0 with this process, generator and stand-ins, on processor 1. */
export async function measureRow(order: RowOrder) {
  const { out, subject: name, calls } = order;
  const work = workload(order.workload);
  const ledger = new Ledger(work, name === 'echo');
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-row-'));
  await using speech = await startLoadSpeech(systemClock, Buffer.concat(work.voice.frames), ledger);
  const child = fork(join(out, name === 'echo' ? 'bench/capacity/echo-child.js' : 'src/cli/bench/gateway-child.js'), [], {
    execArgv: ['--no-warnings', ...extraArguments()],
    env: {
      ...lowMemoryEnvironment(process.env),
      OFFHOOK_BOTS__FOLDER: order.bots ?? join(out, 'bench/capacity/bots'),
      BENCH_WORKLOAD: order.workload,
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await using subject = new BenchChild(child, 'the subject', systemClock);
  const pid = child.pid ?? 0;
  const pinned = pin(pid, SUBJECT_PROCESSOR) && pin(process.pid, GENERATOR_PROCESSOR);
  const { authUrl, asrUrl, ttsUrl, apiKey } = speech;
  const { url, authToken } = await subject.tell('start', started, {
    dataDir,
    bot: 'talks',
    speech: { authUrl, asrUrl, ttsUrl, apiKey },
  });
  speech.asSpoken = true;
  const idle = usageOf(pid);
  using carrier = new LoadCarrier({ url, authToken, bot: 'talks' }, systemClock, { script: work, tap: ledger });
  const { notes } = carrier;
  await carrier.place(calls);
  await wait(order.warmUpMs);
  await subject.tell('measure', done);
  ledger.measuring = notes.measuring = true;
  const generatorBefore = process.cpuUsage();
  const before = usageOf(pid);
  const busyBeforeMs = busyMsOf(SUBJECT_PROCESSOR);
  await wait(order.measureMs);
  const after = usageOf(pid);
  const busyMs = busyMsOf(SUBJECT_PROCESSOR) - busyBeforeMs;
  const generator = process.cpuUsage(generatorBefore);
  ledger.measuring = notes.measuring = false;
  const { loopP99Ms } = await subject.tell('report', gatewayReport);
  carrier[Symbol.dispose]();
  const starvedByGateway = await starvations(subject);
  await subject[Symbol.asyncDispose]();
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 });

  const wallMs = after.atMs - before.atMs;
  const cpuMs = after.cpuMs - before.cpuMs;
  const others = Math.max(0, busyMs - cpuMs) / wallMs;
  const generatorCpu = (generator.user + generator.system) / 1000 / wallMs;
  const generatorLateP99Ms = quantiles(notes.lateMs).p99 ?? 0;
  const { wrongToRecogniser, wrongToCarrier, samplesHeard, bytesPlayed } = ledger;
  const played = order.workload !== 'W2' || wrongToCarrier === 0;
  const checksumOk = name === 'echo' || (wrongToRecogniser === 0 && samplesHeard > 0 && played && bytesPlayed > 0);
  const faults = [
    pinned ? undefined : 'could not be pinned to a processor',
    generatorLateP99Ms > 10 ? `the generator was late: ${generatorLateP99Ms} ms` : undefined,
    generatorCpu > 0.8 ? `the generator was busy: ${round(100 * generatorCpu)} %` : undefined,
    others > 0.05 ? `others had ${round(100 * others)} % of the server's processor` : undefined,
    notes.lost > 0 ? `${notes.lost} calls were lost` : undefined,
    checksumOk ? undefined : `audio differs: ${wrongToRecogniser} to the recogniser, ${wrongToCarrier} to the carrier`,
  ];
  return {
    subject: name,
    workload: order.workload,
    calls,
    /** Share of one processor, of all threads. */
    cpu: round(cpuMs / wallMs, 4),
    /** Processor time for a second of one call, in microseconds. */
    usPerCallSecond: Math.round((cpuMs * 1000) / (wallMs / 1000) / calls),
    loopP99Ms: round(loopP99Ms),
    rssPerCallKb: Math.round((after.rssKb - idle.rssKb) / calls),
    /** Share of the time in which the main thread was ready to run, and another thread had the processor. */
    waited: round((after.waitedMs - before.waitedMs) / wallMs, 3),
    /** Share of the processor that went to other processes and to the machine's host. */
    others: round(others, 3),
    generatorCpu: round(generatorCpu, 3),
    generatorLateP99Ms,
    holes: name === 'echo' ? 0 : notes.holes,
    starvedByGateway,
    unanswered: notes.unanswered,
    /** What the gateway adds; see the README of `latency`. */
    latencyMs: await latencies(work, ledger, notes),
    /** There and back, where the subject is the echo server. */
    echoMs: quantiles(ledger.echoMs),
    /** Every sample arrived as it was sent, both ways. */
    checksumOk,
    /** Why the row does not count; empty when it does. */
    void: faults.filter((fault) => fault !== undefined),
  };
}

/** What a gateway tells of playout that ran dry once its calls have ended. */
async function starvations(subject: BenchChild): Promise<number> {
  const untilMs = performance.now() + CALLS_END_WITHIN_MS;
  for (;;) {
    const { live, starved } = await subject.tell('report', gatewayReport);
    if (live === 0 || performance.now() > untilMs) return starved;
    await wait(100);
  }
}

/** Takes off what is the detector's, the bot's setting and the frame's, so that what is left is added by the subject. */
async function latencies(work: Workload, ledger: Ledger, notes: LoadNotes) {
  const createDetector = await loadVoiceActivity();
  const [turn, clear] = [new Array<number>(), new Array<number>()];
  const byCall = (reactions: readonly Reaction[], call: number) => reactions.filter((reaction) => reaction.call === call);
  for (const [call, { frames }] of ledger.calls.entries()) {
    const [turns, clears] = [byCall(notes.turns, call), byCall(notes.clears, call)];
    if (turns.length + clears.length === 0) continue;
    const detector = createDetector();
    const line = hearLine(detector, (frame) => work.pcm(call, frame), frames);
    detector.close();
    for (const { frame, afterMs } of turns) {
      const after = framesAfterEnd(line, frame);
      if (after !== undefined) turn.push(afterMs - after * FRAME_MS - DEFAULT_ENDPOINTING.endpointingMs);
    }
    for (const { frame, afterMs } of clears) {
      const needed = framesToClear(line, frame);
      if (needed !== undefined) clear.push(afterMs - needed * FRAME_MS);
    }
  }
  return {
    toRecogniser: quantiles(ledger.toRecogniserMs),
    toCarrier: quantiles(ledger.toCarrierMs),
    turn: quantiles(turn),
    clear: quantiles(clear),
  };
}

export function described(row: Row): string {
  const percent = (share: number): string => `${Math.round(100 * share)} %`;
  const parts = [
    `${row.subject} ${row.workload} ${row.calls}: ${row.usPerCallSecond} us a call-second, ${percent(row.cpu)} of a core`,
    `loop p99 ${row.loopP99Ms} ms, ${row.rssPerCallKb} KB a call`,
    `generator ${percent(row.generatorCpu)}, late p99 ${row.generatorLateP99Ms} ms, others ${percent(row.others)}, waited ${percent(row.waited)}`,
    `holes ${row.holes}, starved ${row.starvedByGateway}, unanswered ${row.unanswered}`,
  ];
  return `${parts.join(', ')}${row.void.length === 0 ? '' : ` — void: ${row.void.join('; ')}`}`;
}

/** For profiling: `BENCH_NODE_ARGS="--cpu-prof --cpu-prof-dir=/tmp/prof"`. */
function extraArguments(): string[] {
  return (process.env['BENCH_NODE_ARGS'] ?? '').split(' ').filter((argument) => argument !== '');
}
