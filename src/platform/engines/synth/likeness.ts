import { resample } from '../../../audio/resample.ts';
import { forPitch, pitchAt } from '../acoustics/pitch.ts';
import type { VoiceLikeness } from './port.ts';

/** Settings of espeak's voice; pitch and range 0 to 99. */
export interface LikeSound {
  readonly gender: 'female' | 'male';
  readonly variant: string;
  readonly pitch: number;
  readonly range: number;
}

const HOP = 40;

/** With fewer voiced positions (0.2 s) there is no voice. */
const LEAST_VOICED = 20;

/** Values further from the median are octave errors of the measurement. */
const WITHIN_SEMITONES = 7;

/** @returns undefined when nothing in the clip sounds like a voice of 60 to 420 Hz */
export function likenessOf(pcm: Int16Array, rateHz: number): VoiceLikeness | undefined {
  const samples = forPitch(resample(pcm, rateHz, 8000));
  const pitches: number[] = [];
  for (let at = 0; at < samples.length; at += HOP) {
    const pitchHz = pitchAt(samples, at);
    if (pitchHz !== undefined) pitches.push(pitchHz);
  }
  if (pitches.length < LEAST_VOICED) return undefined;
  pitches.sort((a, b) => a - b);
  const pitchHz = pitches[pitches.length >> 1] ?? 0;
  const near = pitches.map((hz) => 12 * Math.log2(hz / pitchHz)).filter((semitones) => Math.abs(semitones) < WITHIN_SEMITONES);
  const part = (share: number): number => near[Math.floor(share * (near.length - 1))] ?? 0;
  return { pitchHz, rangeSemitones: part(0.9) - part(0.1) };
}

/** Median pitch in Hz at each pitch setting, measured in English and Hindi (they agree within 3 %). */

const man = { gender: 'male', variant: 'm3', scale: scaleOf(71, 81, 101, 129, 169) } as const;

const woman = { gender: 'female', variant: 'f2', scale: scaleOf(121, 148, 187, 241, 313) } as const;

/** The pitch at which both voices fit about equally well. */
const WOMAN_FROM_HZ = 150;

/** Semitones of range per step of the setting, measured likewise. */
const SEMITONES_A_STEP = 0.12;

/** The settings nearest to a likeness; pitches outside 71 to 313 Hz get the nearest end. */
export function soundLike({ pitchHz, rangeSemitones }: VoiceLikeness): LikeSound {
  const { gender, variant, scale } = pitchHz < WOMAN_FROM_HZ ? man : woman;
  const above = scale.findIndex(({ hz }) => hz >= pitchHz);
  const [low, high] = [scale[above - 1], scale[above]];
  const nearest = above === 0 ? 0 : 99;
  const pitch =
    low === undefined || high === undefined
      ? nearest
      : low.setting + (high.setting - low.setting) * (Math.log(pitchHz / low.hz) / Math.log(high.hz / low.hz));
  const range = Math.max(0, Math.min(99, rangeSemitones / SEMITONES_A_STEP));
  return { gender, variant, pitch: Math.round(pitch), range: Math.round(range) };
}

function scaleOf(...pitchesHz: [number, number, number, number, number]): readonly { setting: number; hz: number }[] {
  return pitchesHz.map((hz, index) => ({ setting: Math.min(99, 25 * index), hz }));
}
