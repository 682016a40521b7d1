import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { sleep } from '../../kernel/waiting.ts';
import { backoffDelayMs, type BackoffPolicy } from '../../kernel/backoff.ts';
import type { Clock } from '../../kernel/clock.ts';
import { errorText, OffhookError } from '../../kernel/errors.ts';
import { parseJson } from '../../kernel/json.ts';
import type { Logger } from '../../observability/logger.ts';
import { entryFile } from '../../kernel/entry-file.ts';
import { type Handover, handoverLine, messageLine, type ParentMessage, progressSchema } from '../../platform/handover.ts';
import type { PlatformAddresses } from '../../platform/main.ts';
import type { ProfileName } from '../../platform/server/asr/behaviour.ts';

/** The embedded platform did not come up. Its own log lines, on stderr, say why. */
export class PlatformStartError extends OffhookError {
  readonly code = 'OFFHOOK_PLATFORM_START';
  readonly retryable = true;
}

export interface PlatformProcessOptions {
  /** First of five ports; 0 for free ones. */
  readonly port: number;
  readonly profile: ProfileName;
  readonly dataDir: string;
  /** Where the recogniser's vocabulary files are. */
  readonly vocabularyFolder: string;
  /** Speech models; none when absent. */
  readonly modelsFolder?: string | undefined;
  /** That recognise with them; 0, as when absent: by the cores and the memory. */
  readonly threads?: number | undefined;
  /** Hosts that a transcription may fetch from although they are not public, with commas between. */
  readonly audioHosts?: string | undefined;
  /** Faults for testing, as people write them; none when absent. */
  readonly faults?: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Time the platform gets to come up. */
  readonly startTimeoutMs: number;
  /** Least severe line the platform writes to stderr; warn when absent. */
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
  /** Stops the platform like disposal does. */
  readonly signal?: AbortSignal;
  /** Told while a vocabulary is learnt. */
  readonly onLearning?: ((progress: LearningProgress) => void) | undefined;
  /** Program and arguments to run in place of the platform's own entry, for tests. */
  readonly command?: readonly [string, ...string[]];
  readonly backoff?: BackoffPolicy;
  /** Time it gets to close by itself before it is killed; 3 s when absent. */
  readonly stopTimeoutMs?: number;
}

/** Phrases of the bots' flows that the recogniser learns. */
export type LearningProgress = z.infer<typeof progressSchema>['learning'];

export interface PlatformProcess extends AsyncDisposable {
  /** Has the recogniser learn these phrases in the background, in place of earlier ones, and again after a restart. */
  teach(vocabulary: ParentMessage['vocabulary']): void;
  /** Addresses and key; the same over restarts. */
  readonly urls: Omit<PlatformAddresses, 'apiKey'>;
  readonly apiKey: string;
  /** Undefined while it is down. */
  readonly pid: number | undefined;
  /** Times it was started again. */
  readonly restarts: number;
}

const addressesSchema = z.object({
  authUrl: z.url(),
  asrUrl: z.url(),
  asrAltUrl: z.url(),
  medUrl: z.url(),
  ttsUrl: z.url(),
  apiKey: z.string().min(1),
});

const defaultBackoff: BackoffPolicy = { firstMs: 200, factor: 2, maxMs: 10_000, jitter: 0.3 };
/** A platform that stayed up this long starts its back-off anew. */
const healthyMs = 30_000;
const defaultStopMs = 3000;

/**
 * Starts the embedded platform as a process of its own and keeps it up: when it dies it is started again, with the same
 * ports and the same key, which travels over its standard input. It stops when disposed of, and when this process ends in
 * any way, since it watches the pipe between the two.
 * @throws PlatformStartError when it is not up in time the first time, the signal's reason when that aborts
 */
export async function startPlatformProcess(options: PlatformProcessOptions): Promise<PlatformProcess> {
  options.signal?.throwIfAborted();
  const supervisor = new Supervisor(options);
  try {
    await supervisor.begin();
  } catch (error) {
    await supervisor[Symbol.asyncDispose]();
    throw error;
  }
  return supervisor;
}

class Supervisor implements PlatformProcess {
  readonly #options: PlatformProcessOptions;
  readonly #stop = new AbortController();
  #addresses: PlatformAddresses | undefined;
  #child: ChildProcess | undefined;
  #restarts = 0;
  #vocabulary: ParentMessage['vocabulary'] | undefined;
  #watching: Promise<void> | undefined;

  constructor(options: PlatformProcessOptions) {
    this.#options = options;
    options.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  get urls(): Omit<PlatformAddresses, 'apiKey'> {
    const { apiKey: _key, ...urls } = this.#known();
    return urls;
  }

  get apiKey(): string {
    return this.#known().apiKey;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get restarts(): number {
    return this.#restarts;
  }

  teach(vocabulary: ParentMessage['vocabulary']): void {
    this.#vocabulary = vocabulary;
    this.#child?.stdin?.write(messageLine({ vocabulary }));
  }

  async begin(): Promise<void> {
    this.#addresses = await this.#start({});
    this.#watching = this.#watch();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    this.#stop.abort(this.#options.signal?.reason ?? new Error('the platform was stopped'));
    await this.#end();
    await this.#watching;
  }

  readonly #onAbort = (): void => {
    void this[Symbol.asyncDispose]();
  };

  #known(): PlatformAddresses {
    if (this.#addresses === undefined) throw new TypeError('the platform has not started');
    return this.#addresses;
  }

