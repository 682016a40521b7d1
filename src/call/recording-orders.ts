/** What the thread that writes recordings is told. */
export type RecordingOrder =
  | {
      readonly type: 'write';
      readonly blocks: readonly {
        readonly id: number;
        readonly path: string;
        readonly atByte: number;
        readonly bytes: Uint8Array;
      }[];
    }
  | { readonly type: 'finish'; readonly id: number };

/** What it tells. */
export type RecordingReport =
  /** These blocks are written, or were refused. */
  | {
      readonly type: 'done';
      readonly count: number;
      readonly failures: readonly { readonly id: number; readonly error: string }[];
    }
  | { readonly type: 'finished'; readonly id: number; readonly exists: boolean; readonly error: string | undefined };
