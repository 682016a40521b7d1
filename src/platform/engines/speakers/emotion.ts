import { SHAPE } from './voice-features.ts';

/** All labels. */
export const emotions = ['neutral', 'happy', 'sad', 'angry'] as const;
export type Emotion = (typeof emotions)[number];

/** Voice features of a stretch of speech; a `VoiceWindow` has them. */
export interface Prosody {
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
