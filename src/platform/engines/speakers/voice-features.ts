import { resample } from '../../../audio/resample.ts';
import { BANDS, FRAME_S, HOP, MelBank, melFrames, RATE_HZ } from '../acoustics/mel.ts';
import { forPitch, pitchAt } from '../acoustics/pitch.ts';

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
