import type { Clock, Timer } from '../../kernel/clock.ts';
import { SpeechOverloadedError, SpeechUnavailableError } from '../client/errors.ts';
import type { Recogniser, RecognitionEvent, RecognitionOptions, RecognitionSession } from '../port.ts';

export interface RecognitionStreamOptions {
  readonly recogniser: Recogniser;
  readonly clock: Clock;
  /** Aborting any closes the socket, and ends the iteration with its reason. */
  readonly signals?: readonly AbortSignal[];
  /** Events queued for a slow reader; 1,000 when absent. */
  readonly maxEvents?: number;
  /** A commit without an end mark is done this long after its last final; 700 ms when absent. */
  readonly quietMs?: number;
  /** Longest wait for the first final of a commit; 20 s when absent. */
  readonly finalTimeoutMs?: number;
  /** Called once at the session's end. */
  readonly onOver?: () => void;
}

/** The finals of one turn. */
export interface CommittedTurn {
  /** Joined in the order of `seg`, without the empty ones. */
  readonly text: string;
  readonly finals: readonly { readonly seg: number; readonly text: string }[];
}

type Final = CommittedTurn['finals'][number];

interface OpenCommit {
  readonly finals: Final[];
  readonly resolve: (turn: CommittedTurn) => void;
  readonly reject: (error: Error) => void;
}

const MOST_EVENTS = 1_000;
/** Finals kept for the next commit; the oldest are dropped, since an application may never commit. */
const MOST_EARLY_FINALS = 1_000;
const QUIET_MS = 700;
const FINAL_TIMEOUT_MS = 20_000;

/**
 * A recognition session as an async iterable: audio goes in by `send`, events come out in order, and `commit` returns a promise.
 * When events are not read in time, partials are dropped first, since the next one replaces them; when finals alone fill the
 * queue, the session ends with a SpeechOverloadedError, so that no word is lost unnoticed.
 */
export class RecognitionStream implements AsyncIterable<RecognitionEvent>, AsyncDisposable {
  readonly #options: RecognitionStreamOptions;
  readonly #session: RecognitionSession;
  #events: RecognitionEvent[] = [];
  #wake: (() => void) | undefined;
  #failure: Error | undefined;
  #isOver = false;
  readonly #signals: readonly AbortSignal[];
  readonly #commits: OpenCommit[] = [];
  /** Finals that came without an open commit: the first of the next turn. */
  #early: Final[] = [];
  #timer: Timer | undefined;
  readonly #onAbort = (): void => this.#fail(asError(this.#signals.find(({ aborted }) => aborted)?.reason));

  constructor(recognition: RecognitionOptions, options: RecognitionStreamOptions) {
    this.#options = options;
    this.#signals = options.signals ?? [];
    this.#session = options.recogniser.open(recognition, (event) => this.#heard(event));
    for (const signal of this.#signals) signal.addEventListener('abort', this.#onAbort, { once: true });
    if (this.#signals.some(({ aborted }) => aborted)) this.#onAbort();
  }

  /** @param pcm 16-bit mono samples at the declared rate; copied before the call returns */
  send(pcm: Int16Array): void {
    this.#session.send(pcm);
  }

  /**
   * Finalises the turn and returns its finals: those that the platform ended by itself before, and those up to the one marked as
   * the end of the utterance; without a mark, up to `quietMs` after the last (ASR doc, events: "One turn can produce more than
   * one final").
   * @throws SpeechUnavailableError when no final comes in time although the socket lives; the session's error; the signal's
   * reason when aborted
   */
  commit(): Promise<CommittedTurn> {
    return new Promise((resolve, reject) => {
      if (this.#isOver) {
        reject(this.#failure ?? new SpeechUnavailableError('recognition: the session is over'));
        return;
      }
      this.#commits.push({ finals: this.#early, resolve, reject });
      this.#early = [];
      if (this.#commits.length === 1) this.#waitForFinal();
      this.#session.commit();
    });
  }

  /** Finalises and closes; the last finals can still be read. Never rejects. */
  end(): Promise<void> {
    return this.#session.end();
  }

  /** Ends after `closed`. @throws the error that ended the session; the signal's reason when aborted */
  async *[Symbol.asyncIterator](): AsyncGenerator<RecognitionEvent, void, undefined> {
    try {
      for (;;) {
        const event = this.#events.shift();
        if (event !== undefined) yield event;
        else if (this.#isOver) break;
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
      if (this.#failure !== undefined) throw this.#failure;
    } finally {
      this.#close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close();
  }

  #heard(event: RecognitionEvent): void {
    if (this.#isOver) return;
    this.#keep(event);
    if (event.type === 'final') this.#settle(event);
    if (event.type === 'closed') {
      this.#failure = event.error;
      this.#finish();
    }
    this.#wake?.();
  }

  #keep(event: RecognitionEvent): void {
    const { maxEvents = MOST_EVENTS } = this.#options;
    if (this.#events.length >= maxEvents) this.#events = this.#events.filter(({ type }) => type !== 'partial');
    if (this.#events.length < maxEvents || event.type === 'closed') this.#events.push(event);
    else if (event.type !== 'partial') this.#fail(new SpeechOverloadedError('recognition: the events are not read'));
  }

  #settle({ seg, text, endOfUtterance }: Extract<RecognitionEvent, { type: 'final' }>): void {
    const [commit] = this.#commits;
    if (commit === undefined) {
      this.#early.push({ seg, text });
      if (this.#early.length > MOST_EARLY_FINALS) this.#early.shift();
      return;
    }
    commit.finals.push({ seg, text });
    if (endOfUtterance === true) this.#settled();
    // Another final follows, with the same time limit.
    else if (endOfUtterance === false) this.#waitForFinal();
    else this.#after(this.#options.quietMs ?? QUIET_MS, () => this.#settled());
  }

  #settled(): void {
    const commit = this.#commits.shift();
    this.#timer?.cancel();
    commit?.resolve(turnOf(commit));
    if (this.#commits.length > 0) this.#waitForFinal();
  }

  #waitForFinal(): void {
    const limitMs = this.#options.finalTimeoutMs ?? FINAL_TIMEOUT_MS;
    this.#after(limitMs, () => {
      const commit = this.#commits.shift();
      const said = `recognition: no final within ${limitMs} ms of a commit; what was said before it is not transcribed`;
      commit?.reject(new SpeechUnavailableError(said));
      if (this.#commits.length > 0) this.#waitForFinal();
    });
  }

  #after(delayMs: number, task: () => void): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(delayMs, task);
  }

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.#failure = error;
    this.#finish();
    this.#session.abort();
    this.#wake?.();
  }

  /** Settles open commits with the finals that came for them, possibly none. */
  #finish(): void {
    this.#isOver = true;
    this.#options.onOver?.();
    this.#timer?.cancel();
    for (const signal of this.#signals) signal.removeEventListener('abort', this.#onAbort);
    const failure = this.#failure ?? new SpeechUnavailableError('recognition: the session ended before the final');
    for (const commit of this.#commits.splice(0)) {
      if (commit.finals.length > 0 && this.#failure === undefined) commit.resolve(turnOf(commit));
      else commit.reject(failure);
    }
  }

  #close(): void {
    if (this.#isOver) return;
    this.#finish();
    this.#session.abort();
    this.#wake?.();
  }
}

function turnOf({ finals }: OpenCommit): CommittedTurn {
  const ordered = [...finals].sort((one, other) => one.seg - other.seg);
  return { text: ordered.flatMap(({ text }) => text.trim() || []).join(' '), finals: ordered };
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
