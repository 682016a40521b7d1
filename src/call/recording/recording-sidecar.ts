export interface RecordingGap {
  readonly fromMs: number;
  readonly toMs: number;
  readonly reason: string;
}

/** Until the end where `toMs` is absent. */
export interface KeptInterval {
  readonly fromMs: number;
  readonly toMs: number | undefined;
}

/** Written beside the WAV file as JSON: what the sound alone does not tell. */
export interface RecordingSidecar {
  readonly version: 1;
  readonly callId: string;
  readonly rateHz: number;
  readonly channels: readonly ['caller', 'bot'];
  /** Wall time of sample 0, in ms since the Unix epoch. */
  readonly startedAtWallMs: number;
  readonly durationMs: number;
  readonly gaps: readonly RecordingGap[];
  /** What of it was kept; silence stands everywhere else. One interval from 0 where everything was. */
  readonly kept: readonly KeptInterval[];
  readonly lostSamples: number;
  /** Set when the disk refused a block; the file holds what was written before. */
  readonly failure: string | undefined;
}
