import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { within } from '../kernel/waiting.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';
import { countsOf, type MetricsSnapshot } from '../observability/metrics.ts';
import { MediaProcessError } from './errors.ts';
import { PendingAsks } from './answers.ts';
import { type Asked, type Given, type ProcessOrderName, report, type Report } from './protocol.ts';

export interface MediaProcessOptions {
  /** 1 for the first. */
  readonly number: number;
  readonly child: ChildProcess;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What it says by itself. */
  readonly onReport: (report: Report) => void;
}

/** How often the front looks whether processes are heard of. They say every two seconds how late their event loops are. */
export const LOOK_MS = 1_000;
/** A process that has not been heard of at so many looks is given no calls. */
const SILENT_LOOKS = 6;
/** One that has not been heard of at so many is killed: to its callers the line has been dead since. */
const DEAD_LOOKS = 20;

/** One media process as the front sees it: asks it, and knows how it stands. */
export class MediaProcess {
  readonly number: number;
  /** Resolves when the process is gone; nothing is answered after that. */
  readonly gone: Promise<void>;
  readonly #options: MediaProcessOptions;
  readonly #pending = new PendingAsks(MediaProcessError);
  #state: 'starting' | 'up' | 'leaving' | 'gone' = 'starting';
  #load = { lagMs: 0, shedding: false };
  #counted: MetricsSnapshot = [];
  /** Looks since it was last heard of. They are counted, and no time is measured: a front that was held up itself looks once. */
  #looks = 0;
  #toldUp: () => void = () => undefined;
  readonly #up = new Promise<void>((resolve) => {
    this.#toldUp = resolve;
  });

  constructor(options: MediaProcessOptions) {
    this.#options = options;
    this.number = options.number;
    const { child } = options;
    child.on('message', (message) => this.#heard(message));
    // A channel that breaks under a message: the exit that follows says it all.
    child.on('error', (error) => this.#problem(error));
    this.gone = new Promise((resolve) => {
      child.once('exit', () => {
        this.#end();
        resolve();
      });
    });
  }

  get pid(): number | undefined {
    return this.#options.child.pid;
  }

  /** Whether it takes calls. */
  get isUp(): boolean {
    return this.#state === 'up' && this.#options.child.connected;
  }

  /** Whether it can be asked: it takes calls, or has some still. */
  get serves(): boolean {
    return this.#state === 'up' || this.#state === 'leaving';
  }

  /** Whether it takes calls and has not been heard of for a while: its event loop stands still. */
  get isSilent(): boolean {
    return this.isUp && this.#looks >= SILENT_LOOKS;
  }

  /** As it said last; one that says nothing is as late as it has been silent. */
  get load(): { readonly lagMs: number; readonly shedding: boolean } {
    return this.isSilent ? { lagMs: this.#looks * LOOK_MS, shedding: true } : this.#load;
  }

  /** What it had counted when it was last asked; of a process that is gone, all that is known. */
  get counted(): MetricsSnapshot {
    return this.#counted;
  }

  /** @throws MediaProcessError when it is gone first, or does not take calls in time; it is killed then */
  async up(withinMs: number): Promise<void> {
    const ended = this.gone.then(() => 'gone' as const);
    const outcome = await within(this.#options.clock, withinMs, Promise.race([this.#up, ended]), 'late' as const);
    if (outcome === undefined) return;
    if (outcome === 'late') this.kill();
    throw new MediaProcessError(outcome === 'late' ? `not up within ${withinMs} ms` : 'ended before it was up');
  }

  /**
   * Has it do something.
   * @param socket goes to it for good, whatever comes of it
   * @throws OffhookError as the process threw it; MediaProcessError when it is gone before it answers
   */
  async ask<Name extends ProcessOrderName>(name: Name, asked: Asked<Name>, socket?: Socket): Promise<Given<Name>> {
    const { child } = this.#options;
    if (this.#state === 'gone' || !child.connected) {
      socket?.destroy();
      throw goneError();
    }
    const { id, answered } = this.#pending.add(name, closerOf(socket));
    // Node's server would wait for what it gave away, and for ever where all who got something have ended.
    if (socket !== undefined) Object.assign(socket, { server: undefined });
    child.send({ id, name, asked }, socket, {}, (error) => {
      // What is left of it here is its place in the server's count.
      socket?.destroy();
      if (error !== null) this.#pending.fail(id, new MediaProcessError('sending to the media process failed', { cause: error }));
    });
    return answered;
  }

  /** Its numbers; those it had when it was last asked are kept. */
  async metrics(): Promise<MetricsSnapshot> {
    this.#counted = await this.ask('metrics', null);
    return this.#counted;
  }

  /** For what needs no answer: one that does not come says so in the log. */
  tell<Name extends ProcessOrderName>(name: Name, asked: Asked<Name>): void {
    this.ask(name, asked).catch((error: unknown) => {
      this.#options.logger.debug({ process: this.number, order: name, error }, 'message to media process failed');
    });
  }

  /** Tells that another `LOOK_MS` have passed. One that stands still for good is killed, so that it can be started again. */
  look(): void {
    if (!this.isUp) return;
    this.#looks += 1;
    const { logger } = this.#options;
    const facts = { process: this.number, silentMs: this.#looks * LOOK_MS };
    if (this.#looks === SILENT_LOOKS) logger.warn(facts, 'media process does not respond: it gets no new calls');
    if (this.#looks < DEAD_LOOKS) return;
    logger.error(facts, 'media process hangs: killing it');
    this.kill();
  }

  kill(): void {
    this.#options.child.kill('SIGKILL');
  }

  #heard(message: unknown): void {
    this.#looks = 0;
    const parsed = report.safeParse(message);
    if (!parsed.success) {
      this.#problem(parsed.error);
      return;
    }
    const { data } = parsed;
    if (data.type === 'given' || data.type === 'refused') return this.#pending.settle(data);
    if (data.type === 'up' || data.type === 'leaving') this.#state = data.type;
    if (data.type === 'up') this.#toldUp();
    if (data.type === 'load') this.#load = data;
    this.#options.onReport(data);
  }

  #end(): void {
    this.#state = 'gone';
    this.#counted = countsOf(this.#counted);
    this.#pending.failAll(goneError());
  }

  #problem(error: unknown): void {
    this.#options.logger.warn({ process: this.number, error }, 'channel to media process failed');
  }
}

/**
 * Node takes a socket that it gives away apart, and keeps its handle until the other process says that it has it: open
 * for ever, where that process died without a word.
 */
function closerOf(socket: Socket | undefined): () => void {
  const handle = socket && (Reflect.get(socket, '_handle') as { close(): void } | null);
  return () => {
    handle?.close();
    socket?.destroy();
  };
}

function goneError(): MediaProcessError {
  return new MediaProcessError('the media process has exited');
}
