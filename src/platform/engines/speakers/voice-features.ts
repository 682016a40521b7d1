import { resample } from '../../../audio/resample.ts';
import { BANDS, FRAME_S, HOP, MelBank, melFrames, RATE_HZ } from '../acoustics/mel.ts';

/** Half the telephone's sample rate: enough for pitch, at a quarter of the work. */
const PITCH_RATE_HZ = 4_000;
const LOWEST_HZ = 60;
const HIGHEST_HZ = 420;
const LONGEST_LAG = Math.ceil(PITCH_RATE_HZ / LOWEST_HZ);
const SHORTEST_LAG = Math.floor(PITCH_RATE_HZ / HIGHEST_HZ);
/** Samples correlated with those one lag later: 40 ms. */
const WINDOW = 160;
/** Below this normalised correlation a frame is breath, noise or silence. */
const VOICED = 0.6;
/** A shorter lag with this share of the best correlation wins: the best lag is a multiple of it. */
const NEARLY = 0.87;

/** Halves the rate of 8 kHz samples by averaging pairs, which is filter enough below 420 Hz. */
export function forPitch(pcm8k: Int16Array): Float64Array {
  return Float64Array.from({ length: pcm8k.length >> 1 }, (_, index) => (pcm8k[2 * index] ?? 0) + (pcm8k[2 * index + 1] ?? 0));
}

/**
 * The fundamental frequency at one place, by normalised autocorrelation.
 * @param samples 4 kHz, from `forPitch`
 * @param at      first sample of the window
 * @returns Hz, 60 to 420; undefined where the sound is not periodic
 */
export function pitchAt(samples: Float64Array, at: number): number | undefined {
  if (at + WINDOW + LONGEST_LAG > samples.length) return undefined;
  const correlations = new Float64Array(LONGEST_LAG + 1);
  let here = 0;
  for (let n = 0; n < WINDOW; n += 1) here += (samples[at + n] ?? 0) ** 2;
  if (here < WINDOW) return undefined;
  let best = 0;
  for (let lag = SHORTEST_LAG; lag <= LONGEST_LAG; lag += 1) {
    let cross = 0;
    let there = 0;
    for (let n = 0; n < WINDOW; n += 1) {
      const later = samples[at + n + lag] ?? 0;
      cross += (samples[at + n] ?? 0) * later;
      there += later * later;
    }
    correlations[lag] = cross / Math.sqrt(here * there + 1);
    best = Math.max(best, correlations[lag] ?? 0);
  }
  if (best < VOICED) return undefined;
  for (let lag = SHORTEST_LAG + 1; lag < LONGEST_LAG; lag += 1) {
    const [left, middle, right] = [correlations[lag - 1] ?? 0, correlations[lag] ?? 0, correlations[lag + 1] ?? 0];
    if (middle < best * NEARLY || middle < left || middle < right) continue;
    const bend = left - 2 * middle + right;
    return PITCH_RATE_HZ / (lag + (bend === 0 ? 0 : (0.5 * (left - right)) / bend));
  }
  return undefined;
}

/** Cepstral coefficients used, without the first one, which is loudness. */
export const SHAPE = 16;
export const VOICE_FRAME_S = FRAME_S;

/** One 15 ms step of audio. */
export interface VoiceFrame {
  /** dB, on no absolute scale. */
  readonly level: number;
  /** Hz; undefined for unvoiced frames. */
  readonly pitchHz: number | undefined;
  /** `SHAPE` cepstral coefficients: the shape of the spectrum, whatever its level. */
  readonly shape: Float64Array;
}

const bank = new MelBank();
const cosines = Array.from({ length: SHAPE }, (_, k) =>
  Float64Array.from({ length: BANDS }, (__, band) => Math.cos((Math.PI * (k + 1) * (band + 0.5)) / BANDS) * Math.sqrt(2 / BANDS)),
);

/** Voice features of each 15 ms, in the telephone band so that all sources are comparable. */
export function voiceFrames(pcm16k: Int16Array): VoiceFrame[] {
  const pcm = resample(pcm16k, 16_000, RATE_HZ);
  const [energies = new Float32Array(0)] = melFrames(pcm, [bank]);
  const halved = forPitch(pcm);
  return Array.from({ length: energies.length / BANDS }, (_, frame) => {
    const decibels = Float64Array.from(
      energies.subarray(frame * BANDS, (frame + 1) * BANDS),
      (energy) => 10 * Math.log10(energy + 1_000),
    );
    return {
      level: decibels.reduce((sum, value) => sum + value, 0) / BANDS,
      pitchHz: pitchAt(halved, (frame * HOP) >> 1),
      shape: Float64Array.from(cosines, (row) => row.reduce((sum, cosine, band) => sum + cosine * (decibels[band] ?? 0), 0)),
    };
  });
}

