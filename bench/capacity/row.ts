import { loadVoiceActivity } from '../../src/audio/voice-activity/voice-activity.ts';
import { DEFAULT_ENDPOINTING } from '../../src/call/turn/turn-settings.ts';
import { Carrier } from './carrier.ts';
import type { Certificate } from './certificate.ts';
import type { ChildReady } from './child.ts';
import { framesAfterEnd, framesToClear, hearLine } from './detector-frames.ts';
import { Ledger, type Reaction } from './ledger.ts';
import type { PeerOrder } from './peer-child.ts';
import { busyMsOf, pin, usageOf } from './processor.ts';
import type { WireName } from './media-wires.ts';
import { type Quantiles, quantiles, round } from './quantiles.ts';
import { startRealtimeStandIn } from './realtime-stand-in.ts';
import { FRAME_MS } from './sounds.ts';
import { startStandIn } from './stand-in.ts';
import { type Program, type SubjectName, SubjectProcess } from './subject.ts';
import { type Workload, workload, type WorkloadName } from './workload.ts';

export interface RowOrder {
  /** Where the compiled children are. */
  readonly folder: string;
  readonly subject: SubjectName;
  /** Carrier whose messages the calls come in; Twilio when absent. */
  readonly carrier?: WireName;
  readonly workload: WorkloadName;
  readonly calls: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** The file that exports the peer, where that is the subject. */
  readonly peer?: string;
  /** What the subject is, where it is no compiled child. */
  readonly program?: Program;
  /** What the stand-ins for the speech platform speak TLS with; they speak none without. */
  readonly certificate?: Certificate | undefined;
  /** What stops once in a while, from the calls' first second on. */
  readonly stalls?: StallName;
  /** What is done while it is measured, which takes until it is done, and `measureMs` at least. */
  readonly meanwhile?: (subject: RunningSubject) => Promise<void>;
}

/** A subject with all its calls. */
export interface RunningSubject extends Pick<ChildReady, 'url' | 'apiKey'> {
  readonly pid: number;
}

/** The subject's event loop for 200 ms of every second, or the network to each call for 250 ms of every two. */
export type StallName = 'loop' | 'network';

/** What one run of one subject came to. */
export interface Row {
  readonly subject: SubjectName;
  readonly carrier: WireName;
  readonly workload: WorkloadName;
  readonly calls: number;
  readonly stalls: StallName | undefined;
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
  /** Turns that the bot answered so late that the caller had spoken again: one answer was for both. */
  readonly wentOn: number;
  /** Other turns to which no sound of the bot came before the caller's next one ended. */
  readonly unanswered: number;
  readonly latencyMs: Latencies;
  /** There and back, where the subject is the echo server. */
  readonly echoMs: Quantiles;
  /** Every sample arrived as it was sent, both ways. */
  readonly checksumOk: boolean;
  /** What the machine or the generator spoilt: the part of `void` that is not the subject's. */
  readonly unmeasured: readonly string[];
  /** Why the row does not count; empty when it does. */
  readonly void: readonly string[];
}

/** What the subject adds, in ms; see the READMEs of `latency` and `capacity`. */
export interface Latencies {
  readonly toRecogniser: Quantiles;
  readonly toCarrier: Quantiles;
  readonly turn: Quantiles;
  readonly clear: Quantiles;
}

const LOOP_STALL = { everyMs: 1_000, durationMs: 200 };
const NETWORK_STALL = { everyMs: 2_000, durationMs: 250 };
export const SUBJECT_PROCESSOR = 0;
const GENERATOR_PROCESSOR = 1;
const CALLS_END_WITHIN_MS = 10_000;

