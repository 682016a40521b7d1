import type { RecognitionEvent } from '../port.ts';

/** The moment of a step. Either may take its time to tell: most steps ask for neither. */
export interface At {
  readonly nowMs: number;
  /** Bytes given to the socket that the system has not taken yet. */
  readonly bufferedBytes: number;
}

/** What the shell around the protocol has to do, in order. */
export type Effect =
  /** Get a token, a fresh one when the last may have been refused, and open a socket. */
  | { readonly type: 'connect'; readonly freshToken: boolean }
  | { readonly type: 'send'; readonly data: string | Uint8Array }
  | { readonly type: 'disconnect' }
  | { readonly type: 'emit'; readonly event: RecognitionEvent }
  | { readonly type: 'warning'; readonly text: string }
  | { readonly type: 'unknown-event'; readonly name: string };

/** What most steps come to, such as a frame that only fills up a batch. */
export const NO_EFFECTS: readonly Effect[] = [];
