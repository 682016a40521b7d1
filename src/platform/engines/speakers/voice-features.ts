import { resample } from '../../../audio/resample.ts';
import { BANDS, FRAME_S, HOP, MelBank, melFrames, RATE_HZ } from '../acoustics/mel.ts';
import { forPitch, pitchAt } from '../acoustics/pitch.ts';

/** Coefficients of the spectrum's shape that are kept, without the first one, which is loudness. */
export const SHAPE = 16;
export const VOICE_FRAME_S = FRAME_S;

/** One 15 ms step of audio. */
export interface VoiceFrame {
  /** dB, on no absolute scale. */
  readonly level: number;
  /** Hz; undefined where nothing is voiced. */
  readonly pitchHz: number | undefined;
  /** `SHAPE` cepstral coefficients: where a throat puts its energy, apart from how loud it is. */
  readonly shape: Float64Array;
}

const bank = new MelBank();
const cosines = Array.from({ length: SHAPE }, (_, k) =>
  Float64Array.from({ length: BANDS }, (__, band) => Math.cos((Math.PI * (k + 1) * (band + 0.5)) / BANDS) * Math.sqrt(2 / BANDS)),
);

/** What is heard of a voice, step by step, in the telephone's band so that every source is comparable. */
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

/** Means and spreads of the shape, then the pitch's median (semitones over 100 Hz) and spread, then the voiced share. */
export const STATISTICS = 2 * SHAPE + 3;
/** Frames this much quieter than the loudest ones are pauses. */
const QUIET_DB = 22;
/** Fewer voiced frames than this (about a fifth of a second) tell nothing of a voice. */
const LEAST_VOICED = 12;

/**
 * Sums up how a voice sounds, over the loud and voiced frames alone: what is said moves these numbers little, who says it
 * moves them a lot.
 * @returns `STATISTICS` numbers, or undefined when there is too little voice in it
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
