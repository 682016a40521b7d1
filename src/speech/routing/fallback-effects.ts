import type { RecognitionEvent, SwitchReason } from '../port.ts';

/** What the shell has to do. `lane` numbers the sessions, `candidate` the recognisers, first choice first. */
export type FallbackEffect =
  | { readonly type: 'open'; readonly lane: number; readonly candidate: number }
  | { readonly type: 'send'; readonly lane: number; readonly pcm: Int16Array }
  | { readonly type: 'commit'; readonly lane: number }
  | { readonly type: 'end'; readonly lane: number }
  | { readonly type: 'abort'; readonly lane: number }
  | { readonly type: 'emit'; readonly event: RecognitionEvent }
  /** The session ended by itself: its slot is free. */
  | { readonly type: 'gone'; readonly lane: number }
  /** A commit's final came this long after it. */
  | { readonly type: 'answered'; readonly candidate: number; readonly afterMs: number }
  /** `error` is undefined where it only kept the call waiting. */
  | { readonly type: 'failed'; readonly candidate: number; readonly error: Error | undefined }
  | { readonly type: 'switched'; readonly from: number; readonly to: number; readonly reason: SwitchReason };

export interface FallbackOptions {
  readonly rateHz: number;
  /** Their number. */
  readonly candidates: number;
  /** Whether a session of this candidate may be opened now that gets no audio. */
  readonly mayIdle: (candidate: number) => boolean;
  /** Time, in ms, after which a commit without a final of this candidate is in trouble. */
  readonly finalLateMs: (candidate: number) => number;
  /** `nothingMs` of its capabilities. */
  readonly nothingMs: (candidate: number) => number | undefined;
}

/** One session. */
export interface Lane {
  readonly id: number;
  readonly candidate: number;
  /** Since when it is awaited that it is ready. */
  openedMs: number;
  ready: boolean;
  /** Gets the caller's audio. */
  fed: boolean;
  /** Number of its segment 0 among those of the call. */
  base: number;
  /** Numbers of finals that another session said in its place, in order: its own from there on are higher by one. */
  readonly inserted: number[];
  /** What a session that stands by has said to the caller's audio so far. */
  readonly said: RecognitionEvent[];
}

/** The number among the segments of the call that a segment of a session has. */
export function segmentOf({ base, inserted }: Lane, seg: number): number {
  return inserted.reduce((number, other) => (number >= other ? number + 1 : number), base + seg);
}
