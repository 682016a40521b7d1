export const qualities = ['low', 'medium', 'high'] as const;

/** How much work goes into a synthesis (TTS doc, quality): higher is more faithful and slower. */
export type Quality = (typeof qualities)[number];

export interface QualityFacts {
  /** Of formats that lose something, in kbit/s. */
  readonly mp3Kbps: 48 | 80 | 128;
  readonly opusKbps: number;
  /** The stretcher looks at every n-th place for the one that fits. */
  readonly searchStep: number;
  /** All sentences are made before the first is sent, and levelled as one. */
  readonly levelWhole: boolean;
}

export const qualityFacts: Readonly<Record<Quality, QualityFacts>> = {
  low: { mp3Kbps: 48, opusKbps: 24, searchStep: 2, levelWhole: false },
  medium: { mp3Kbps: 80, opusKbps: 40, searchStep: 1, levelWhole: false },
  high: { mp3Kbps: 128, opusKbps: 64, searchStep: 1, levelWhole: true },
};
