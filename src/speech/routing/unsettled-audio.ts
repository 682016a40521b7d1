import { Commits } from '../asr/commits.ts';
import { lostEvent, ReplayBuffer } from '../asr/replay-buffer.ts';
import type { RecognitionEvent } from '../port.ts';

/** Audio without a final that is kept for a session that takes over. */
const KEPT_MS = 10_000;
/** Silence before the first voice that is repeated with it. */
const LEAD_MS = 300;

/** The caller's audio since the last final, with its commits: what a session that takes over has to hear. */
export class UnsettledAudio {
  readonly #rateHz: number;
  readonly #audio: ReplayBuffer;
  readonly #commits: Commits;
  /** Positions of the commits without a final. */
  readonly #unanswered: number[] = [];

  constructor(rateHz: number) {
    this.#rateHz = rateHz;
    this.#audio = new ReplayBuffer((KEPT_MS * rateHz) / 1000, rateHz);
    this.#commits = new Commits(this.#audio, { answersSilence: true });
  }

  /** Commits without a final. */
  get unanswered(): number {
    return this.#unanswered.length;
  }

  /** Whether committed audio has voice: a final of silence is not awaited. */
  get isVoiceCommitted(): boolean {
    const last = this.#unanswered.at(-1);
    return last !== undefined && this.#audio.hasVoice(this.#audio.settled, last);
  }

  /** @param pcm copied where it is kept */
  push(pcm: Int16Array): void {
    this.#audio.push(pcm);
    this.#audio.skip(this.#audio.end);
  }

  commit(nowMs: number): void {
    this.#commits.add(this.#audio.end);
    this.#commits.sent(nowMs);
    this.#unanswered.push(this.#audio.end);
  }

  /** Whether the caller spoke for at least this long before the oldest commit without a final. */
  hasVoice(leastMs: number): boolean {
    const [committed] = this.#unanswered;
    return committed !== undefined && this.#audio.hasVoice(this.#audio.settled, committed, leastMs);
  }

  /** @returns whether the final answers a commit */
  settle(
    { text, endOfUtterance }: Pick<RecognitionEvent & { type: 'final' }, 'text' | 'endOfUtterance'>,
    nowMs: number,
  ): boolean {
    // The answer to a commit covers what was said before it, and nothing behind it.
    const endSample = endOfUtterance === true ? this.#unanswered[0] : undefined;
    this.#commits.heard({ text, endOfUtterance, endSample }, nowMs);
    return endOfUtterance !== false && this.#unanswered.shift() !== undefined;
  }

  /** The audio without a final, and the commits in it, in order. */
  *repeat(nowMs: number): Iterable<Int16Array | 'commit'> {
    const audio = this.#audio;
    audio.rewind();
    this.#commits.rewind();
    // Silence before the first voice need not be heard again. A quiet caller's commit is heard whole.
    const { nextVoice, end } = audio;
    const lead = Math.floor((LEAD_MS * this.#rateHz) / 1000);
    if (nextVoice < end || this.#commits.nextDue === undefined) audio.skip(nextVoice - lead);
    for (let at = this.#commits.nextDue; at !== undefined; at = this.#commits.nextDue) {
      const pcm = audio.takeSamples(at);
      if (pcm.length > 0) yield pcm;
      this.#commits.sent(nowMs);
      yield 'commit';
    }
    const rest = audio.takeSamples(end);
    if (rest.length > 0) yield rest;
  }

  /** Speech that was too long to be kept, once. */
  takeLost(reason: string): RecognitionEvent | undefined {
    const lost = this.#audio.takeLost();
    return lost && lostEvent(lost, this.#rateHz, `${reason}: too long to be kept`);
  }

  close(): void {
    this.#audio.close();
  }
}

/** Allowed lateness of an empty answer beyond the recogniser's own limit. */
const NOTHING_MARGIN_MS = 250;
/** A session answers a commit that was answered in its place within this time, or not at all. */
const OWED_MS = 3_000;

/** How long the session that hears the call has been waited for, and what it has heard since its last final. */
export class FinalWait {
  /** Since when the final of a commit is waited for. */
  sinceMs = 0;
  /** When the latest interim text with new words came: a session that hears new words is not late. */
  #talkedMs = 0;
  #partial = '';
  /** Until when it may say nothing to the commits that another session has answered with nothing. */
  #owedUntilMs: number[] = [];

  /** Words have been heard since the last final. */
  get isHeard(): boolean {
    return this.#partial !== '';
  }

  /**
   * When a commit is late.
   * @param lateMs what is late for an answer with words
   * @param nothingMs how long the recogniser takes to say that there was nothing
   */
  dueMs(lateMs: number, nothingMs: number | undefined): number {
    const mostMs = this.isHeard || nothingMs === undefined ? lateMs : Math.max(lateMs, nothingMs + NOTHING_MARGIN_MS);
    return Math.max(this.sinceMs, this.#talkedMs) + mostMs;
  }

  /** An interim text came. @returns whether it has new words */
  partial(text: string, nowMs: number): boolean {
    if (text.trim() === '' || text === this.#partial) return false;
    this.#partial = text;
    this.#talkedMs = nowMs;
    return true;
  }

  /** A final came. */
  final(): void {
    this.#partial = '';
  }

  /** Another session has answered a commit in its place: there was nothing. */
  answeredForIt(nowMs: number): void {
    this.#owedUntilMs.push(nowMs + OWED_MS);
  }

  /** Whether a final says nothing to a commit that another session has answered so already. */
  isSaid({ text, endOfUtterance }: RecognitionEvent & { type: 'final' }, nowMs: number): boolean {
    if (text.trim() !== '') this.#owedUntilMs = [];
    if (endOfUtterance === false) return false;
    this.#owedUntilMs = this.#owedUntilMs.filter((untilMs) => untilMs > nowMs);
    return this.#owedUntilMs.shift() !== undefined;
  }

  /** Another session hears the call from now on. */
  restart(nowMs: number): void {
    this.sinceMs = nowMs;
    this.#owedUntilMs = [];
  }
}
