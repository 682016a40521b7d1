import { MarkPatience } from './mark-patience.ts';
import type { OutstandingMark } from './sent-audio.ts';

export interface SentMarksSettings {
  readonly marks: 'native' | 'none';
  /** See `CarrierCapabilities.marksWhenIdle`. */
  readonly marksWhenIdle?: boolean;
}

/** Marks whose lateness is compared: about two seconds of speech. */
const MARKS_COMPARED = 4;
/** Most given-up marks that are still recognised if they return. */
const MOST_GIVEN_UP = 32;
/** Form of the mark names that `Playout` gives: starts with the generation. */
const OUR_NAME = /^\d+\./u;

/** The sent marks of one call: awaited ones, returned ones, and whether the carrier returns any. */
export class SentMarks {
  readonly #settings: SentMarksSettings;
  readonly #patience: MarkPatience;
  #waiting: OutstandingMark[] = [];
  /** The clock replaced these; they may still return. */
  #givenUp: OutstandingMark[] = [];
  /** Lateness of the last returned marks, newest last. */
  #lateMs: number[] = [];
  #sent = 0;
  #returned = 0;
  #wasGivenUp: boolean;

  constructor(settings: SentMarksSettings) {
    this.#settings = settings;
    this.#patience = new MarkPatience(settings.marks);
    this.#wasGivenUp = settings.marks === 'none';
  }

  /** Awaited marks, oldest first. */
  get waiting(): readonly OutstandingMark[] {
    return this.#waiting;
  }

  /** Least lateness of the last few; 0 until marks have returned. */
  get lateMs(): number {
    return this.#lateMs.length === 0 ? 0 : Math.min(...this.#lateMs);
  }

  /** Whether the carrier should return marks but does not, so that the clock replaces them. */
  get areMissing(): boolean {
    return this.#settings.marks === 'native' && this.#wasGivenUp;
  }

  get summary(): { readonly marksSent?: number; readonly marksReturned?: number; readonly heardEstimated?: number } {
    const counts = this.#sent === 0 ? {} : { marksSent: this.#sent, marksReturned: this.#returned };
    return { ...counts, ...(this.#wasGivenUp ? { heardEstimated: 1 } : {}) };
  }

  /** @returns whether to send it */
  add(mark: OutstandingMark): boolean {
    this.#waiting.push(mark);
    if (this.#settings.marks === 'none') return false;
    this.#sent += 1;
    return true;
  }

  /** @returns marks proven by this one, oldest first, itself last; empty for a name that is not awaited */
  returned(name: string, nowMs: number): readonly OutstandingMark[] {
    const index = this.#waiting.findIndex((mark) => mark.name === name);
    const late = index === -1 ? this.#givenUp.findIndex((mark) => mark.name === name) : this.#givenUp.length - 1;
    if (index === -1 && late === -1) {
      if (!OUR_NAME.test(name)) this.#patience.foreign();
      this.#look();
      return [];
    }
    // Marks return in order, so one proves those before it.
    const proven = [...this.#givenUp.splice(0, late + 1), ...this.#waiting.splice(0, index + 1)];
    const { dueMs } = proven.at(-1)!;
    this.#returned += 1;
    if (index > 0 && this.#settings.marksWhenIdle !== true) this.#patience.skipped(index);
    this.#patience.returned(dueMs, nowMs);
    this.#lateMs = [...this.#lateMs.slice(1 - MARKS_COMPARED), nowMs - dueMs];
    this.#look();
    return proven;
  }

  /** @param endMs when the carrier's audio ends. @returns marks given up now, oldest first */
  expired(nowMs: number, endMs: number): readonly OutstandingMark[] {
    const lost: OutstandingMark[] = [];
    for (let mark = this.#waiting[0]; mark !== undefined && this.#isOver(mark, nowMs, endMs); mark = this.#waiting[0]) {
      this.#waiting.shift();
      lost.push(mark);
    }
    if (lost.length === 0) return lost;
    this.#givenUp = [...this.#givenUp, ...lost].slice(-MOST_GIVEN_UP);
    this.#look();
    return lost;
  }

  /** Everything was cleared: outstanding marks prove nothing. */
  clear(nowMs: number): void {
    this.#patience.cleared(this.#waiting[0]?.dueMs, nowMs);
    this.#waiting = [];
    this.#givenUp = [];
    this.#look();
  }

  #isOver({ dueMs }: OutstandingMark, nowMs: number, endMs: number): boolean {
    // For such a carrier, a mark followed by more audio never returns, which is normal.
    if (this.#settings.marksWhenIdle === true && dueMs < endMs) return nowMs >= dueMs;
    return this.#patience.isLost(dueMs, nowMs, this.lateMs);
  }

  #look(): void {
    this.#wasGivenUp ||= this.#patience.hasGivenUp;
  }
}