  /** Starts it again whenever it dies, until the end. */
  async #watch(): Promise<void> {
    const { clock, logger } = this.#options;
    const { signal } = this.#stop;
    for (let attempt = 0; !signal.aborted;) {
      const upMs = clock.nowMs();
      const child = this.#child;
      if (child !== undefined) await exited(child);
      this.#child = undefined;
      if (signal.aborted) return;
      if (clock.nowMs() - upMs > healthyMs) attempt = 0;
      logger.error({ exitCode: child?.exitCode ?? undefined, signal: child?.signalCode ?? undefined }, 'speech platform died');
      try {
        await sleep(clock, backoffDelayMs(this.#options.backoff ?? defaultBackoff, attempt, Math.random()), signal);
        attempt += 1;
        await this.#start(handoverOf(this.#known()));
        this.#restarts += 1;
        logger.info({ restarts: this.#restarts }, 'speech platform is up again');
      } catch (error) {
        if (signal.aborted) return;
        logger.error({ error }, 'speech platform could not be started again');
        await this.#end();
      }
    }
  }

  async #start(handover: Handover): Promise<PlatformAddresses> {
    const { clock, startTimeoutMs } = this.#options;
    const child = this.#spawn();
    this.#child = child;
    // A child that dies at once breaks the pipe; its exit is what is reported.
    child.stdin?.on('error', () => undefined);
    child.stdin?.write(handoverLine(handover));
    const expiry = new AbortController();
    const timer = clock.after(startTimeoutMs, () => {
      expiry.abort(new PlatformStartError(`the speech platform was not up within ${startTimeoutMs} ms`));
    });
    try {
      const addresses = await firstAddresses(child, AbortSignal.any([expiry.signal, this.#stop.signal]));
      this.#followLearning(child);
      if (this.#vocabulary !== undefined) child.stdin?.write(messageLine({ vocabulary: this.#vocabulary }));
      return addresses;
    } finally {
      timer.cancel();
    }
  }

  /** Reads every line, since a full pipe would stop the platform. */
  #followLearning({ stdout }: ChildProcess): void {
    if (stdout === null) return;
    createInterface({ input: stdout }).on('line', (line) => {
      const progress = progressSchema.safeParse(parseJson(line));
      if (progress.success) this.#options.onLearning?.(progress.data.learning);
    });
  }

  #spawn(): ChildProcess {
    const { command, port, profile, dataDir, vocabularyFolder, modelsFolder, threads = 0, audioHosts, faults } = this.#options;
    const { logLevel = 'warn' } = this.#options;
    const stdio = ['pipe', 'pipe', 'inherit'] as const;
    if (command !== undefined) return spawn(command[0], command.slice(1), { stdio: [...stdio] });
    const entry = entryFile(import.meta.url, '../../platform/entry');
    const settings = ['--port', String(port), '--profile', profile, '--data-dir', dataDir, '--vocabulary', vocabularyFolder];
    if (modelsFolder !== undefined) settings.push('--models', modelsFolder, '--threads', String(threads));
    if (faults !== undefined) settings.push('--faults', faults);
    if (audioHosts !== undefined) settings.push('--audio-hosts', audioHosts);
    const args = [...entry.execArgv, entry.path, '--json', '--exit-with-parent', '--log-level', logLevel, ...settings];
    return spawn(process.execPath, args, { stdio: [...stdio] });
  }

  /** Lets go of the pipe, which the platform takes as the word to stop; kills it when it does not. */
  async #end(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const done = exited(child);
    child.stdin?.end();
    const killer = this.#options.clock.after(this.#options.stopTimeoutMs ?? defaultStopMs, () => child.kill('SIGKILL'));
    await done;
    killer.cancel();
  }
}

/** @throws PlatformStartError when it exits first, the signal's reason when it aborts first */
async function firstAddresses(child: ChildProcess, signal: AbortSignal): Promise<PlatformAddresses> {
  if (child.stdout === null) throw new TypeError('the child has no stdout');
  const lines = createInterface({ input: child.stdout });
  try {
    return await new Promise<PlatformAddresses>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      if (signal.aborted) reject(signal.reason as Error);
      child.once('error', (error) => reject(new PlatformStartError('the speech platform could not be run', { cause: error })));
      // After its exit, when everything that it said was read.
      child.once('close', (code, killed) => {
        reject(new PlatformStartError(`the speech platform ended with ${killed ?? `exit code ${code}`} before it was up`));
      });
      lines.on('line', (line) => {
        const said = readLine(line);
        if (said === undefined) return;
        if ('problem' in said) reject(new PlatformStartError(`the speech platform could not start: ${said.problem}`));
        else resolve(said);
      });
    });
  } finally {
    lines.close();
  }
}

function readLine(line: string): PlatformAddresses | { readonly problem: string } | undefined {
  try {
    return z.union([addressesSchema, z.object({ problem: z.string() })]).parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

function handoverOf(addresses: PlatformAddresses): Handover {
  const port = (url: string): number => Number(new URL(url).port);
  const { authUrl, asrUrl, asrAltUrl, medUrl, ttsUrl, apiKey } = addresses;
  return {
    apiKey,
    ports: { auth: port(authUrl), asr: port(asrUrl), asrAlt: port(asrAltUrl), med: port(medUrl), tts: port(ttsUrl) },
  };
}

async function exited(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  try {
    await once(child, 'exit');
  } catch (error) {
    throw new PlatformStartError(`the speech platform could not be watched: ${errorText(error)}`, { cause: error });
  }
}
