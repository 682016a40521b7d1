import type { CallerAct } from '../chat/caller-act.ts';

/** What a caller knows as their turn comes. */
export interface CallerMoment {
  /** The bot's words since the caller's last turn. */
  readonly said: string;
  readonly step: string | undefined;
  /** Slot of a flow, or kind of value, that is asked for. */
  readonly asked: readonly string[];
  /** Slots and variables now. */
  readonly variables: Readonly<Record<string, string>>;
}

/** The caller's act, or why there is none. */
export type NextAct = { readonly act: CallerAct } | { readonly stuck: string };

/** A caller of a simulated call: decides what to do each time the bot lets them. */
export interface Caller {
  next(moment: CallerMoment): Promise<NextAct>;
  /** Whether the next act is to talk over what the bot says now; never, where absent. */
  interrupts?(moment: CallerMoment): boolean;
  /** A kept call, whose sound stands for the caller in calls with sound; absent of other callers. */
  readonly recording?: RecordedCall;
  /** Indexes of the script's turns that were not taken; none of a caller without a script. */
  readonly unused: readonly number[];
}

/** A kept call from the caller's side. Times are ms since its media began. */
export interface RecordedCall {
  /** Their turns as they were understood, for calls in text. */
  readonly acts: readonly CallerAct[];
  /** Everything they sent, silence included. */
  readonly pcm: Int16Array;
  readonly rateHz: number;
  readonly keys: readonly { readonly digit: string; readonly atMs: number }[];
  /** When their side of the call was over. */
  readonly endsMs: number;
}
