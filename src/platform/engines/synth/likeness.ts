import { resample } from '../../../audio/resample.ts';
import { forPitch, pitchAt } from '../acoustics/pitch.ts';
import type { VoiceLikeness } from './port.ts';

/** How espeak's voice is set; pitch and range 0 to 99. */
export interface LikeSound {
  readonly gender: 'female' | 'male';
  readonly variant: string;
  readonly pitch: number;
  readonly range: number;
}

const HOP = 40;

/** Fewer places with a pitch are no voice: 0.2 s. */
const LEAST_VOICED = 20;

/** Further from the median lie the octave errors of the measurement. */
const WITHIN_SEMITONES = 7;

/** @returns undefined when nothing in the clip sounds like a voice of 60 to 420 Hz */
export function likenessOf(pcm: Int16Array, rateHz: number): VoiceLikeness | undefined {
  const samples = forPitch(resample(pcm, rateHz, 8000));
  const heard: number[] = [];
  for (let at = 0; at < samples.length; at += HOP) {
    const pitchHz = pitchAt(samples, at);
    if (pitchHz !== undefined) heard.push(pitchHz);
  }
  if (heard.length < LEAST_VOICED) return undefined;
  heard.sort((a, b) => a - b);
  const pitchHz = heard[heard.length >> 1] ?? 0;
  const near = heard.map((hz) => 12 * Math.log2(hz / pitchHz)).filter((semitones) => Math.abs(semitones) < WITHIN_SEMITONES);
  const part = (share: number): number => near[Math.floor(share * (near.length - 1))] ?? 0;
  return { pitchHz, rangeSemitones: part(0.9) - part(0.1) };
}

/** Median pitch in Hz at settings 0, 25, 50, 75 and 99, measured in English and Hindi (they agree within 3 %). */
const SETTINGS = [0, 25, 50, 75, 99];

const man = { gender: 'male', variant: 'm3', pitchHz: [71, 81, 101, 129, 169] } as const;

const woman = { gender: 'female', variant: 'f2', pitchHz: [121, 148, 187, 241, 313] } as const;

/** Where the two palettes do about equally well. */
const WOMAN_FROM_HZ = 150;

/** Semitones of range for a step of the setting, measured likewise. */
const SEMITONES_A_STEP = 0.12;

/** The settings that come nearest to a likeness; pitches outside 71 to 313 Hz get the nearest end. */
export function soundLike({ pitchHz, rangeSemitones }: VoiceLikeness): LikeSound {
  const { gender, variant, pitchHz: scale } = pitchHz < WOMAN_FROM_HZ ? man : woman;
  const above = scale.findIndex((hz) => hz >= pitchHz);
  const last = scale.length - 1;
  const at =
    above === 0
      ? 0
      : above === -1
        ? last
        : above - 1 + Math.log(pitchHz / scale[above - 1]!) / Math.log(scale[above]! / scale[above - 1]!);
  const low = Math.floor(at);
  const pitch = (SETTINGS[low] ?? 0) + (at - low) * ((SETTINGS[low + 1] ?? 99) - (SETTINGS[low] ?? 0));
  const range = Math.max(0, Math.min(99, rangeSemitones / SEMITONES_A_STEP));
  return { gender, variant, pitch: Math.round(pitch), range: Math.round(range) };
}
