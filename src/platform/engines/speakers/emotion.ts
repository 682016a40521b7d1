import { SHAPE } from './voice-features.ts';

/** The whole set of labels. */
export const emotions = ['neutral', 'happy', 'sad', 'angry'] as const;
export type Emotion = (typeof emotions)[number];

/** A stretch of speech as `VoiceTrack` has it. */
export interface Prosody {
  /** As `voiceStatistics` has them. */
  readonly statistics: Float64Array | undefined;
  /** dB. */
  readonly level: number;
}

/** Semitones over 100 Hz, semitones between the quartiles of pitch, and dB. */
export interface UsualProsody {
  readonly pitch: number;
  readonly spread: number;
  readonly level: number;
}

/** Semitones between the quartiles of pitch in unmoved speech. */
const usualSpread = 2.5;
/** How much more likely unmoved speech is. */
const neutralLead = 1.2;

/**
 * Guesses the mood from melody and loudness alone, against the rest of the recording: lively and high is happy, loud is
 * angry, low, soft and flat is sad.
 * @param usual of the whole recording
 * @returns how sure each label is, 0 to 1; together they are 1
 */
export function emotionOf(part: readonly Prosody[], usual: UsualProsody): ReadonlyMap<Emotion, number> {
  const here = prosodyOf(part);
  // Semitones above the recording's usual pitch, dB above its usual loudness, semitones of melody above most people's.
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

/** Sums up stretches of speech: medians, so that a cough counts for nothing. */
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
