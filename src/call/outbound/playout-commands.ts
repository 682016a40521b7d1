export type PlayoutCommand =
  /** `startMs`: when the carrier will start playing it, on the gateway's monotonic clock. */
  | {
      readonly type: 'audio';
      /** Not to be changed: it may be where the sentence is kept. */
      readonly pcm: Int16Array;
      readonly unitId: string;
      readonly offsetSamples: number;
      readonly startMs: number;
    }
  | { readonly type: 'mark'; readonly name: string };

export type UnitPlayed = { readonly unitId: string; readonly byMark: boolean };

/** Where playout stood when it was asked: `sure` is proven by marks, `likely` is by the clock. */
export interface HeardPosition {
  readonly unitId: string;
  readonly sureSamples: number;
  readonly likelySamples: number;
}
