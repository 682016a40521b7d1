import { parentPort } from 'node:worker_threads';
import { z } from 'zod';
import { errorText } from '../../../kernel/errors.ts';
import type { RecognitionResult } from './port.ts';

/** Start data of the built-in recogniser's thread: models on disk. */
export const workerDataSchema = z.object({
  languages: z.array(z.object({ language: z.string(), vocabularyFile: z.string(), modelFile: z.string() })),
});

/** Messages to the thread. Both ends are our own code, so these are types, not schemas. */
export type ToWorker =
  | ({ type: 'open'; stream: number } & OpenedStream)
  /** Learnt phrases of a language, recognised in this stream from now on. */
  | { type: 'extend'; stream: number; language: string; models: readonly Uint8Array[] }
  /** Phrases of the stream are being learnt, or none are any more: meanwhile an unknown utterance is not given up. */
  | { type: 'learning'; stream: number; learning: boolean }
  | { type: 'push'; stream: number; pcm: Int16Array }
  | { type: 'commit'; stream: number }
  /** A commit if the turn is understood; else its audio is kept, and `undecided` answers. */
  | { type: 'try-commit'; stream: number }
  | { type: 'close'; stream: number }
  /** Answered with a pong as soon as the thread reads it, before what waits. */
  | { type: 'ping' };

/** To the built-in recogniser's thread: all phrases that every stream of a language hears, in place of earlier ones. */
export interface VocabularyMessage {
  readonly type: 'vocabulary';
  readonly language: string;
  readonly models: readonly Uint8Array[];
}

export interface OpenedStream {
  readonly language: string;
  readonly rateHz: number;
  readonly boostPhrases: readonly string[];
  readonly boostWeight?: number | undefined;
}

/** Messages from the thread; `committed` answers commits in their order, `tried` a try. */
export type FromWorker =
  | { type: 'ready' }
  | { type: 'pong' }
  | (SessionEvent & { stream: number })
  | { type: 'committed'; stream: number; tried: boolean; results: readonly RecognitionResult[] }
  | { type: 'undecided'; stream: number }
  | { type: 'failed'; stream: number; reason: string };

export type SessionEvent =
  | { readonly type: 'partial'; readonly text: string }
  | { readonly type: 'segment'; readonly result: RecognitionResult };

/** One stream inside the thread. What it throws, and a commit that rejects, ends it. */
export interface WorkerSession {
  /** @param isLate whether the audio waited so long in the thread that partials are not worth their time */
  push(pcm: Int16Array, isLate?: boolean): void;
  /** Commits are answered in their order. */
  commit(): readonly RecognitionResult[] | Promise<readonly RecognitionResult[]>;
  /** Absent where the models know any word, as the next two are. */
  extend?(language: string, models: readonly Uint8Array[]): void;
  learning?(learning: boolean): void;
  /** Commits a turn that is understood, or that no more words can make understood; else undefined. */
  tryCommit?(): readonly RecognitionResult[] | undefined;
  close?(): void;
}

/** What a session sends beside the answers of its commits. */
export interface SessionOutputs {
  readonly emit: (event: SessionEvent) => void;
  /** Ends the session. */
  readonly fail: (error: unknown) => void;
}

/** Audio that waited so long finds the thread behind: it catches up without partials, and finals come late instead of never. */
const LATE_MS = 1_000;

type Work = Exclude<ToWorker, { type: 'ping' }>;
type Open = (stream: OpenedStream, outputs: SessionOutputs) => WorkerSession;

/**
 * The thread's side: serves streams until the thread ends, their messages in order. A session that fails is reported and dropped. Messages
 * are read before the first of them is worked on, so that a thread with much to do answers pings.
 */
export function serveSessions(open: Open): void {
  const sessions = new Sessions(open);
  const waiting: { readonly message: Work; readonly readMs: number }[] = [];
  const work = (): void => {
    const next = waiting.shift();
    if (next === undefined) return;
    try {
      sessions.handle(next.message, performance.now() - next.readMs > LATE_MS);
    } catch (error) {
      sessions.fail(next.message.stream, error);
    }
    if (waiting.length > 0) setImmediate(work);
  };
  parentPort?.on('message', (message: ToWorker | VocabularyMessage) => {
    if (message.type === 'vocabulary') return;
    if (message.type === 'ping') {
      send({ type: 'pong' });
      return;
    }
    if (waiting.push({ message, readMs: performance.now() }) === 1) setImmediate(work);
  });
  send({ type: 'ready' });
}

function send(message: FromWorker): void {
  parentPort?.postMessage(message, []);
}

class Sessions {
  readonly #open: Open;
  readonly #sessions = new Map<number, WorkerSession>();

  constructor(open: Open) {
    this.#open = open;
  }

  /** Reports a failure once; a closed session has no listener. */
  fail(stream: number, error: unknown): void {
    if (this.#sessions.delete(stream)) send({ type: 'failed', stream, reason: errorText(error) });
  }

  handle(message: Work, isLate: boolean): void {
    const { stream } = message;
    const session = this.#sessions.get(stream);
    switch (message.type) {
      case 'open': {
        // An opening that throws is a failure as well.
        this.#sessions.set(stream, { push: () => undefined, commit: () => [] });
        const emit = (event: SessionEvent): void => send({ ...event, stream });
        this.#sessions.set(stream, this.#open(message, { emit, fail: (error) => this.fail(stream, error) }));
        return;
      }
      case 'extend':
        session?.extend?.(message.language, message.models);
        return;
      case 'learning':
        session?.learning?.(message.learning);
        return;
      case 'push':
        session?.push(message.pcm, isLate);
        return;
      case 'try-commit': {
        if (session === undefined) return;
        const results = session.tryCommit?.();
        send(results === undefined ? { type: 'undecided', stream } : { type: 'committed', stream, tried: true, results });
        return;
      }
      case 'commit':
        if (session !== undefined) this.#commit(stream, session);
        return;
      case 'close':
        this.#sessions.delete(stream);
        session?.close?.();
        return;
    }
  }

  #commit(stream: number, session: WorkerSession): void {
    const committed = (results: readonly RecognitionResult[]): void => send({ type: 'committed', stream, tried: false, results });
    const results = session.commit();
    if (results instanceof Promise) results.then(committed, (error: unknown) => this.fail(stream, error));
    else committed(results);
  }
}
