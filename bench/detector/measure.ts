// How soon, and for what, the detector and the turn machine take a sound for a caller. Offline, the same calls every time.
// Run: npm run bench -- detector [--json] [--seed 20260] [--trials 1000] [--human FOLDER]
import { parseArgs } from 'node:util';
import { loadVoiceActivity } from '../../src/audio/voice-activity/voice-activity.ts';
import { rateOf, summarise } from '../conversation/statistics.ts';
import { interruptionsOf, makeStimuli, type Stimulus, type StimulusKind } from '../conversation/stimuli.ts';
import { type Outcome, runScene } from './run.ts';
import { makeScene, type ScenePlan } from './scene.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    seed: { type: 'string', default: '20260' },
    trials: { type: 'string', default: '1000' },
    human: { type: 'string', default: new URL('../../../shared/audio/human', import.meta.url).pathname },
  },
});
const seed = Number(values.seed);
const trials = Number(values.trials);
const WATCHED_MS = 1_700;
const RESUMED_WITHIN_MS = 600;
const KINDS = ['backchannel', 'cough', 'click', 'knock', 'breath'] as const satisfies readonly StimulusKind[];
const LINES = ['clean', 'noisy'] as const;

const stimuli = await makeStimuli(seed, 60, values.human);
const makeDetector = await loadVoiceActivity();

function run(plan: ScenePlan, count: number, poolOf: (sound: number) => readonly Stimulus[], salt: number): readonly Outcome[] {
  return Array.from({ length: Math.ceil(count / plan.sounds) }, (_, call) => {
    const mine = seed + 7_919 * call + salt;
    const detector = makeDetector();
    const outcomes = runScene(makeScene(plan, poolOf, mine), detector, mine);
    detector.close();
    return outcomes;
  }).flat();
}

function interruptions(outcomes: readonly Outcome[]) {
  const missed = (withinMs: number) =>
    rateOf(outcomes.filter(({ clearMs = Infinity }) => clearMs > withinMs).length, outcomes.length);
  const inTime = (value: number | undefined): number[] => (value === undefined || value > WATCHED_MS ? [] : [value]);
  return {
    onsetToHoldMs: summarise(outcomes.flatMap(({ holdMs }) => inTime(holdMs))),
    onsetToClearMs: summarise(outcomes.flatMap(({ clearMs }) => inTime(clearMs))),
    missed: { at500Ms: missed(500), at1500Ms: missed(1_500) },
  };
}

function falseAlarms(outcomes: readonly Outcome[]) {
  const share = (of: (outcome: Outcome) => boolean) => rateOf(outcomes.filter(of).length, outcomes.length);
  return {
    falseInterruption: share(({ ended, silentMs }) => ended || silentMs > RESUMED_WITHIN_MS),
    held: share(({ holds }) => holds > 0),
    cleared: share(({ clearMs }) => clearMs !== undefined),
  };
}

const report: Record<string, ReturnType<typeof interruptions> | ReturnType<typeof falseAlarms>> = {};
const human = stimuli.filter(({ kind }) => kind === 'human');
for (const [name, pool] of [
  ['speech', interruptionsOf(stimuli)],
  ['human', human],
] as const) {
  if (pool.length === 0) continue;
  const all = LINES.map((line, salt) =>
    run({ line, sounds: 10, firstMs: [3_000, 4_800], nextMs: [4_000, 5_800] }, trials / 2, () => pool, salt),
  );
  report[name] = interruptions(all.flat());
  for (const [at, line] of LINES.entries()) report[`${name} ${line}`] = interruptions(all[at]!);
}
const sounds = LINES.map((line, salt) =>
  run(
    { line, sounds: 10, firstMs: [3_000, 4_800], nextMs: [4_800, 5_700] },
    trials / 2,
    (sound) => stimuli.filter(({ kind }) => kind === KINDS[sound % KINDS.length]),
    100 + salt,
  ),
);
report['false'] = falseAlarms(sounds.flat());
for (const [at, line] of LINES.entries()) {
  report[`false ${line}`] = falseAlarms(sounds[at]!);
  for (const kind of KINDS) report[`${kind} ${line}`] = falseAlarms(sounds[at]!.filter(({ stimulus }) => stimulus.kind === kind));
}
if (values.json) console.log(JSON.stringify({ seed, ...report }));
else for (const [name, row] of Object.entries(report)) console.log(name.padEnd(18), JSON.stringify(row));
