import type { PlayoutUnit } from './playout-unit.ts';

/** One message of a sentence, and when the carrier starts to play it by our clock. */
export interface Sent {
  readonly unit: PlayoutUnit;
  readonly fromSamples: number;
  readonly toSamples: number;
  readonly startMs: number;
}

/** A mark that was sent and has not come back. */
export interface OutstandingMark {
  readonly name: string;
  readonly unit: PlayoutUnit;
  readonly atSamples: number;
  readonly final: boolean;
  /** When the carrier should have played up to it, by our clock. */
  readonly dueMs: number;
}

export interface Place {
  readonly unit: PlayoutUnit;
  readonly likelySamples: number;
}

/** A clear whose moment at the carrier is not known yet. */
export interface PendingCut {
  readonly mark: string;
  readonly sent: readonly Sent[];
  readonly units: readonly PlayoutUnit[];
}

/** How far each of the units that were sent has been played at a moment of our clock. */
export function placesAt(messages: readonly Sent[], nowMs: number, samplesPerMs: number): readonly Place[] {
  const heard = new Map<PlayoutUnit, number>();
  for (const { unit, fromSamples, toSamples, startMs } of messages) {
    const playedSamples = Math.floor(Math.max(0, nowMs - startMs) * samplesPerMs);
    const likely = nowMs >= startMs ? Math.min(toSamples, fromSamples + playedSamples) : 0;
    if (nowMs >= startMs || !heard.has(unit)) heard.set(unit, Math.max(heard.get(unit) ?? 0, likely));
  }
  return [...heard.entries()].map(([unit, likelySamples]) => ({ unit, likelySamples }));
}

/** Marks of which the mean is taken: about three seconds of speech. */
const MARKS_AVERAGED = 6;

/**
 * The clock of the caller's line against ours of the carrier's playing, as returning marks show it: a mark comes the same way
 * as the caller's frames, so that the timestamp of the frame before it tells when the carrier sent it, whatever the network
 * does. How late a carrier is with its marks is in it as well.
 */
export class PlayingClock {
  #offsetsMs: number[] = [];

  /** @param dueMs when the mark was to be reached by our clock */
  markReturned(lineMs: number | undefined, dueMs: number): void {
    if (lineMs !== undefined) this.#offsetsMs = [...this.#offsetsMs.slice(1 - MARKS_AVERAGED), lineMs - dueMs];
  }

  /** Audio came to an empty queue, and took its own time on the way. */
  startedAnew(): void {
    this.#offsetsMs = [];
  }

  /** The moment of our clock of playing at which a mark was sent; undefined before any other mark told. */
  at(lineMs: number | undefined): number | undefined {
    if (lineMs === undefined || this.#offsetsMs.length === 0) return undefined;
    return lineMs - this.#offsetsMs.reduce((sum, offset) => sum + offset, 0) / this.#offsetsMs.length;
  }
}

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
