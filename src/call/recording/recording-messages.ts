/** One block of a recording, by where it stands in the bytes that come with it and in the audio of its file. */
export interface RecordingBlock {
  readonly id: number;
  /** With the first block of a file. */
  readonly path: string | undefined;
  readonly atByte: number;
  readonly length: number;
}

/**
 * What the thread that writes recordings is told. Blocks lie one behind the other in `memory`, which changes hands, and comes back
 * when they are written: the same few pieces go to and fro.
 */
export type RecordingCommand =
  | { readonly type: 'write'; readonly blocks: readonly RecordingBlock[]; readonly memory: ArrayBuffer }
  | { readonly type: 'finish'; readonly id: number };

/** What it tells. */
export type RecordingReport =
  /** These blocks are written, or were refused. */
  | {
      readonly type: 'done';
      readonly bytes: number;
      readonly memory: ArrayBuffer;
      readonly failures: readonly { readonly id: number; readonly error: string }[];
    }
  | { readonly type: 'finished'; readonly id: number; readonly exists: boolean; readonly error: string | undefined };
