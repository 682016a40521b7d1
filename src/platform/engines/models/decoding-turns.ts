import type { Clock } from '../../../kernel/clock.ts';
import type { WorkerSession } from '../recognise/worker-protocol.ts';
import type { OnlineStream } from './sherpa.ts';
import type { StreamingModel } from './streaming-model.ts';

/** Lead of a commit over other streams' running audio. */
const COMMIT_AHEAD_MS = 1_000;
/** Lateness from which running audio is decoded together with a commit, which then waits longer. */
const LATE_MS = 200;

/** A stream in a thread of models. */
export interface ThreadSession extends WorkerSession {
  readonly model: StreamingModel | undefined;
  /**
   * Work without decoding: finds voices, and feeds the model. Bounded.
   * @returns whether more can be done before new input
   */
  prepare(): boolean;
  /** The library's stream when a chunk of it can be decoded. */
  readonly ready: OnlineStream | undefined;
  /** Whether a client waits for the end of this turn. */
  readonly isCommitted: boolean;
  /** When the audio was due in real time. */
  readonly dueMs: number;
  /** A chunk was decoded. */
  decoded(): void;
  /** Ends the stream, and rejects its pending waits with this error. */
  fail(error: unknown): void;
}

/**
 * Decides which chunks a thread decodes next: the one that was due first, a commit's earlier by a second, together with the next ones of the same
 * model. Audio is due in real time, so a stream that sends faster does not delay others, and every chunk comes first at some time: none starves.
 */
export class DecodingTurns {
  readonly #awake = new Set<ThreadSession>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The session has something to do. */
  wake(session: ThreadSession): void {
    this.#awake.add(session);
  }

  /** One piece of work: about as long as one call of the library. @returns whether there is more */
  turn(): boolean {
    for (const session of this.#awake) {
      this.#try([session], () => {
        if (!session.prepare()) this.#awake.delete(session);
      });
    }
    const waiting = [...this.#awake].flatMap((session) => {
      const stream = session.ready;
      const { model } = session;
      if (stream === undefined || model === undefined) return [];
      const { isCommitted, dueMs } = session;
      return [{ session, stream, model, isCommitted, dueMs, rank: dueMs - (isCommitted ? COMMIT_AHEAD_MS : 0) }];
    });
    waiting.sort((a, b) => a.rank - b.rank);
    const [first] = waiting;
    if (first !== undefined) {
      const { model } = first;
      const lateMs = this.#clock.nowMs() - LATE_MS;
      const together = waiting
        .filter((each) => each.model === model && (each.isCommitted || !first.isCommitted || each.dueMs < lateMs))
        .slice(0, model.mostTogether);
      const sessions = together.map(({ session }) => session);
      this.#try(sessions, () => {
        model.decode(together.map(({ stream }) => stream));
        for (const session of sessions) session.decoded();
      });
    }
    return this.#awake.size > 0;
  }

  /** A failure ends these streams only. */
  #try(sessions: readonly ThreadSession[], work: () => void): void {
    try {
      work();
    } catch (error) {
      for (const session of sessions) {
        this.#awake.delete(session);
        session.fail(error);
      }
    }
  }
}
