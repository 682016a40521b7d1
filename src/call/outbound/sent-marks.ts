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

/** A mark this long after the end of its audio counts as lost. */
const LOST_MS = 1_500;
/** The same for a carrier that lost one before: some lose or delay all marks after a clear (jambonz), and every sentence would end late. */
const LOST_AGAIN_MS = 300;
/** A lost mark weighs as much as two timely ones, so that a carrier which returns every second one is given up. */
const LOST_WEIGHT = 2;
/** Weight from which marks are not waited for: three losses in a row. */
const GIVEN_UP_WEIGHT = 6;
/** Cap of the weight, so that a few timely marks restore trust. */
const MOST_WEIGHT = 8;
/** Weight of a returned mark with an unknown name: two of them, and no known one, show that the carrier renames marks. */
const FOREIGN_WEIGHT = 3;

/** Decides how long marks are waited for before the playout clock replaces them. */
export class MarkPatience {
  readonly #marks: 'native' | 'none';
  /** Weight of recent losses. */
  #weight = 0;
  #hasReturned = false;

  constructor(marks: 'native' | 'none') {
    this.#marks = marks;
  }

  /** Whether too few marks come back, so that the clock counts instead. Timely marks end that. */
  get hasGivenUp(): boolean {
    return this.#weight >= GIVEN_UP_WEIGHT;
  }

  /**
   * Whether the oldest awaited mark is given up.
   * @param usualMs how late marks usually come back; 0 where none have
   */
  isLost(dueMs: number, nowMs: number, usualMs = 0): boolean {
    if (nowMs < dueMs + this.#graceMs(usualMs)) return false;
    this.#lose(LOST_WEIGHT);
    return true;
  }

  /** A mark came back. */
  returned(dueMs: number, nowMs: number): void {
    this.#hasReturned = true;
    if (nowMs < dueMs + LOST_AGAIN_MS) this.#weight = Math.max(0, this.#weight - 1);
  }

  /** A clear ends the wait for all marks. @param dueMs of the oldest one; undefined where there is none */
  cleared(dueMs: number | undefined, nowMs: number): void {
    if (dueMs !== undefined && nowMs >= dueMs + LOST_AGAIN_MS) this.#lose(LOST_WEIGHT);
  }

  /** Marks were skipped: later ones came back. */
  skipped(count: number): void {
    this.#lose(count * LOST_WEIGHT);
  }

  /** The carrier returned a mark with an unknown name. */
  foreign(): void {
    if (!this.#hasReturned) this.#lose(FOREIGN_WEIGHT);
  }

  #graceMs(usualMs: number): number {
    if (this.#marks === 'none') return 0;
    // Marks later than this arrive too late to be useful.
    if (this.hasGivenUp) return usualMs > LOST_MS ? 0 : Math.min(LOST_AGAIN_MS, usualMs);
    return this.#weight > 0 ? LOST_AGAIN_MS : LOST_MS;
  }

  #lose(weight: number): void {
    this.#weight = Math.min(MOST_WEIGHT, this.#weight + weight);
  }
}
