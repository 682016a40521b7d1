import { resample } from '../../../audio/resample.ts';
import { BANDS, FRAME_S, HOP, MelBank, melFrames, RATE_HZ } from '../recognise/mel.ts';
import { forPitch, pitchAt } from './pitch.ts';

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
      shape: Float64Array.from(cosines, (row) => row.reduce((sum, cosine, band) => sum + cosine * decibels[band]!, 0)),
    };
  });
}
