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

export const scenes = { office, cafe, rain, street } as const;

/** The presets of the TTS document (speech request, background_audio). */
export type SceneName = keyof typeof scenes;

export function isSceneName(name: string): name is SceneName {
  return Object.hasOwn(scenes, name);
}
