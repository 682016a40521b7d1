import type { PlayoutUnit } from './playout-unit.ts';

/** One message of a sentence, and when the carrier starts to play it by our clock. */
export interface Sent {
  readonly unit: PlayoutUnit;
  readonly fromSamples: number;
  readonly toSamples: number;
  readonly startMs: number;
}

/** A sent mark that has not returned. */
export interface OutstandingMark {
  readonly name: string;
  readonly unit: PlayoutUnit;
  readonly atSamples: number;
  readonly final: boolean;
  /** When the carrier should reach it, by our clock. */
  readonly dueMs: number;
}

export interface Place {
  readonly unit: PlayoutUnit;
  readonly likelySamples: number;
}

/** A clear whose moment at the carrier is still unknown. */
export interface PendingCut {
  readonly mark: string;
  readonly sent: readonly Sent[];
  readonly units: readonly PlayoutUnit[];
}

/** How far each sent unit was played at a moment of our clock. */
export function placesAt(messages: readonly Sent[], nowMs: number, samplesPerMs: number): readonly Place[] {
  const heard = new Map<PlayoutUnit, number>();
  for (const { unit, fromSamples, toSamples, startMs } of messages) {
    const playedSamples = Math.floor(Math.max(0, nowMs - startMs) * samplesPerMs);
    const likely = nowMs >= startMs ? Math.min(toSamples, fromSamples + playedSamples) : 0;
    if (nowMs >= startMs || !heard.has(unit)) heard.set(unit, Math.max(heard.get(unit) ?? 0, likely));
  }
  return [...heard.entries()].map(([unit, likelySamples]) => ({ unit, likelySamples }));
}

/** Marks averaged: about three seconds of speech. */
const MARKS_AVERAGED = 6;

/**
 * Relates the caller line's clock to our playout clock, by returned marks. A mark travels with the caller's frames, so the timestamp of the frame
 * before it dates the mark at the carrier, whatever the network does. Includes the carrier's own lateness.
 */
export class PlayingClock {
  #offsetsMs: number[] = [];

  /** @param dueMs when the mark was due by our clock */
  markReturned(lineMs: number | undefined, dueMs: number): void {
    if (lineMs !== undefined) this.#offsetsMs = [...this.#offsetsMs.slice(1 - MARKS_AVERAGED), lineMs - dueMs];
  }

  /** Audio reached an empty queue, with its own network delay. */
  startedAnew(): void {
    this.#offsetsMs = [];
  }

  /** The playout time at which a mark was sent; undefined before any other mark returned. */
  at(lineMs: number | undefined): number | undefined {
    if (lineMs === undefined || this.#offsetsMs.length === 0) return undefined;
    return lineMs - this.#offsetsMs.reduce((sum, offset) => sum + offset, 0) / this.#offsetsMs.length;
  }
}

export type PlayoutCommand =
  /** `startMs`: when the carrier will start playing it, on the gateway's monotonic clock. */
  | {
      readonly type: 'audio';
      /** Read only: may be a view of the sentence. */
      readonly pcm: Int16Array;
      readonly unitId: string;
      readonly offsetSamples: number;
      readonly startMs: number;
    }
  | { readonly type: 'mark'; readonly name: string };

export type UnitPlayed = { readonly unitId: string; readonly byMark: boolean };

/** A unit's playout position: `sure` is proven by marks, `likely` is by the clock. */
export interface HeardPosition {
  readonly unitId: string;
  readonly sureSamples: number;
  readonly likelySamples: number;
}