/** Runs a subject on processor 0 with this process, generator and stand-ins, on processor 1. */
export async function measureRow({ folder, subject: name, calls, warmUpMs, measureMs, ...order }: RowOrder): Promise<Row> {
  const { carrier: wire = 'twilio' } = order;
  const work = workload(order.workload);
  const ledger = new Ledger(work.voice, (call, frame) => work.pcm(call, frame));
  const upstream = await startUpstream(work, ledger, order);
  const env: Record<string, string> = {};
  if (order.certificate !== undefined) env['NODE_EXTRA_CA_CERTS'] = order.certificate.file;
  const subject = new SubjectProcess({ folder, name, workload: order.workload, env, program: order.program });
  const pinned = pin(subject.pid, SUBJECT_PROCESSOR) && pin(process.pid, GENERATOR_PROCESSOR);
  const ready = await subject.start(upstream.argument);
  const idle = usageOf(subject.pid);
  const carrier = new Carrier({ ...ready, echoes: name === 'echo', wire }, ledger, work);
  if (order.stalls === 'loop') subject.stall(LOOP_STALL.everyMs, LOOP_STALL.durationMs);
  await carrier.place(calls);
  if (order.stalls === 'network') carrier.stallNetwork(NETWORK_STALL.everyMs, NETWORK_STALL.durationMs);
  await wait(warmUpMs);
  subject.measure();
  ledger.measuring = true;
  const generatorBefore = process.cpuUsage();
  const before = usageOf(subject.pid);
  const busyBeforeMs = busyMsOf(SUBJECT_PROCESSOR);
  await Promise.all([wait(measureMs), order.meanwhile?.({ pid: subject.pid, ...ready })]);
  const after = usageOf(subject.pid);
  const busyMs = busyMsOf(SUBJECT_PROCESSOR) - busyBeforeMs;
  const generator = process.cpuUsage(generatorBefore);
  ledger.measuring = false;
  const { loopP99Ms, longestGcMs } = await subject.report();
  const { holes, lost } = carrier;
  await carrier.hangUp();
  const starvedByGateway = await starvations(subject);
  await subject.stop();
  upstream.close();

  const wallMs = after.atMs - before.atMs;
  const cpuMs = after.cpuMs - before.cpuMs;
  const waited = (after.waitedMs - before.waitedMs) / wallMs;
  const others = Math.max(0, busyMs - cpuMs) / wallMs;
  const generatorCpu = (generator.user + generator.system) / 1000 / wallMs;
  const generatorLateP99Ms = quantiles(carrier.lateMs).p99 ?? 0;
  const played = order.workload !== 'W2' || ledger.wrongToCarrier === 0;
  const checksumOk =
    name === 'echo' || (ledger.wrongToRecogniser === 0 && ledger.samplesHeard > 0 && played && ledger.bytesPlayed > 0);
  const unmeasured = [
    pinned ? undefined : 'could not be pinned to a processor',
    generatorLateP99Ms > 10 ? `the generator was late: ${generatorLateP99Ms} ms` : undefined,
    generatorCpu > 0.8 ? `the generator was busy: ${round(100 * generatorCpu)} %` : undefined,
    others > 0.05 ? `others had ${round(100 * others)} % of the server's processor` : undefined,
  ].filter((fault) => fault !== undefined);
  const faults = [
    lost > 0 ? `${lost} calls were lost` : undefined,
    checksumOk
      ? undefined
      : `audio differs: ${ledger.wrongToRecogniser} to the recogniser, ${ledger.wrongToCarrier} to the carrier`,
  ];
  return {
    subject: name,
    carrier: wire,
    workload: order.workload,
    calls,
    stalls: order.stalls,
    cpu: round(cpuMs / wallMs, 4),
    usPerCallSecond: Math.round((cpuMs * 1000) / (wallMs / 1000) / calls),
    loopP99Ms: round(loopP99Ms),
    longestGcMs: round(longestGcMs),
    rssPerCallKb: Math.round((after.rssKb - idle.rssKb) / calls),
    waited: round(waited, 3),
    others: round(others, 3),
    generatorCpu: round(generatorCpu, 3),
    generatorLateP99Ms,
    holes,
    starvedByGateway,
    lost,
    wentOn: ledger.wentOn.length,
    unanswered: ledger.unanswered.length,
    latencyMs: await latencies(work, ledger),
    echoMs: quantiles(ledger.echoMs),
    checksumOk,
    unmeasured,
    void: [...unmeasured, ...faults.filter((fault) => fault !== undefined)],
  };
}

/** What the subject talks to: the gateway a speech platform, the peer a realtime service, the echo server nobody. */
async function startUpstream(
  work: Workload,
  ledger: Ledger,
  { peer, certificate, stalls }: Pick<RowOrder, 'peer' | 'certificate' | 'stalls'>,
) {
  if (peer === undefined) {
    const { speech, close } = await startStandIn({ voice: work.voice, ledger, certificate, ahead: stalls !== undefined });
    return { argument: speech, close };
  }
  const { url, close } = await startRealtimeStandIn(work, ledger);
  return { argument: { module: peer, url } satisfies PeerOrder, close };
}

/** What a gateway tells of playout that ran dry once its calls have ended; 0 of any other subject. */
async function starvations(subject: SubjectProcess): Promise<number> {
  const untilMs = performance.now() + CALLS_END_WITHIN_MS;
  for (;;) {
    const { live = 0, starvedByGateway = 0 } = await subject.facts();
    if (live === 0 || performance.now() > untilMs) return starvedByGateway;
    await wait(100);
  }
}

/** Takes off what is the detector's, the bot's setting and the frame's, so that what is left is added by the subject. */
async function latencies(work: Workload, ledger: Ledger): Promise<Latencies> {
  const createDetector = await loadVoiceActivity();
  const added = { turns: new Array<number>(), clears: new Array<number>() };
  const byCall = (reactions: readonly Reaction[], call: number) => reactions.filter((reaction) => reaction.call === call);
  for (const [call, { frames }] of ledger.calls.entries()) {
    const turns = byCall(ledger.turns, call);
    const clears = byCall(ledger.clears, call);
    if (turns.length + clears.length === 0) continue;
    const detector = createDetector();
    const line = hearLine(detector, (frame) => work.pcm(call, frame), frames);
    detector.close();
    for (const { frame, afterMs } of turns) {
      const after = framesAfterEnd(line, frame);
      if (after !== undefined) added.turns.push(afterMs - after * FRAME_MS - DEFAULT_ENDPOINTING.endpointingMs);
    }
    for (const { frame, afterMs } of clears) {
      const needed = framesToClear(line, frame);
      if (needed !== undefined) added.clears.push(afterMs - needed * FRAME_MS);
    }
  }
  return {
    toRecogniser: quantiles(ledger.toRecogniserMs),
    toCarrier: quantiles(ledger.toCarrierMs),
    turn: quantiles(added.turns),
    clear: quantiles(added.clears),
  };
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
