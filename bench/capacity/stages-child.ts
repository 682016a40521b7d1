// What the stages that a frame of sound goes through cost for 200 calls: call by call, as the gateway has them, or stage by stage in shared arrays.
import { decodeMulawInto } from '../../src/audio/g711.ts';
import { rmsLevelDb } from '../../src/audio/level.ts';
import { loadVoiceActivity } from '../../src/audio/voice-activity/voice-activity.ts';
import { EchoGuard } from '../../src/call/inbound/echo/echo-guard.ts';
import { Recording } from '../../src/call/recording/recording.ts';
import { quantiles } from './quantiles.ts';
import { FRAME_BYTES, FRAME_MS, quiet, soundOf, speech } from './sounds.ts';

const CALLS = 200;
const TICKS = 50;
const PAIRS = 24;
/** Memory that the rest of a call's frame touches: sockets, messages, turn machine. With 200 calls it is more than the caches hold. */
const REST_BYTES = 65_536;
const CACHE_LINE_BYTES = 64;

export interface StageCost {
  readonly stage: string;
  /** Processor time of a frame of one call, in nanoseconds, beside the rest of each call's work. */
  readonly callByCallNs: number;
  readonly stageByStageNs: number;
}

/** One step of a frame's way. @param call number of the call @param tick number of the frame, from 0 */
type Stage = (call: number, tick: number) => void;

const caller = [speech(2_400, 11), quiet(4_600, 71)].flatMap((part) => soundOf(part).frames);
const bot = soundOf(speech(20_000, 3)).pcm.map((bytes) => new Int16Array(bytes.buffer, bytes.byteOffset, FRAME_BYTES));
const createDetector = await loadVoiceActivity();
const files = { create: () => ({ failure: undefined, write: () => undefined, finish: async () => true }) };
const calls = Array.from({ length: CALLS }, (_, call) => ({
  detector: createDetector(),
  guard: new EchoGuard(),
  recording: new Recording('unused', `call${call}`, 'always', files),
}));
/** The frames of all calls, one behind the other. */
const shared = new Int16Array(CALLS * FRAME_BYTES);
const frames = calls.map((_, call) => shared.subarray(call * FRAME_BYTES, (call + 1) * FRAME_BYTES));
const voiced = new Uint8Array(CALLS);
const rest = new Uint8Array(CALLS * REST_BYTES);
let restSum = 0;

function of<Value>(values: readonly Value[], at: number): Value {
  const value = values[at % values.length];
  if (value === undefined) throw new RangeError('nothing to take from');
  return value;
}

const stages: ReadonlyMap<string, Stage> = new Map<string, Stage>([
  ['decode', (call, tick) => void decodeMulawInto(of(caller, tick + call * 37), of(frames, call))],
  ['level', (call) => void (restSum += rmsLevelDb(of(frames, call)))],
  ['voice activity', (call) => void (voiced[call] = of(calls, call).detector.process(of(frames, call)).voiced ? 1 : 0)],
  [
    'echo',
    (call, tick) => {
      const { guard } = of(calls, call);
      guard.sent(of(bot, tick), tick * FRAME_MS, 0);
      guard.arrived(FRAME_BYTES, tick * FRAME_MS, tick * FRAME_MS);
      guard.explains(of(frames, call), voiced[call] === 1);
    },
  ],
  [
    'recording',
    (call, tick) => {
      const { recording } = of(calls, call);
      const nowMs = tick * FRAME_MS;
      recording.caller(of(frames, call), nowMs, nowMs, nowMs);
      recording.bot(of(bot, tick), nowMs + 300, nowMs);
      recording.tick(nowMs + 10);
    },
  ],
]);

/** The rest of a call's work, as far as the caches are concerned. */
function touchRest(call: number): void {
  const end = (call + 1) * REST_BYTES;
  for (let at = call * REST_BYTES; at < end; at += CACHE_LINE_BYTES) restSum += rest[at] ?? 0;
}

let tick = 0;
/** @returns nanoseconds of processor time a frame of one call */
function second(run: (tick: number) => void): number {
  const before = process.cpuUsage();
  for (let end = tick + TICKS; tick < end; tick += 1) run(tick);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / (TICKS * CALLS);
}

function callByCall(wanted: readonly Stage[], at: number): void {
  for (let call = 0; call < CALLS; call += 1) {
    touchRest(call);
    for (const stage of wanted) stage(call, at);
  }
}

function stageByStage(wanted: readonly Stage[], at: number): void {
  for (let call = 0; call < CALLS; call += 1) touchRest(call);
  for (const stage of wanted) for (let call = 0; call < CALLS; call += 1) stage(call, at);
}

/** The rest alone is measured in turn with both, and taken off. */
function measure(stage: string, wanted: readonly Stage[]): StageCost {
  const costs: Record<'rest' | 'calls' | 'stages', number[]> = { rest: [], calls: [], stages: [] };
  for (let pair = -2; pair < PAIRS; pair += 1) {
    const nothing = second((at) => callByCall([], at));
    const [first, last] = pair % 2 === 0 ? [callByCall, stageByStage] : [stageByStage, callByCall];
    const one = second((at) => first(wanted, at));
    const other = second((at) => last(wanted, at));
    // The first pairs are of code that is not compiled yet.
    if (pair < 0) continue;
    costs.rest.push(nothing);
    costs.calls.push(first === callByCall ? one : other);
    costs.stages.push(first === callByCall ? other : one);
  }
  const middle = (each: readonly number[]): number => quantiles(each).p50 ?? Number.NaN;
  const [restNs, callsNs, stagesNs] = [middle(costs.rest), middle(costs.calls), middle(costs.stages)];
  return { stage, callByCallNs: Math.round(callsNs - restNs), stageByStageNs: Math.round(stagesNs - restNs) };
}

const all = [...stages.values()];
const result = [...stages].map(([name, stage]) => measure(name, [stage]));
result.push(measure('all five', all));
process.send?.(result satisfies StageCost[]);
if (Number.isNaN(restSum)) throw new Error('nothing was summed');
