import type { ReplayBuffer } from './replay-buffer.ts';

/** Commits at most outstanding; another one at the same place in the audio adds nothing. */
const MOST_COMMITS = 64;

interface HeardFinal {
  readonly text: string;
  readonly endOfUtterance: boolean | undefined;
  /** Where it ends, as a position in the caller's audio, where the platform says so. */
  readonly endSample: number | undefined;
}

/**
 * The commits of a session by their place in the caller's audio: which are to be sent, and which wait for their last final.
 * The documents give a commit no answer of its own, so a final is judged by what it covers.
 */
export class Commits {
  readonly #audio: ReplayBuffer;
  #due: number[] = [];
  #sent: number[] = [];

  constructor(audio: ReplayBuffer) {
    this.#audio = audio;
  }

  /** Position of the next commit to send; undefined when none is due. */
  get nextDue(): number | undefined {
    return this.#due[0];
  }

  get outstanding(): number {
    return this.#sent.length;
  }

  add(atSample: number): void {
    if (this.#due.length + this.#sent.length < MOST_COMMITS) this.#due.push(atSample);
  }

  sent(): void {
    const at = this.#due.shift();
    if (at !== undefined) this.#sent.push(at);
  }

  /** The session died: commits without their final are sent again after the audio before them. */
  rewind(): void {
    this.#due = [...this.#sent, ...this.#due];
    this.#sent = [];
  }

  /** Marks what this final covers as settled, and its commit as answered. */
  heard(final: HeardFinal): void {
    const commit = this.#sent[0];
    const end = this.#endOf(final);
    if (commit !== undefined && this.#answers(final, end, commit)) {
      this.#sent.shift();
      this.#audio.settle(commit);
    }
    if (end !== undefined) this.#audio.settle(end);
    this.#sent = this.#sent.filter((at) => at > this.#audio.settled);
  }

  #endOf({ text, endSample }: HeardFinal): number | undefined {
    if (endSample !== undefined) return endSample;
    // An endpoint of the platform's own, found in a pause; where, it does not say.
    return text.trim() === '' ? undefined : this.#audio.firstPauseEnd();
  }

  /** Without a mark, a commit is answered by a final after which nobody spoke before the commit. */
  #answers({ text, endOfUtterance }: HeardFinal, end: number | undefined, commit: number): boolean {
    if (endOfUtterance !== undefined) return endOfUtterance;
    if (end === undefined && text.trim() !== '') return true;
    return !this.#audio.hasVoice(end ?? this.#audio.settled, commit);
  }
}
