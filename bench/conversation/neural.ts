// How well voices are told from noise, by the built-in detector and with the neural one beside it, and what that costs.
// Run: npm run bench -- conversation/neural [--json] [--human ../shared/audio/human] [--each 40] [--only human,cough]
// Offline, through the real detectors and turn machine; only the cost is a matter of the machine.
import { parseArgs } from 'node:util';
import { decodeMulaw, encodeMulaw } from '../../src/audio/g711.ts';
import { rmsLevelDb } from '../../src/audio/level.ts';
import { seededRandom } from '../../src/audio/tone.ts';
import { loadVoiceActivity } from '../../src/audio/voice-activity/voice-activity.ts';
import type { VoiceDetector } from '../../src/call/inbound/inbound-audio.ts';
import { FusedDetector } from '../../src/call/inbound/neural/fused-detector.ts';
import { inlineJudge } from '../../src/call/inbound/neural/inline-judge.ts';
import { loadRnnoise } from '../../src/call/inbound/neural/rnnoise-model.ts';
import { DEFAULT_TURN_SETTINGS } from '../../src/call/turn/turn-settings.ts';
import { initialTurn } from '../../src/call/turn/turn-state.ts';
import { stepTurn } from '../../src/call/turn/turn.ts';
import type { TurnEffect, TurnState } from '../../src/call/turn/turn-state.ts';
import { about } from '../document.ts';
import { measureNeuralCost } from './neural-cost.ts';
import { rateOf, summarise } from './statistics.ts';
import { lineNoise, makeStimuli, SPEECH_LEVEL_DB, type Stimulus, type StimulusKind } from './stimuli.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    human: { type: 'string', default: new URL('../../../shared/audio/human', import.meta.url).pathname },
    /** Sounds of each kind. */
    each: { type: 'string', default: '40' },
    only: { type: 'string' },
  },
});
const each = Number(values.each);

const FRAME_MS = 20;
const FRAME = 160;
/** The line is heard for so long before a sound, which the noise floor needs, and after it, in which a turn must end. */
const BEFORE_MS = 1_600;
const AFTER_MS = 3_000;
/** So far below its level a voice is still meant to be heard; what is no voice comes so long after it, past any echo of the filters. */
const VOICE_DB = SPEECH_LEVEL_DB - 15;
const SURELY_OVER_FRAMES = 15;
const CLEAR_WITHIN_MS = 500;
const KINDS = ['human', 'speech', 'backchannel', 'cough', 'knock', 'breath', 'click'] as const satisfies readonly StimulusKind[];
const steady = (ratioDb: number): Int16Array => lineNoise(SPEECH_LEVEL_DB - ratioDb, 3);
const LINES = { clean: undefined, '20 dB': steady(20), '10 dB': steady(10), '5 dB': steady(5), gusts: gusts(10) } as const;
type LineName = keyof typeof LINES;

const makeBuiltIn = await loadVoiceActivity();
const judge = inlineJudge(await loadRnnoise());
const detectors: Readonly<Record<'builtIn' | 'neural', () => VoiceDetector>> = {
  builtIn: () => makeBuiltIn(),
  neural: () => new FusedDetector(makeBuiltIn(), judge.open()),
};

/** Wind and passing cars: noise of this ratio whose level wanders by 20 dB, another place every 300 ms. */
function gusts(ratioDb: number): Int16Array {
  const random = seededRandom(11);
  let [gainDb, wantedDb] = [0, 0];
  return steady(ratioDb).map((sample, at) => {
    if (at % 2_400 === 0) wantedDb = 20 * random() - 14;
    gainDb += (wantedDb - gainDb) / 800;
    return Math.max(-32_768, Math.min(32_767, sample * 10 ** (gainDb / 20)));
  });
}

/** A sound on a line, as a telephone brings it. @param noise of the line, from this place on */
function onLine(pcm: Int16Array, noise: Int16Array | undefined, place: number): Int16Array {
  const from = BEFORE_MS * 8;
  const length = Math.ceil((from + pcm.length + AFTER_MS * 8) / FRAME) * FRAME;
  const sum = Int16Array.from({ length }, (_, at) => {
    const sample = (pcm[at - from] ?? 0) + (noise?.[(at + place) % noise.length] ?? 0);
    return Math.max(-32_768, Math.min(32_767, sample));
  });
  return decodeMulaw(encodeMulaw(sum));
}

type Verdict = ReturnType<VoiceDetector['process']>;

/** What a detector says of each frame. */
function judged(make: () => VoiceDetector, line: Int16Array): readonly Verdict[] {
  const detector = make();
  const verdicts: Verdict[] = [];
  for (let from = 0; from < line.length; from += FRAME) verdicts.push({ ...detector.process(line.subarray(from, from + FRAME)) });
  detector.close();
  return verdicts;
}

/** What the turn machine makes of it. */
function decided(verdicts: readonly Verdict[], phase: TurnState['phase']): (TurnEffect & { readonly atMs: number })[] {
  let state: TurnState = { ...initialTurn(), phase };
  return verdicts.flatMap((verdict, index) => {
    const atMs = (index + 1) * FRAME_MS;
    const step = stepTurn(DEFAULT_TURN_SETTINGS, state, { type: 'frame', frame: { atMs, ...verdict } });
    state = step.state;
    return step.effects.map((effect) => ({ ...effect, atMs }));
  });
}

