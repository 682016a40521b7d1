import type { PlayoutOptions } from './playout-queue.ts';

/* What the page and its audio threads say to each other. */

export type SpeakerOptions = Omit<PlayoutOptions, 'outRateHz'>;
export type ToSpeaker =
  | { readonly type: 'audio'; readonly samples: Int16Array }
  | { readonly type: 'mark'; readonly name: string }
  | { readonly type: 'clear' }
  /** How loud each channel is, 0 to 1. */
  | { readonly type: 'gains'; readonly gains: readonly number[] };
export type FromSpeaker =
  | { readonly type: 'mark'; readonly name: string }
  /** Levels of each channel before its gain; root mean square, 0 to 1. */
  | { readonly type: 'levels'; readonly levels: readonly number[]; readonly queuedMs: number };

export interface MicrophoneOptions {
  readonly rateHz: number;
}
/** A frame of 20 ms, and its level: root mean square, 0 to 1. */
export interface FromMicrophone {
  readonly samples: Int16Array;
  readonly level: number;
}
