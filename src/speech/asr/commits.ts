import type { LostAudio, ReplayBuffer } from './replay-buffer.ts';

/** Commits at most outstanding; another one at the same place in the audio adds nothing. */
const MOST_COMMITS = 64;
/** A commit after a voice that has had no final for this long will have none on this socket. */
const ANSWER_TIMEOUT_MS = 5_000;

/** An average word of unhurried speech, without the pause behind it. */
const WORD_MS = 300;

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

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
  /** Since when an answer is awaited: a commit was sent, or the last final came. */
  #awaitedSinceMs: number | undefined;
  /** The commit that was already sent again because nothing answered it. */
  #repeated: number | undefined;
  /** Finals while a commit was outstanding that answered none, though they said neither how far they go nor that more follows. */
  #ambiguous = 0;

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

  /** When an outstanding commit counts as unanswered; undefined when none is awaited. */
  get answerDueMs(): number | undefined {
    return this.#sent.length === 0 || this.#awaitedSinceMs === undefined ? undefined : this.#awaitedSinceMs + ANSWER_TIMEOUT_MS;
  }

  /**
   * The answer is due and did not come. A commit after silence need not have one and is awaited no longer, nor is one that
   * may have had it: the final taken for the words before a pause was all of its turn, then. Another one after a voice is sent
   * again once, on another socket, and then given up with its audio.
   * @returns audio given up, none when it is to be sent again; undefined when the socket may be kept
   */
  unanswered(nowMs: number): LostAudio | undefined {
    const answered = this.#sent.splice(0, this.#ambiguous).at(-1);
    if (answered !== undefined) {
      this.#ambiguous = 0;
      this.#awaitedSinceMs = nowMs;
      this.#audio.settle(answered);
      return undefined;
    }
    this.#awaitedSinceMs = undefined;
    const [commit] = this.#sent;
    const last = this.#sent.at(-1);
    const { settled } = this.#audio;
    if (commit === undefined || last === undefined || !this.#audio.hasVoice(settled, last)) return undefined;
    if (this.#repeated !== commit) {
      this.#repeated = commit;
      return { fromSample: settled, samples: 0 };
    }
    const lost = { fromSample: settled, samples: Math.max(0, commit - settled) };
    this.#audio.settle(commit);
    this.#sent.shift();
    return lost;
  }

  add(atSample: number): void {
    if (this.#due.length + this.#sent.length < MOST_COMMITS) this.#due.push(atSample);
  }

  sent(nowMs: number): void {
    const at = this.#due.shift();
    if (at === undefined) return;
    if (this.#sent.length === 0 || this.#awaitedSinceMs === undefined) this.#awaitedSinceMs = nowMs;
    this.#sent.push(at);
  }

  /** The session died: commits without their final are sent again after the audio before them. */
  rewind(): void {
    this.#due = [...this.#sent, ...this.#due];
    this.#sent = [];
    this.#awaitedSinceMs = undefined;
    this.#ambiguous = 0;
  }

  /** Marks what this final covers as settled, and its commit as answered. */
  heard(final: HeardFinal, nowMs: number): void {
    this.#awaitedSinceMs = nowMs;
    const outstanding = this.#sent.length;
    const commit = this.#sent[0];
    const end = this.#endOf(final);
    if (commit !== undefined && this.#answers(final, end, commit)) {
      this.#sent.shift();
      this.#audio.settle(commit);
    }
    if (end !== undefined) this.#audio.settle(end);
    this.#sent = this.#sent.filter((at) => at > this.#audio.settled);
    if (this.#sent.length === 0) this.#ambiguous = 0;
    else if (this.#sent.length === outstanding && isAmbiguous(final)) this.#ambiguous += 1;
  }

  #endOf({ text, endSample }: HeardFinal): number | undefined {
    if (endSample !== undefined) return endSample;
    if (text.trim() === '') return undefined;
    // An endpoint of the platform's own, found in a pause; where, it does not say. Without a pause it is all that was sent: on a
    // noisy line the words would come a second time from the next socket.
    const end = this.#audio.segmentEnd(spokenMs(text));
    return end ?? (this.#sent.length > 0 ? undefined : this.#audio.next);
  }

  /** Without a mark, a commit is answered by a final after which nobody spoke before the commit. */
  #answers({ text, endOfUtterance }: HeardFinal, end: number | undefined, commit: number): boolean {
    if (endOfUtterance !== undefined) return endOfUtterance;
    if (end === undefined && text.trim() !== '') return true;
    return !this.#audio.hasVoice(end ?? this.#audio.settled, commit);
  }
}

/** About how long words take to say. Languages without spaces have words too. */
function spokenMs(text: string): number {
  let words = 0;
  for (const { isWordLike } of segmenter.segment(text)) if (isWordLike === true) words += 1;
  return words * WORD_MS;
}

/** It has words, and may be all of a turn or only the part before a pause. */
function isAmbiguous({ text, endOfUtterance, endSample }: HeardFinal): boolean {
  return text.trim() !== '' && endOfUtterance === undefined && endSample === undefined;
}
