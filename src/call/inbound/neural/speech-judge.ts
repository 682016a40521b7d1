import type { Worker } from 'node:worker_threads';
import { startWorker } from '../../../kernel/entry-file.ts';
import { errorText } from '../../../kernel/errors.ts';
import type { BusinessEvents } from '../../../observability/events.ts';
import type { Logger } from '../../../observability/logger.ts';
import { type FrameWriter, SharedFrames } from './shared-frames.ts';

/** Lines that can be judged at once: as many as one core can do when noise is heard on all of them (measured in `bench/conversation`). */
const LINES = 64;

export interface SpeechJudgeOptions {
  readonly events: Pick<BusinessEvents, 'neuralDetectorRequested' | 'neuralFramesJudged'>;
  readonly logger: Pick<Logger, 'warn'>;
  readonly lines?: number;
  /** Starts the thread; its own when absent. */
  readonly start?: (data: object) => Worker;
}

/**
 * Runs the speech network on one thread for all calls of the process. Calls never wait for it: frames it cannot take are dropped and counted, and
 * calls go on without it when it fails.
 */
export class SpeechJudge implements AsyncDisposable {
  readonly #options: SpeechJudgeOptions;
  readonly #shared: SharedFrames;
  readonly #free: number[];
  readonly #worker: Worker;
  /** Resolves when the thread can answer, or has failed. */
  readonly settled: Promise<void>;
  #state: 'starting' | 'running' | 'gone' = 'starting';
  #wasLate = false;

  constructor(options: SpeechJudgeOptions) {
    const { lines = LINES, start = (data) => startWorker(import.meta.url, 'judge-worker', data) } = options;
    this.#options = options;
    this.#shared = new SharedFrames(lines);
    this.#free = Array.from({ length: lines }, (_, line) => line);
    this.#worker = start({ lines, memory: this.#shared.memory });
    this.#worker.unref();
    this.settled = new Promise((resolve) => {
      this.#worker.once('message', () => {
        if (this.#state === 'starting') this.#state = 'running';
        resolve();
      });
      const gone = (error: string): void => {
        this.#fail(error);
        resolve();
      };
      this.#worker.once('error', (error) => gone(errorText(error)));
      this.#worker.once('exit', () => gone('the thread has ended'));
    });
  }

  /** A judge for one call, to be closed with it; undefined when none is available. */
  open(): FrameWriter | undefined {
    const { events } = this.#options;
    const line = this.#state === 'gone' ? undefined : this.#free.shift();
    events.neuralDetectorRequested({ taken: line !== undefined });
    if (line === undefined) return undefined;
    const writer = this.#shared.open(line);
    let isOpen = true;
    const counts = { judged: 0, late: 0 };
    const isLate = (): void => {
      counts.late += 1;
      this.#behind();
    };
    return {
      write: (frame) => {
        if (this.#state !== 'running' || !isOpen) return false;
        const taken = writer.write(frame);
        if (!taken) isLate();
        return taken;
      },
      read: () => {
        const answer = writer.read();
        if (answer === 'none') isLate();
        else if (answer !== undefined) counts.judged += 1;
        return answer;
      },
      close: () => {
        if (!isOpen) return;
        isOpen = false;
        writer.close();
        this.#free.push(line);
        events.neuralFramesJudged(counts);
      },
    };
  }

  /** Ends the thread; calls that are still open go on without it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#state = 'gone';
    this.#shared.stop();
    await this.#worker.terminate();
  }

  #behind(): void {
    if (this.#wasLate) return;
    this.#wasLate = true;
    this.#options.logger.warn({}, 'neural voice detector is overloaded: late frames use only the built-in detector');
  }

  #fail(error: string): void {
    if (this.#state === 'gone') return;
    this.#state = 'gone';
    this.#options.logger.warn({ error }, 'neural voice detector failed: calls continue with the built-in detector');
  }
}
