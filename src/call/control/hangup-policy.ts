import type { Clock, Timer } from '../../kernel/clock.ts';

export interface HangupFloor {
  /** The caller is speaking, or what they said has still to be answered. */
  isTaken(): boolean;
  hangUp(reason: string): void;
}

/** A room that never falls silent keeps no call open. */
const MOST_PATIENCE_MS = 10_000;

/** Whether and when the bot hangs up: once what it is saying was heard, or after last words that nothing can interrupt. */
export class HangupPolicy {
  readonly #clock: Clock;
  readonly #afterMarkMs: number;
  readonly #floor: HangupFloor;
  #reason: string | undefined;
  #last = false;
  /** What was to come after the words that were heard is being done. */
  #acting = false;
  #timer: Timer | undefined;
  #act: (() => void) | undefined;

  /** @param afterMarkMs pause between the last mark and the end of the call */
  constructor(clock: Clock, afterMarkMs: number, floor: HangupFloor) {
    this.#clock = clock;
    this.#afterMarkMs = afterMarkMs;
    this.#floor = floor;
  }

  /** Why the bot hangs up once it was heard out; undefined while it means to go on. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** The reason, unless something has still to be done before it is true. */
  get settled(): string | undefined {
    return this.#act === undefined ? this.#reason : undefined;
  }

  /** The last words are being said: nothing the caller does changes that. */
  get last(): boolean {
    return this.#last;
  }

  /** Nothing that comes from the caller counts: last words are said, or what follows them is being done. */
  get deaf(): boolean {
    return this.#last || this.#acting;
  }

  /** @param act in place of hanging up */
  afterThis(reason: string, act?: () => void): void {
    if (this.#last) return;
    this.#reason = reason;
    this.#act = act;
  }

  /** @param act in place of hanging up; last words may follow it once more, when it fails */
  lastWords(reason: string, act?: () => void): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#acting = false;
    this.#act = act;
    this.#reason = reason;
    this.#last = true;
  }

  /** A caller who answers the goodbye is not hung up on. */
  answered(): void {
    this.#reason = undefined;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** What was being said was heard out. */
  heardOut(): void {
    const reason = this.#reason;
    if (reason === undefined || this.#acting) return;
    const untilMs = this.#clock.nowMs() + MOST_PATIENCE_MS;
    this.#timer ??= this.#clock.after(this.#afterMarkMs, () => this.#leaveUnlessTaken(reason, untilMs));
  }

  /** Nobody is hung up on who has begun to answer the goodbye: it is either answered, or was nothing. */
  #leaveUnlessTaken(reason: string, untilMs: number): void {
    if (this.#last || !this.#floor.isTaken() || this.#clock.nowMs() >= untilMs) return this.#leave(reason);
    this.#timer = this.#clock.after(this.#afterMarkMs, () => this.#leaveUnlessTaken(reason, untilMs));
  }

  /** The last words cannot be heard: what was to follow them comes now. @param otherwise reason of the end where there is none yet */
  cutShort(otherwise: string): void {
    this.#timer?.cancel();
    this.#leave(this.#reason ?? otherwise);
  }

  #leave(reason: string): void {
    const act = this.#act;
    this.#act = undefined;
    if (act === undefined) return this.#floor.hangUp(reason);
    this.#acting = true;
    this.#last = false;
    act();
  }

  cancel(): void {
    this.#timer?.cancel();
  }
}
