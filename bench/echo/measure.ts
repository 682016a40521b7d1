// How well the bot's echo is told from a caller. Run: npm run bench -- echo [--json] [--calls 48] [--speech human] [--detector neural]
// Calls of eight sentences, offline, through the real detector, guard and turn machine; the same calls every time.
import { seededRandom } from '../../src/audio/tone.ts';
import { loadVoiceActivity } from '../../src/audio/voice-activity/voice-activity.ts';
import type { VoiceDetector } from '../../src/call/inbound/inbound-audio.ts';
import { detectorOf } from '../../src/call/inbound/neural/fused-detector.ts';
import { inlineJudge } from '../../src/call/inbound/neural/inline-judge.ts';
import { loadRnnoise } from '../../src/call/inbound/neural/rnnoise-model.ts';
import { printDocument, quantiles, rateOf, readOptions, shareOf } from '../document.ts';
import { HUMAN_FOLDER } from '../recordings.ts';
import { type CallPlan, runCall, type SentenceOutcome } from './call.ts';
import type { EchoPath } from './path.ts';
import { humanSpeech, synthesizedSpeech } from './speech.ts';

/** `--detector neural` runs both detectors, which takes a hundred times as long. */
const values = readOptions({ calls: '48', speech: 'synthesized', detector: 'energy' });
const calls = Number(values.calls);
/** An interruption that has not cleared by then is missed. */
const CLEAR_WITHIN_MS = 500;

type Random = () => number;
const between = (least: number, most: number, random: Random): number => least + (most - least) * random();

const linear = (random: Random): EchoPath => ({ gainDb: between(-30, -6, random), delayMs: between(40, 1_200, random) });

function realistic(random: Random, callMs: number): EchoPath {
  const jump = (): number => (random() < 0.5 ? 60 : -60);
  return {
    gainDb: between(-24, -6, random),
    delayMs: between(100, 1_140, random),
    roomMs: between(150, 400, random),
    clipAt: between(0.3, 0.7, random),
    gateDb: -50,
    codec: true,
    driftPpm: random() < 0.5 ? 100 : -100,
    jumps: [
      { atMs: callMs * between(0.2, 0.5, random), byMs: jump() },
      { atMs: callMs * between(0.6, 0.9, random), byMs: jump() },
    ],
  };
}

/** Loud enough that a caller 6 dB under it is one that the detector hears without an echo. */
const loud = (path: EchoPath, random: Random): EchoPath => ({ ...path, gainDb: between(-18, -6, random) });
const against = (random: Random, echoDb: number): number => echoDb + between(-6, 6, random);

const plans: Readonly<Record<string, CallPlan>> = {
  noEcho: { path: undefined, callerDb: undefined },
  linear: { path: linear, callerDb: undefined },
  realistic: { path: realistic, callerDb: undefined },
  interruptedNoEcho: { path: undefined, callerDb: (random) => against(random, between(-18, -6, random)) },
  doubleTalkLinear: { path: (random) => loud(linear(random), random), callerDb: against },
  doubleTalkRealistic: { path: (random, callMs) => loud(realistic(random, callMs), random), callerDb: against },
};

const speech = values.speech === 'human' ? humanSpeech(HUMAN_FOLDER) : await synthesizedSpeech();
if (speech.bot.length === 0) throw new Error('the recordings are not there');
const createDetector = await loadVoiceActivity();
const parts = { createDetector, speechJudge: values.detector === 'neural' ? inlineJudge(await loadRnnoise()) : undefined };
const makeDetector = (): VoiceDetector => detectorOf({ detector: 'neural' }, parts);

function run(plan: CallPlan, call: number): readonly SentenceOutcome[] {
  const detector = makeDetector();
  const outcome = runCall(plan, speech, seededRandom(31 * call + 7), detector);
  detector.close();
  return outcome;
}

function measure(plan: CallPlan) {
  const sentences = Array.from({ length: calls }, (_, call) => run(plan, call)).flat();
  // Where the bot was paused before the caller spoke, nothing was left to be interrupted.
  const interrupted = sentences.filter((sentence) => sentence.interrupted && !sentence.paused);
  const cleared = interrupted.flatMap(({ clearMs }) => (clearMs === undefined ? [] : [clearMs]));
  const held = interrupted.flatMap(({ holdMs }) => (holdMs === undefined ? [] : [holdMs]));
  const missed = interrupted.length - cleared.filter((ms) => ms <= CLEAR_WITHIN_MS).length;
  return {
    paused: shareOf(sentences, ({ paused }) => paused),
    pausedFirst: rateOf(sentences.filter(({ first, paused }) => first && paused).length, calls),
    falseTurns: sentences.filter(({ falseTurn }) => falseTurn).length,
    missed: interrupted.length === 0 ? undefined : rateOf(missed, interrupted.length),
    onsetToHoldMs: held.length === 0 ? undefined : quantiles(held),
    onsetToClearMs: cleared.length === 0 ? undefined : quantiles(cleared),
  };
}

const report: Record<string, ReturnType<typeof measure>> = {};
for (const [name, plan] of Object.entries(plans)) {
  report[name] = measure(plan);
  console.error(`${name}: ${JSON.stringify(report[name])}`);
}
printDocument({ speech: values.speech, calls, conditions: report });
