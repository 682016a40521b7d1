import type { Clock, Timer } from '../../../kernel/clock.ts';
import type { LearntPhrase } from './phrase-learner.ts';
import {
  type RecognitionEngineEvent,
  type RecognitionResult,
  type RecognitionStream,
  RecognitionUnavailableError,
} from './port.ts';
import type { FromWorker, ToWorker } from './worker-protocol.ts';

/**
 * A thread that answers pings is late and not stuck, so its commits are waited for. This ends the wait for an answer that was lost.
 */
const COMMIT_DEADLINE_MS = 120_000;

interface PendingCommit {
  resolve(results: readonly RecognitionResult[]): void;
  reject(error: Error): void;
  readonly deadline: Timer;
}

/** One stream on this side of the thread. */
export class Stream implements RecognitionStream {
  readonly #id: number;
  readonly #post: (message: ToWorker) => void;
  readonly #listener: (event: RecognitionEngineEvent) => void;
  readonly #clock: Clock;
  readonly #forget: () => void;
  readonly #learningWaitMs: number;
  readonly #commits: PendingCommit[] = [];
  /** Languages whose phrases are being learnt. */
  #learning = 0;
  /** Messages from the first commit on that waits for what is being learnt. */
  readonly #held: ToWorker[] = [];
  /** Whether the thread was asked if the first held commit can be answered now. */
  #trying = false;
  /** Ends the wait of the held commits. */
  #wait: Timer | undefined;
  /** False once a wait was in vain: a machine that learns so slowly would delay every turn. */
  #waits = true;
  /** The reason the stream ended. */
  #over: string | undefined;

  constructor(
    id: number,
    post: (message: ToWorker) => void,
    listener: (event: RecognitionEngineEvent) => void,
    clock: Clock,
    forget: () => void,
    learningWaitMs: number,
  ) {
    this.#id = id;
    this.#post = post;
    this.#listener = listener;
    this.#clock = clock;
    this.#forget = forget;
    this.#learningWaitMs = learningWaitMs;
  }

  /**
   * Adds phrases when they are learnt. Audio is passed on meanwhile, and a turn that is understood anyway is answered. Another one, and
   * everything after it, waits for the phrases.
   */
  extend(language: string, learnt: Promise<readonly (LearntPhrase | undefined)[]>): void {
    this.#learning += 1;
    if (this.#learning === 1) this.#post({ type: 'learning', stream: this.#id, learning: true });
    void learnt.then((phrases) => {
      if (this.#over !== undefined) return;
      const models = phrases.flatMap((phrase) => phrase?.model ?? []);
      if (models.length > 0) this.#post({ type: 'extend', stream: this.#id, language, models });
      this.#learning -= 1;
      if (this.#learning > 0) return;
      this.#post({ type: 'learning', stream: this.#id, learning: false });
      this.#release();
    });
  }

  get #mayWait(): boolean {
    return this.#waits && this.#learning > 0;
  }

  /** Posts the held messages; the answer to a try comes first, since it may be the answer to the first of them. */
  #release(): void {
    this.#wait?.cancel();
    this.#wait = undefined;
    if (!this.#trying) for (const message of this.#held.splice(0)) this.#post(message);
  }

  /** Asks whether the first held commit can be answered without the phrases. */
  #try(): void {
    this.#trying = true;
    this.#post({ type: 'try-commit', stream: this.#id });
    this.#wait ??= this.#clock.after(this.#learningWaitMs, () => {
      this.#waits = false;
      this.#post({ type: 'learning', stream: this.#id, learning: false });
      this.#release();
    });
  }

  /** The thread answered a try. */
  #tried(committed: boolean): void {
    this.#trying = false;
    if (committed) {
      this.#held.shift();
      this.#wait?.cancel();
      this.#wait = undefined;
      const next = this.#held.findIndex(({ type }) => type === 'commit');
      for (const message of this.#held.splice(0, next === -1 ? Infinity : next)) this.#post(message);
      if (this.#mayWait && this.#held.length > 0) this.#try();
    }
    if (!this.#mayWait) this.#release();
  }

  push(pcm: Int16Array): void {
    if (this.#over !== undefined) return;
    const message: ToWorker = { type: 'push', stream: this.#id, pcm };
    // Posting copies the samples; a message held back needs a copy of its own.
    if (this.#held.length > 0) this.#held.push({ ...message, pcm: pcm.slice() });
    else this.#post(message);
  }

  commit(): Promise<readonly RecognitionResult[]> {
    if (this.#over !== undefined) return Promise.reject(new RecognitionUnavailableError(this.#over));
    return new Promise((resolve, reject) => {
      const deadline = this.#clock.after(COMMIT_DEADLINE_MS + (this.#learning > 0 ? this.#learningWaitMs : 0), () =>
        this.#leave('the recogniser does not answer'),
      );
      this.#commits.push({ resolve, reject, deadline });
      const isFirst = this.#held.length === 0;
      const message: ToWorker = { type: 'commit', stream: this.#id };
      if (isFirst && !this.#mayWait) this.#post(message);
      else this.#held.push(message);
      if (isFirst && this.#mayWait) this.#try();
    });
  }

  close(): void {
    this.#leave('the stream is closed');
  }

  received(message: Extract<FromWorker, { stream: number }>): void {
    switch (message.type) {
      case 'partial':
        this.#listener({ type: 'partial', text: message.text });
        return;
      case 'segment':
        this.#listener({ type: 'segment', result: message.result });
        return;
      case 'undecided':
        this.#tried(false);
        return;
      case 'committed': {
        if (message.tried) this.#tried(true);
        const commit = this.#commits.shift();
        commit?.deadline.cancel();
        commit?.resolve(message.results);
        return;
      }
      case 'failed':
        this.fail(message.reason);
    }
  }

  /** Ends the stream here and its session in the thread. */
  #leave(reason: string): void {
    if (this.#over !== undefined) return;
    this.#post({ type: 'close', stream: this.#id });
    this.fail(reason);
  }

  /** Ends a stream that has no session in the thread any more. */
  fail(reason: string): void {
    this.#over ??= reason;
    this.#held.length = 0;
    this.#wait?.cancel();
    this.#forget();
    for (const commit of this.#commits.splice(0)) {
      commit.deadline.cancel();
      commit.reject(new RecognitionUnavailableError(reason));
    }
  }
}
