import { resample } from '../../../src/audio/resample.ts';
import { buzz } from '../buzz.ts';
import type { OnnxGraph } from './onnx-graph.ts';

/** The words that tiny recognisers know when a test names none. */
export const TINY_WORDS = ['yes', 'no', 'one', 'two', 'doctor', 'monday'] as const;

/** Features of sherpa-onnx: a frame every 10 ms with the logarithms of the energies in 80 mel bands. */
export const BANDS = 80;
/** Frames that become one output of the encoder, as in the published models. */
export const SUBSAMPLING = 4;
/** Turns energies into probabilities: a word that is 3 dB louder than another has 90 %. */
export const STEEPNESS = 3;

const PITCH_HZ = 130;

const melOf = (hz: number): number => 1_127 * Math.log(1 + hz / 700);

/** A word is a hum with one formant: the harmonic next to a place between 500 and 2,800 Hz, evenly spaced in mel. */
export function formantHz(index: number, of: number): number {
  const mel = melOf(500) + ((melOf(2_800) - melOf(500)) * index) / Math.max(1, of - 1);
  return PITCH_HZ * Math.round((700 * (Math.exp(mel / 1_127) - 1)) / PITCH_HZ);
}

/**
 * The sound of words, to be recognised by a tiny recogniser: for each a hum of 260 ms and 140 ms of silence. `no/two` sounds like both
 * words, so that only what is expected can tell them apart.
 * @param vocabulary the one of the recogniser, in its order
 */
export function soundOf(words: readonly string[], rateHz: number, vocabulary: readonly string[] = TINY_WORDS): Int16Array {
  const pause = new Int16Array(0.14 * 16_000);
  const parts = words.flatMap((word) => {
    const formants = word.split('/').map((each) => {
      const index = vocabulary.indexOf(each);
      if (index < 0) throw new RangeError(`${each} is not in the vocabulary`);
      return formantHz(index, vocabulary.length);
    });
    return [...buzz({ hz: PITCH_HZ, formants, seconds: 0.26 }), ...pause];
  });
  return resample(Int16Array.from(parts), 16_000, rateHz);
}

/** How a kind of model wants its features: where the mel bands lie, and what makes of them a natural logarithm of energies. */
export interface Features {
  readonly scale: 'kaldi' | 'slaney';
  readonly fromHz: number;
  readonly toHz: number;
  readonly toEnergy?: number;
  /** Energy of a band that is sound, some 15 dB below that of `soundOf`. */
  readonly sound: number;
}
export const KALDI: Features = { scale: 'kaldi', fromHz: 20, toHz: 7_600, sound: 0 };
export const SENSE_VOICE: Features = { ...KALDI, toHz: 8_000 };
export const NEMO: Features = { scale: 'slaney', fromHz: 0, toHz: 8_000, sound: -4 };
/** Whisper's are the logarithm to the base of ten, plus 4, through 4; what is padded is 0. */
export const WHISPER: Features = { ...NEMO, toEnergy: 4 * Math.LN10, sound: 5 };

const mels = {
  kaldi: melOf,
  slaney: (hz: number): number => (hz < 1_000 ? (hz * 3) / 200 : 15 + (Math.log(hz / 1_000) * 27) / Math.log(6.4)),
};

/** The three bands in which a word is heard, and the energy of its sound there: words differ, since high bands are wider. */
function bandsOf(hz: number, { scale, fromHz, toHz }: Features): { bands: readonly number[]; energy: number } {
  const mel = mels[scale];
  const place = (at: number): number => ((mel(at) - mel(fromHz)) / (mel(toHz) - mel(fromHz))) * (BANDS + 1) - 1;
  const middle = Math.round(place(hz));
  const bands = [middle - 1, middle, middle + 1];
  const energies = bands.map((band) => {
    let sum = 0;
    for (let harmonic = PITCH_HZ; harmonic < 3_600; harmonic += PITCH_HZ) {
      sum += Math.exp(-2 * ((harmonic - hz) / 160) ** 2) * Math.max(0, 1 - Math.abs(place(harmonic) - band));
    }
    return Math.log(sum + 1e-3);
  });
  return { bands, energy: energies.reduce((sum, each) => sum + each, 0) / bands.length };
}

/**
 * The probability of every token in every step of a word recogniser.
 * @param x features [N, frames, 80]
 * @param tokens the word of each token; `''` for the blank, undefined for tokens that are never heard
 * @param pool frames that become one step
 * @returns [N, steps, tokens]
 */
export function probabilities(
  graph: OnnxGraph,
  x: string,
  tokens: readonly (string | undefined)[],
  features: Features,
  pool = SUBSAMPLING,
): string {
  const words = tokens.filter((token) => token !== undefined && token !== '');
  const weights = new Float32Array(BANDS * tokens.length);
  const never = -1_000;
  const bias = tokens.map((token, column) => {
    if (token === undefined) return never;
    if (token === '') return features.sound;
    const { bands, energy } = bandsOf(formantHz(words.indexOf(token), words.length), features);
    for (const band of bands) weights[band * tokens.length + column] = (features.toEnergy ?? 1) / bands.length;
    return -energy;
  });
  const energies = graph.op('Add', [graph.op('MatMul', [x, graph.floats(weights, [BANDS, tokens.length])]), graph.floats(bias)]);
  const steps =
    pool === 1
      ? energies
      : swapped(graph, graph.op('MaxPool', [swapped(graph, energies)], { kernel_shape: [pool], strides: [pool] }));
  return graph.op('Softmax', [graph.op('Mul', [steps, graph.floats(STEEPNESS)])], { axis: -1 });
}

export const swapped = (graph: OnnxGraph, value: string): string => graph.op('Transpose', [value], { perm: [0, 2, 1] });

/** [N, steps, …] from one step to another. */
export function steps(graph: OnnxGraph, value: string, from: number, to: number, axis = 1): string {
  return graph.op('Slice', [value, graph.int64s([from]), graph.int64s([to]), graph.int64s([axis])]);
}

export const END = 2 ** 31;

/**
 * Where words begin: how much likelier sound is than one step before, times the probabilities of the words. More than `BEGUN` is a word;
 * it cannot be reached twice by one sound, even if that comes over two steps.
 * @param now [N, steps, tokens], the blank first
 * @param before the step before them, [N, 1, tokens]
 */
export function beginnings(graph: OnnxGraph, now: string, before: string): string {
  const last = graph.op('Concat', [before, steps(graph, now, 0, -1)], { axis: 1 });
  const louder = graph.op('Sub', [steps(graph, last, 0, 1, 2), steps(graph, now, 0, 1, 2)]);
  return graph.op('Mul', [louder, now]);
}

export const BEGUN = 0.4;

export const NO_POWER = 1e-9;
export const logarithm = (graph: OnnxGraph, value: string): string =>
  graph.op('Log', [graph.op('Add', [value, graph.floats(NO_POWER)])]);