/** Counts and times of one kind of sound on one line with one detector. */
class Tally {
  readonly onsetMs: number[] = [];
  readonly holdMs: number[] = [];
  readonly clearMs: number[] = [];
  readonly heldMs: number[] = [];
  readonly commitMs: number[] = [];
  hits = 0;
  voices = 0;
  falseAlarms = 0;
  quiet = 0;
  sounds = 0;
  cleared = 0;
  committed = 0;

  /** @param clean the same sound on a line without noise, from which the truth is read */
  add(make: () => VoiceDetector, line: Int16Array, clean: Int16Array, lengthMs: number): void {
    const verdicts = judged(make, line);
    const speaking = decided(verdicts, { name: 'bot-speaking', policy: 'always', contest: undefined });
    const listening = decided(verdicts, { name: 'listening', sinceMs: 0 });
    const isVoice = Array.from({ length: clean.length / FRAME }, (_, frame) => {
      return rmsLevelDb(clean.subarray(frame * FRAME, frame * FRAME + FRAME)) >= VOICE_DB;
    });
    const [first, last] = [isVoice.indexOf(true), isVoice.lastIndexOf(true)];
    this.sounds += 1;
    verdicts.forEach(({ voiced }, frame) => {
      if (isVoice[frame] === true) {
        this.voices += 1;
        this.hits += voiced ? 1 : 0;
      } else if ((frame > 20 && frame < first - 2) || frame > last + SURELY_OVER_FRAMES) {
        this.quiet += 1;
        this.falseAlarms += voiced ? 1 : 0;
      }
    });
    const onset = verdicts.findIndex(({ voiced }, frame) => frame >= first && voiced && verdicts[frame + 1]?.voiced === true);
    if (onset >= 0) this.onsetMs.push((onset + 1 - first) * FRAME_MS);
    const since = (type: TurnEffect['type'], fromMs = BEFORE_MS): number | undefined =>
      speaking.find((effect) => effect.type === type && effect.atMs > fromMs)?.atMs;
    const [holdAt, clearAt] = [since('hold'), since('clear')];
    if (holdAt !== undefined) this.holdMs.push(holdAt - BEFORE_MS);
    if (clearAt !== undefined && clearAt - BEFORE_MS <= CLEAR_WITHIN_MS) {
      this.cleared += 1;
      this.clearMs.push(clearAt - BEFORE_MS);
    } else if (holdAt !== undefined) this.heldMs.push((since('resume', holdAt) ?? holdAt + AFTER_MS) - holdAt);
    const endMs = BEFORE_MS + lengthMs;
    const commit = listening.find(({ type, atMs }) => type === 'commit' && atMs > endMs);
    if (commit !== undefined) {
      this.committed += 1;
      this.commitMs.push(commit.atMs - endMs);
    }
  }

  report() {
    return {
      sounds: this.sounds,
      hitRate: share(this.hits, this.voices),
      falseAlarmRate: share(this.falseAlarms, this.quiet),
      onsetMs: summarise(this.onsetMs),
      holdMs: summarise(this.holdMs),
      clear: rateOf(this.cleared, this.sounds),
      clearMs: summarise(this.clearMs),
      heldMs: summarise(this.heldMs),
      commit: rateOf(this.committed, this.sounds),
      commitMs: summarise(this.commitMs),
    };
  }
}

function share(count: number, n: number): number | null {
  return n === 0 ? null : Math.round((1000 * count) / n) / 1000;
}

/** As many of a kind as are wanted, from all over the list. */
function someOf(stimuli: readonly Stimulus[], kind: StimulusKind): readonly Stimulus[] {
  const all = stimuli.filter((stimulus) => stimulus.kind === kind);
  const count = Math.min(each, all.length);
  return Array.from({ length: count }, (_, index) => all[Math.floor((index * all.length) / count)]!);
}

const stimuli = await makeStimuli(7, each, values.human);
const started = about();
const sounds: Record<string, Partial<Record<LineName, Record<string, ReturnType<Tally['report']>>>>> = {};
for (const kind of KINDS.filter((name) => values.only?.split(',').includes(name) ?? true)) {
  const mine = someOf(stimuli, kind);
  if (mine.length === 0) continue;
  sounds[kind] = {};
  for (const [name, noise] of Object.entries(LINES) as [LineName, Int16Array | undefined][]) {
    const tallies = { builtIn: new Tally(), neural: new Tally() };
    for (const [index, { pcm }] of mine.entries()) {
      const line = onLine(pcm, noise, index * 977);
      const clean = onLine(pcm, undefined, 0);
      for (const detector of ['builtIn', 'neural'] as const)
        tallies[detector].add(detectors[detector], line, clean, pcm.length / 8);
    }
    sounds[kind][name] = { builtIn: tallies.builtIn.report(), neural: tallies.neural.report() };
    console.error(kind, name);
  }
}
const cost = await measureNeuralCost();
const document = { ...started, each, cost, sounds };
if (!values.json) console.error(JSON.stringify(document, null, 2));
console.log(JSON.stringify(document));
process.exit(0);
