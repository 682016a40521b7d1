import { activeLevelDb, amplify } from '../../../audio/level.ts';
import { seededRandom } from '../../../audio/tone.ts';
import { setImmediate } from 'node:timers/promises';

/** A one-pole or two-pole filter, one sample at a time. */
type Filter = (sample: number) => number;

/** Low-pass, 6 dB per octave. */
function lowPass(cornerHz: number, rateHz: number): Filter {
  const step = 1 - Math.exp((-2 * Math.PI * cornerHz) / rateHz);
  let held = 0;
  return (sample) => {
    held += step * (sample - held);
    return held;
  };
}

/** High-pass, 6 dB per octave. */
function highPass(cornerHz: number, rateHz: number): Filter {
  const low = lowPass(cornerHz, rateHz);
  return (sample) => sample - low(sample);
}

/** Band-pass with roughly unit gain at its centre. */
function resonance(centreHz: number, widthHz: number, rateHz: number): Filter {
  const radius = Math.exp((-Math.PI * widthHz) / rateHz);
  const turn = 2 * radius * Math.cos((2 * Math.PI * centreHz) / rateHz);
  let [last, before] = [0, 0];
  return (sample) => {
    const out = (1 - radius) * 2 * sample + turn * last - radius * radius * before;
    [before, last] = [last, out];
    return out;
  };
}

/** Random numbers in [0, 1) and the sample rate. */
interface SceneOptions {
  readonly random: () => number;
  readonly rateHz: number;
}

/** A generator of samples, at no particular level. */
type Sound = () => number;

const white = ({ random }: SceneOptions): Sound => {
  return () => random() * 2 - 1;
};

function filtered(sound: Sound, ...filters: readonly Filter[]): Sound {
  return () => filters.reduce((sample, filter) => filter(sample), sound());
}

function together(parts: readonly (readonly [gain: number, sound: Sound])[]): Sound {
  return () => parts.reduce((sum, [gain, sound]) => sum + gain * sound(), 0);
}

/** A sound whose amplitude swings between `least` and 1. */
function swelling(sound: Sound, periodS: number, least: number, { rateHz, random }: SceneOptions): Sound {
  const phase = random() * 2 * Math.PI;
  let at = 0;
  return () => {
    at += 1;
    const rise = 0.5 - 0.5 * Math.cos(phase + (2 * Math.PI * at) / (periodS * rateHz));
    return sound() * (least + (1 - least) * rise);
  };
}

/** Short decaying tones at random times: drops, keys, cups. */
function rings(
  { random, rateHz }: SceneOptions,
  about: { readonly perSecond: number; readonly lowHz: number; readonly highHz: number; readonly decayS: number },
): Sound {
  const fade = Math.exp(-1 / (about.decayS * rateHz));
  let [level, phase, step] = [0, 0, 0];
  return () => {
    if (random() < about.perSecond / rateHz) {
      level = 0.3 + 0.7 * random();
      step = (2 * Math.PI * (about.lowHz + (about.highHz - about.lowHz) * random())) / rateHz;
      phase = 0;
    }
    level *= fade;
    phase += step;
    return level * Math.sin(phase);
  };
}

/** A voice at another table: a buzz in two formants with random syllables, no words. */
function murmur(options: SceneOptions, pitchHz: number): Sound {
  const { random, rateHz } = options;
  const low = resonance(450 + 200 * random(), 120, rateHz);
  const high = resonance(1300 + 500 * random(), 200, rateHz);
  let [left, level, wanted, phase] = [0, 0, 0, 0];
  return () => {
    left -= 1;
    if (left <= 0) {
      left = rateHz * (0.08 + 0.2 * random());
      wanted = random() < 0.3 ? 0 : random();
    }
    level += (wanted - level) / (0.02 * rateHz);
    phase = (phase + pitchHz / rateHz) % 1;
    const voice = level * (phase - 0.5 + 0.1 * (random() - 0.5));
    return low(voice) + 0.5 * high(voice);
  };
}

function office(options: SceneOptions): Sound {
  const { rateHz } = options;
  return together([
    [2, filtered(white(options), lowPass(300, rateHz), highPass(60, rateHz))],
    [0.5, filtered(white(options), resonance(120, 20, rateHz))],
    [0.2, rings(options, { perSecond: 6, lowHz: 2000, highHz: 3500, decayS: 0.004 })],
    [0.3, murmur(options, 120)],
  ]);
}

