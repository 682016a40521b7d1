export interface RecordingGap {
  readonly fromMs: number;
  readonly toMs: number;
  readonly reason: string;
}

/** Until the end of the recording where `toMs` is absent. */
export interface KeptInterval {
  readonly fromMs: number;
  readonly toMs: number | undefined;
}

/** JSON beside the WAV file: what the audio alone does not show. */
export interface RecordingSidecar {
  readonly version: 1;
  readonly callId: string;
  readonly rateHz: number;
  readonly channels: readonly ['caller', 'bot'];
  /** Wall time of sample 0, in ms since the Unix epoch. */
  readonly startedAtWallMs: number;
  readonly durationMs: number;
  readonly gaps: readonly RecordingGap[];
  /** The intervals that were kept; silence elsewhere. One interval from 0 for a full recording. */
  readonly kept: readonly KeptInterval[];
  readonly lostSamples: number;
  /** Set when the disk refused a block; the file holds what was written before. */
  readonly failure: string | undefined;
}
