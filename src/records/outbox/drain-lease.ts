import type { Clock } from '../../kernel/clock.ts';
import { FolderLock } from '../../kernel/folder-lock.ts';
import { SingleFlight } from '../../kernel/waiting.ts';

/**
 * The right to look after a data folder: to drain its outboxes, and to end the calls that dead processes left open. Of the
 * gateways on one folder one has it; when that one ends, however it ends, the next that asks takes it.
 */
export class DrainLease {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #onProblem: (error: Error) => void;
  readonly #taking = new SingleFlight<boolean>();
  #lock: FolderLock | undefined;
  #released = false;

  /** @param onProblem hears of a disk that refuses the lease, again and again as it is asked for */
  constructor(folder: string, clock: Clock, onProblem: (error: Error) => void) {
    this.#folder = folder;
    this.#clock = clock;
    this.#onProblem = onProblem;
  }

  /** Whether this process has the lease; takes a free one. */
  held(): Promise<boolean> {
    return this.#taking.run(async () => {
      try {
        if (this.#released) return false;
        if ((await this.#lock?.isHeld()) === true) return true;
        const attempt = await FolderLock.acquire(this.#folder, this.#clock);
        this.#lock = attempt.state === 'held' ? attempt.lock : undefined;
        return this.#lock !== undefined;
      } catch (error) {
        this.#onProblem(error instanceof Error ? error : new Error('the drain lease cannot be taken', { cause: error }));
        return false;
      }
    });
  }

  /** Leaves the folder to others, for good. */
  async release(): Promise<void> {
    this.#released = true;
    await this.#taking.run(async () => false);
    // A disk that does not take the word finds its owner dead soon.
    await this.#lock?.release().catch((error: Error) => this.#onProblem(error));
  }
}