function cafe(options: SceneOptions): Sound {
  const { rateHz } = options;
  const guests = [95, 110, 130, 185, 205, 225].map((pitchHz) => [1, murmur(options, pitchHz)] as const);
  return together([
    ...guests,
    [0.15, filtered(white(options), lowPass(1000, rateHz))],
    [0.12, rings(options, { perSecond: 1.2, lowHz: 2500, highHz: 3700, decayS: 0.06 })],
  ]);
}

function rain(options: SceneOptions): Sound {
  const { rateHz } = options;
  return together([
    [0.6, swelling(filtered(white(options), highPass(900, rateHz)), 6, 0.7, options)],
    [0.5, rings(options, { perSecond: 60, lowHz: 900, highHz: 3500, decayS: 0.003 })],
    [0.3, filtered(white(options), lowPass(400, rateHz))],
  ]);
}

function street(options: SceneOptions): Sound {
  const { rateHz } = options;
  return together([
    [3, swelling(filtered(white(options), lowPass(180, rateHz), highPass(40, rateHz)), 5, 0.3, options)],
    [1, swelling(filtered(white(options), lowPass(900, rateHz), highPass(150, rateHz)), 3.7, 0.1, options)],
    [0.15, swelling(filtered(white(options), resonance(75, 6, rateHz)), 4.3, 0.2, options)],
  ]);
}

const scenes = { office, cafe, rain, street } as const;

/** The presets of the TTS document (speech request, background_audio). */
export type SceneName = keyof typeof scenes;

export function isSceneName(name: string): name is SceneName {
  return Object.hasOwn(scenes, name);
}

/** Length of a scene's loop; the repetition is inaudible behind speech. */
const SCENE_S = 12;
/** The end of a loop fades into its start, so that it repeats without a click. */
const OVERLAP_S = 0.25;
/** Discarded at the start, while the filters settle. */
const SETTLE_S = 0.5;
const SEED = 20_240;

const loops = new Map<string, Promise<Int16Array>>();

/**
 * A preset as a loop: random with a fixed seed, so that every call hears the same; cached by rate and level.
 * @param levelDb level of its loud parts, dBFS
 */
export function sceneLoop(name: SceneName, rateHz: number, levelDb: number): Promise<Int16Array> {
  const key = `${name} ${rateHz} ${levelDb}`;
  let loop = loops.get(key);
  if (loop === undefined) loops.set(key, (loop = makeScene(name, rateHz, levelDb)));
  return loop;
}

async function makeScene(name: SceneName, rateHz: number, levelDb: number): Promise<Int16Array> {
  const sound = scenes[name]({ random: seededRandom(SEED), rateHz });
  for (let left = SETTLE_S * rateHz; left > 0; left -= 1) sound();
  const samples = new Float64Array(SCENE_S * rateHz);
  let peak = 1e-9;
  for (let at = 0; at < samples.length; at += 1) {
    // One second of audio takes some 20 ms to compute.
    if (at % rateHz === 0) await setImmediate();
    const sample = sound();
    samples[at] = sample;
    peak = Math.max(peak, Math.abs(sample));
  }
  return loopOf(
    Int16Array.from(samples, (sample) => (sample / peak) * 20_000),
    rateHz,
    levelDb,
  );
}

/** A clip as a loop at this level; the end of a clip fades into its start. */
export function loopOf(pcm: Int16Array, rateHz: number, levelDb: number): Int16Array {
  const levelled = amplify(pcm, levelDb - activeLevelDb(pcm, rateHz));
  const overlap = Math.min(Math.round(OVERLAP_S * rateHz), pcm.length >> 2);
  const loop = levelled.slice(0, levelled.length - overlap);
  for (let index = 0; index < overlap; index += 1) {
    // Equal-power fade: the two ends are uncorrelated.
    const turn = (Math.PI / 2) * (index / overlap);
    loop[index] = Math.round((loop[index] ?? 0) * Math.sin(turn) + (levelled[loop.length + index] ?? 0) * Math.cos(turn));
  }
  return loop;
}

/** Mixes a loop under speech as it streams. */
export class Backdrop {
  readonly #loop: Int16Array;
  readonly #volume: number;
  #at = 0;

  /** @param volume 0 to 1; at 1 the background is as loud as the speech */
  constructor(loop: Int16Array, volume: number) {
    this.#loop = loop;
    this.#volume = volume;
  }

  /** @returns a new array with the mix, limited to 16 bits */
  under(pcm: Int16Array): Int16Array {
    return Int16Array.from(pcm, (sample) => {
      const behind = this.#loop[this.#at] ?? 0;
      this.#at = (this.#at + 1) % this.#loop.length;
      return Math.max(-32_768, Math.min(32_767, Math.round(sample + this.#volume * behind)));
    });
  }
}
