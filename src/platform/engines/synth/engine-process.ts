import { type ChildProcess, fork } from 'node:child_process';
import { type BackoffPolicy, backoffDelayMs } from '../../../kernel/backoff.ts';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import type { Logger } from '../../../observability/logger.ts';
import { type EntryFile, entryFile } from '../../../kernel/entry-file.ts';
import { SynthesisRefusedError, SynthesisUnavailableError } from './port.ts';
import { type ChildAnswer, childAnswerSchema, type RenderRequest } from './child-protocol.ts';

const RESTART: BackoffPolicy = { firstMs: 100, factor: 3, maxMs: 10_000, jitter: 0.3 };
/** A process that ran this long restarts with the first back-off. */
const STEADY_MS = 30_000;
const START_DEADLINE_MS = 20_000;
const RENDER_DEADLINE_MS = 20_000;
/** Requests waiting at once; more are refused, so that a stuck engine does not fill memory. */
const MAX_PENDING = 256;

interface Pending {
  resolve(audio: { pcm: Int16Array; rateHz: number }): void;
  reject(error: Error): void;
  readonly deadline: Timer;
}

export interface EngineProcessOptions {
  /** For the log and for errors. */
  readonly engine: 'espeak' | 'flite' | 'voice models';
  /** The process of an engine that is not built in. */
  readonly child?: {
    readonly entry: EntryFile;
    readonly argument: string;
    readonly environment: NodeJS.ProcessEnv;
    /** For starting, and for each request. */
    readonly deadlineMs: number;
  };
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A synthesizer in a child process, restarted with back-off when it exits. */
export class EngineProcess<Request extends object = Omit<RenderRequest, 'id'>> {
  readonly #options: EngineProcessOptions;
  readonly #pending = new Map<number, Pending>();
  #child: ChildProcess | undefined;
  #ready = false;
  #closed = false;
  #nextId = 1;
  #failures = 0;
  #restart: Timer | undefined;

  private constructor(options: EngineProcessOptions) {
    this.#options = options;
  }

  /**
   * @returns undefined when the engine's package is not installed
   * @throws SynthesisUnavailableError when the process does not get ready
   */
  static async start<Request extends object = Omit<RenderRequest, 'id'>>(
    options: EngineProcessOptions,
  ): Promise<EngineProcess<Request> | undefined> {
    const engine = new EngineProcess<Request>(options);
    try {
      return (await engine.#spawn()) === 'ready' ? engine : undefined;
    } catch (error) {
      await engine[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The child's process id while it runs; for tests and health. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** @throws SynthesisUnavailableError, SynthesisRefusedError */
  render(request: Request): Promise<{ pcm: Int16Array; rateHz: number }> {
    const child = this.#child;
    if (child === undefined || !this.#ready) return Promise.reject(this.#unavailable('not running'));
    if (this.#pending.size >= MAX_PENDING) return Promise.reject(this.#unavailable('too many requests at once'));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const deadline = this.#options.clock.after(this.#options.child?.deadlineMs ?? RENDER_DEADLINE_MS, () => {
        // It computes without pause: only ending it unblocks the requests behind.
        child.kill('SIGKILL');
      });
      this.#pending.set(id, { resolve, reject, deadline });
      child.send({ id, ...request }, (error) => {
        if (error !== null) this.#settle(id)?.reject(this.#unavailable('the request could not be sent'));
      });
    });
  }

  #spawn(): Promise<'ready' | 'absent'> {
    const { engine, child: other, clock } = this.#options;
    const entry = other?.entry ?? entryFile(import.meta.url, `${engine}-child`);
    const child = fork(entry.path, other === undefined ? [] : [other.argument], {
      execArgv: [...entry.execArgv, '--no-warnings'],
      serialization: 'advanced',
      // Its environment holds no secrets of ours.
      env: other?.environment ?? {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#child = child;
    const startedMs = clock.nowMs();
    return new Promise((resolve, reject) => {
      const deadline = clock.after(other?.deadlineMs ?? START_DEADLINE_MS, () => child.kill('SIGKILL'));
      child.on('message', (message) => {
        const answer = childAnswerSchema.parse(message);
        if (answer.type === 'ready' || answer.type === 'absent') {
          deadline.cancel();
          this.#ready = answer.type === 'ready';
          if (answer.type === 'absent') this.#closed = true;
          resolve(answer.type);
        } else this.#answered(answer);
      });
      child.on('error', () => undefined);
      child.once('exit', (code, signal) => {
        deadline.cancel();
        this.#died(child, clock.nowMs() - startedMs, { code, signal });
        reject(this.#unavailable('ended before it was ready'));
      });
    });
  }

  #answered(answer: Extract<ChildAnswer, { id: number }>): void {
    const pending = this.#settle(answer.id);
    if (answer.type === 'failed') {
      const { engine, logger } = this.#options;
      logger.warn({ engine, reason: answer.reason }, 'synthesizer could not speak a sentence');
      const what = answer.noVoice ? 'there is no voice for this language' : 'the synthesizer cannot read this text';
      pending?.reject(new SynthesisRefusedError(what, { facts: { engine, noVoice: answer.noVoice } }));
      return;
    }
    // Copied to an aligned buffer: the message's bytes may start anywhere.
    const bytes = Uint8Array.from(answer.pcm);
    pending?.resolve({ pcm: new Int16Array(bytes.buffer, 0, bytes.length >> 1), rateHz: answer.rateHz });
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    pending?.deadline.cancel();
    return pending;
  }

  #died(child: ChildProcess, livedMs: number, facts: { code: number | null; signal: string | null }): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    this.#ready = false;
    for (const id of this.#pending.keys()) this.#settle(id)?.reject(this.#unavailable('ended while speaking'));
    if (this.#closed) return;
    this.#failures = livedMs > STEADY_MS ? 0 : this.#failures + 1;
    const delayMs = backoffDelayMs(RESTART, Math.max(0, this.#failures - 1), Math.random());
    this.#options.logger.warn({ engine: this.#options.engine, ...facts, delayMs }, 'synthesizer process ended, restarting');
    this.#restart = this.#options.clock.after(delayMs, () => {
      this.#spawn().catch(() => undefined);
    });
  }

  #unavailable(what: string): SynthesisUnavailableError {
    return new SynthesisUnavailableError(`the ${this.#options.engine} process: ${what}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#restart?.cancel();
    const child = this.#child;
    if (child === undefined) return;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    // It needs no orderly shutdown, and may be busy computing.
    child.kill('SIGKILL');
    await gone;
  }
}
