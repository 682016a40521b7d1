/** Formats of synthesised audio (TTS doc, response_format). */
export interface SpeechFormat {
  readonly name: 'pcm' | 'wav' | 'mp3' | 'ogg_opus' | 'flac' | 'mulaw' | 'alaw';
  readonly mimeType: string;
  readonly rateHz: number;
}

/** 24 kHz, as OpenAI clients assume for `pcm` (reference, 1.5); G.711 is always 8 kHz. */
export const speechFormats: Readonly<Record<SpeechFormat['name'], SpeechFormat>> = {
  pcm: { name: 'pcm', mimeType: 'audio/pcm', rateHz: 24_000 },
  wav: { name: 'wav', mimeType: 'audio/wav', rateHz: 24_000 },
  mp3: { name: 'mp3', mimeType: 'audio/mpeg', rateHz: 24_000 },
  ogg_opus: { name: 'ogg_opus', mimeType: 'audio/ogg', rateHz: 24_000 },
  flac: { name: 'flac', mimeType: 'audio/flac', rateHz: 24_000 },
  mulaw: { name: 'mulaw', mimeType: 'audio/basic', rateHz: 8000 },
  alaw: { name: 'alaw', mimeType: 'audio/x-alaw-basic', rateHz: 8000 },
};

export function isSpeechFormat(name: string): name is SpeechFormat['name'] {
  return Object.hasOwn(speechFormats, name);
}

export const qualities = ['low', 'medium', 'high'] as const;

/** Quality of a synthesis (TTS doc, quality): higher is better and slower. */
export type Quality = (typeof qualities)[number];

export interface QualityFacts {
  /** Bitrates of the lossy formats. */
  readonly mp3Kbps: 48 | 80 | 128;
  readonly opusKbps: number;
  /** Taps of the resampler's filter: more keep more of the highest frequencies, in every format. */
  readonly resamplerHalfTaps: number;
  /** The effort of the Opus coder, which takes most of the time of a long answer: 3 takes a third of what 10 takes. */
  readonly opusComplexity: number;
  /** The time stretch tries every n-th position. */
  readonly searchStep: number;
  /** All sentences are made before the first is sent, and levelled together. */
  readonly levelWhole: boolean;
}

export const qualityFacts: Readonly<Record<Quality, QualityFacts>> = {
  low: { mp3Kbps: 48, opusKbps: 24, opusComplexity: 3, resamplerHalfTaps: 32, searchStep: 2, levelWhole: false },
  medium: { mp3Kbps: 80, opusKbps: 40, opusComplexity: 6, resamplerHalfTaps: 64, searchStep: 1, levelWhole: false },
  high: { mp3Kbps: 128, opusKbps: 64, opusComplexity: 10, resamplerHalfTaps: 128, searchStep: 1, levelWhole: true },
};