/** Means and deviations of the shape, then median (semitones over 100 Hz) and spread of the pitch, then the voiced share. */
export const STATISTICS = 2 * SHAPE + 3;
/** Frames this much quieter than the loudest ones are pauses. */
const QUIET_DB = 22;
/** Fewer voiced frames (about 0.2 s) say nothing about a voice. */
const LEAST_VOICED = 12;

/**
 * Statistics of a voice over its loud and voiced frames. They depend little on the words, and much on the speaker.
 * @returns `STATISTICS` numbers, or undefined when there is too little voice
 */
export function voiceStatistics(frames: readonly VoiceFrame[]): Float64Array | undefined {
  const levels = frames.map(({ level }) => level).sort((a, b) => a - b);
  const loud = (levels[Math.floor(levels.length * 0.95)] ?? 0) - QUIET_DB;
  const active = frames.filter(({ level }) => level > loud);
  const voiced = active.filter(({ pitchHz }) => pitchHz !== undefined);
  if (voiced.length < LEAST_VOICED) return undefined;
  const out = new Float64Array(STATISTICS);
  for (let k = 0; k < SHAPE; k += 1) {
    const mean = voiced.reduce((sum, { shape }) => sum + (shape[k] ?? 0), 0) / voiced.length;
    const variance = voiced.reduce((sum, { shape }) => sum + ((shape[k] ?? 0) - mean) ** 2, 0) / voiced.length;
    out[k] = mean;
    out[SHAPE + k] = Math.sqrt(variance);
  }
  const tones = voiced.map(({ pitchHz }) => 12 * Math.log2((pitchHz ?? 100) / 100)).sort((a, b) => a - b);
  const quantile = (share: number): number => tones[Math.floor(share * (tones.length - 1))] ?? 0;
  out[2 * SHAPE] = quantile(0.5);
  out[2 * SHAPE + 1] = quantile(0.75) - quantile(0.25);
  out[2 * SHAPE + 2] = voiced.length / active.length;
  return out;
}

/** All labels. */
export const emotions = ['neutral', 'happy', 'sad', 'angry'] as const;
export type Emotion = (typeof emotions)[number];

/** Voice features of a stretch of speech; a `VoiceWindow` has them. */
interface Prosody {
  /** As `voiceStatistics` returns them. */
  readonly statistics: Float64Array | undefined;
  /** dB. */
  readonly level: number;
}

/** Pitch in semitones over 100 Hz, its interquartile range in semitones, and level in dB. */
export interface UsualProsody {
  readonly pitch: number;
  readonly spread: number;
  readonly level: number;
}

/** Interquartile range of the pitch of neutral speech, in semitones. */
const usualSpread = 2.5;
/** Prior for neutral speech. */
const neutralLead = 1.2;

/**
 * Estimates the emotion from pitch and loudness, relative to the whole recording: lively and high is happy, loud is angry, low, soft
 * and flat is sad.
 * @param usual prosody of the whole recording
 * @returns the probability of each label; they add up to 1
 */
export function emotionOf(part: readonly Prosody[], usual: UsualProsody): ReadonlyMap<Emotion, number> {
  const here = prosodyOf(part);
  // Pitch and level above the recording's own, pitch range above that of neutral speech.
  const high = limited((here.pitch - usual.pitch) / 2);
  const loud = limited((here.level - usual.level) / 3);
  const lively = limited((here.spread - usualSpread) / 1.5);
  const logits: Readonly<Record<Emotion, number>> = {
    neutral: neutralLead,
    happy: 0.7 * high + 0.7 * lively,
    sad: -0.5 * high - 0.5 * loud - 0.5 * lively,
    angry: 1.1 * loud + 0.4 * high - 0.2 * lively,
  };
  const weights = emotions.map((label) => [label, Math.exp(logits[label])] as const);
  const sum = weights.reduce((total, [, weight]) => total + weight, 0);
  return new Map(weights.map(([label, weight]) => [label, weight / sum]));
}

function limited(value: number): number {
  return Math.max(-3, Math.min(3, value));
}

/** The prosody of stretches of speech: medians, so that a cough has no effect. */
export function prosodyOf(parts: readonly Prosody[]): UsualProsody {
  const voiced = parts.flatMap(({ statistics }) => (statistics === undefined ? [] : [statistics]));
  return {
    pitch: median(voiced.map((statistics) => statistics[2 * SHAPE] ?? 0)) ?? 0,
    spread: median(voiced.map((statistics) => statistics[2 * SHAPE + 1] ?? 0)) ?? usualSpread,
    level: median(parts.map(({ level }) => level)) ?? 0,
  };
}

function median(values: readonly number[]): number | undefined {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}
