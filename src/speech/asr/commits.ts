import type { RecognitionDialect } from './recognition-dialect.ts';
import type { LostAudio, ReplayBuffer } from './replay-buffer.ts';

/** Commits that may be outstanding; a further one is dropped. */
const MOST_COMMITS = 64;
/** A commit after speech without a final for this long counts as unanswered. */
const ANSWER_TIMEOUT_MS = 5_000;

/** An answer to a commit that was answered here comes within this time, or not at all. */
const LATE_ANSWER_MS = 3_000;

/** Length of an average word of slow speech, without a pause. */
const WORD_MS = 300;

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

interface HeardFinal {
  readonly text: string;
  readonly endOfUtterance: boolean | undefined;
  /** Its end in the caller's audio, if the platform states it. */
  readonly endSample: number | undefined;
  /** Whether the recogniser calls it the answer to a commit; absent where it does not say. */
  readonly isAnswer?: boolean | undefined;
}

/** How a recogniser answers commits. */
export type CommitService = Pick<RecognitionDialect, 'answersSilence' | 'silentCommitMs'>;

/**
 * The commits of a session by their position in the caller's audio: those to send, and those that wait for their last final. The
 * protocol has no answer to a commit, so a commit counts as answered when a final covers the audio before it.
 */
export class Commits {
  readonly #audio: ReplayBuffer;
  readonly #service: CommitService;
  #due: number[] = [];
  #sent: number[] = [];
  /** Time of the last sent commit or final, while an answer is awaited. */
  #awaitedSinceMs: number | undefined;
  /** The unanswered commit that was sent a second time. */
  #repeated: number | undefined;
  /** Until when the recogniser may still answer commits that were answered here. */
  #owedUntilMs: number[] = [];
  /** Interim words came that are in no final yet. */
  #hasInterim = false;
  /** Nothing came over the socket since the commit that is awaited. */
  #isDead = false;
  /** Finals during an outstanding commit that may have answered it: without an end position or an end mark. */
  #ambiguous = 0;

  constructor(audio: ReplayBuffer, service: CommitService) {
    this.#audio = audio;
    this.#service = service;
  }

  /** Position of the next commit to send; undefined when none is due. */
  get nextDue(): number | undefined {
    return this.#due[0];
  }

  get outstanding(): number {
    return this.#sent.length;
  }

  /** When an outstanding commit counts as unanswered, or as one of silence; Infinity when none is awaited. */
  get answerDueMs(): number {
    if (this.#sent.length === 0 || this.#awaitedSinceMs === undefined) return Infinity;
    const silentMs = this.#hasInterim || this.#isDead ? Infinity : (this.#service.silentCommitMs ?? Infinity);
    return this.#awaitedSinceMs + Math.min(silentMs, ANSWER_TIMEOUT_MS);
  }

  /** An interim text came. */
  interim(text: string): void {
    this.#hasInterim ||= text.trim() !== '';
  }

  /**
   * Whether the overdue answer is that nothing was recognised, which this recogniser does not say. Over a dead socket it says nothing
   * at all: then the answer is awaited as long as one with words.
   * @param heardMs when anything last came over the socket
   */
  isSilence(heardMs: number): boolean {
    if (this.#hasInterim || this.#service.silentCommitMs === undefined) return false;
    this.#isDead = heardMs < (this.#awaitedSinceMs ?? 0);
    return !this.#isDead;
  }

  /**
   * The answer is overdue. A commit after silence needs no answer, and a commit with an ambiguous final may have had it: both are dropped. A commit
   * after speech is sent again once, on another socket, and then given up with its audio.
   * @returns the audio that is given up, empty when it is sent again; undefined when the socket is kept
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
    if (commit === undefined || last === undefined) return undefined;
    if (!this.#isDead && !this.#audio.hasVoice(settled, last)) return undefined;
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

  /** The next commit is sent. @returns whether it is answered here: it covers only silence, which this recogniser does not report */
  sent(nowMs: number): boolean {
    const at = this.#due.shift();
    if (at === undefined) return false;
    if (this.#sent.length === 0 || this.#awaitedSinceMs === undefined) this.#awaitedSinceMs = nowMs;
    this.#sent.push(at);
    this.#isDead = false;
    return !this.#service.answersSilence && !this.#hasInterim && !this.#audio.hasVoice(this.#audio.settled, at);
  }

  /** The session died: commits without their final are sent again after the audio before them. */
  rewind(): void {
    this.#due = [...this.#sent, ...this.#due];
    this.#sent = [];
    this.#awaitedSinceMs = undefined;
    this.#ambiguous = 0;
    this.#hasInterim = false;
    this.#owedUntilMs = [];
  }

  /** Answers the oldest open commit in the recogniser's place; the recogniser may still answer too. */
  answerHere(nowMs: number): void {
    this.heard({ text: '', endOfUtterance: true, endSample: undefined }, nowMs);
    this.#owedUntilMs.push(nowMs + LATE_ANSWER_MS);
  }

  /** Marks the audio of this final as settled, and its commit as answered. @returns how many commits it answers */
  heard(said: HeardFinal, nowMs: number): number {
    const final = this.#isLate(said, nowMs) ? { ...said, isAnswer: false } : said;
    this.#awaitedSinceMs = nowMs;
    this.#hasInterim = false;
    this.#isDead = false;
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
    return outstanding - this.#sent.length;
  }

  /** Whether this is the answer to a commit that was answered here. With a position, the position tells. */
  #isLate({ isAnswer, endSample }: HeardFinal, nowMs: number): boolean {
    if (isAnswer !== true || endSample !== undefined) return false;
    this.#owedUntilMs = this.#owedUntilMs.filter((untilMs) => untilMs > nowMs);
    return this.#owedUntilMs.shift() !== undefined;
  }

  #endOf({ text, endSample, isAnswer }: HeardFinal): number | undefined {
    if (endSample !== undefined) return endSample;
    if (text.trim() === '' || isAnswer === true) return undefined;
    // The platform ended this segment itself, at a pause whose position it does not state. Without a pause, all sent audio counts
    // as covered: on a noisy line the next socket would return the words a second time.
    const end = this.#audio.segmentEnd(spokenMs(text));
    return end ?? (this.#sent.length > 0 ? undefined : this.#audio.next);
  }

  /** Without a mark, a commit is answered by a final after which there was no speech before the commit. */
  #answers({ text, endOfUtterance, endSample, isAnswer }: HeardFinal, end: number | undefined, commit: number): boolean {
    // The answer to an earlier commit, or the end of an earlier utterance, may still have been on its way.
    if (isAnswer !== undefined && endSample !== undefined)
      return (isAnswer || endOfUtterance === true) && !this.#audio.hasVoice(endSample, commit);
    if (isAnswer !== undefined) return isAnswer;
    if (endOfUtterance !== undefined) return endOfUtterance;
    if (end === undefined && text.trim() !== '') return true;
    return !this.#audio.hasVoice(end ?? this.#audio.settled, commit);
  }
}

/** Approximate speaking time of a text; also for languages without spaces. */
function spokenMs(text: string): number {
  let words = 0;
  for (const { isWordLike } of segmenter.segment(text)) if (isWordLike === true) words += 1;
  return words * WORD_MS;
}

/** Whether a final with words may be a whole turn or only the part before a pause. */
function isAmbiguous({ text, endOfUtterance, endSample, isAnswer }: HeardFinal): boolean {
  return text.trim() !== '' && isAnswer === undefined && endOfUtterance === undefined && endSample === undefined;
}
