import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Bot } from '../../config/bots.ts';
import type { FixtureFacts } from '../../http/api/calls/replay-views.ts';
import type { Clock } from '../../kernel/clock.ts';
import { startWorker } from '../../kernel/entry-file.ts';
import { OffhookError } from '../../kernel/errors.ts';
import { unlessMissing } from '../../kernel/temporary.ts';
import type { ReplayReport } from './compare.ts';
import { FixtureExpiredError, FixtureInvalidError, plainFixture, SEALED_SUFFIX, type FixtureKey } from './fixture-file.ts';
import type { NamedSetting } from './replay-call.ts';

/** Too many replays are running, or one exceeded its time. */
export class ReplayBusyError extends OffhookError {
  readonly code = 'OFFHOOK_REPLAY_BUSY';
  readonly retryable = true;
}

/** Settings that a bot cannot have; the message says why. */
export class ReplaySettingsError extends OffhookError {
  readonly code = 'OFFHOOK_REPLAY_SETTINGS';
  readonly retryable = false;
}

/** Turn-taking settings that a replay can change. */
export const REPLAY_SETTINGS = [
  'endpointingMs',
  'interruption.clearAfterMs',
  'interruption.reverseWithinMs',
  'interruption.allow',
  'detector',
  'noInputMs',
] as const;

/** Input of the replay thread, which answers with a `ReplayOutcome`. */
export interface ReplayTask {
  readonly type: 'describe' | 'replay';
  /** An unsealed fixture. */
  readonly file: Uint8Array;
  readonly nowWallMs: number;
  readonly settings: readonly NamedSetting[];
}

export type ReplayOutcome =
  | { readonly type: 'facts'; readonly facts: Omit<FixtureFacts, 'bytes'> }
  | { readonly type: 'report'; readonly report: ReplayReport }
  | { readonly type: 'refused'; readonly code: string; readonly message: string };

const refused = z.object({ type: z.literal('refused'), code: z.string(), message: z.string() });

const SUFFIXES = [SEALED_SUFFIX, '.fixture.gz'];
const MOST_WAITING = 4;
const LONGEST_MS = 60_000;
/** Enough for half an hour of both sides, decoded, and all decisions. */
const MEMORY = { maxOldGenerationSizeMb: 512 };

export interface CallFixturesOptions {
  readonly folder: string;
  /** Names of bots whose calls are saved, separated by commas, or `*`; undefined for none. */
  readonly bots: string | undefined;
  readonly botNamed: (name: string) => Pick<Bot, 'recording'> | undefined;
  readonly keyOf: FixtureKey;
  readonly clock: Clock;
}

/**
 * Saved calls, by id. Replays run one at a time, in a thread with limited memory and low priority, without disturbing live calls. Methods throw
 * FixtureInvalidError, FixtureExpiredError, StoreKeyError and ReplayBusyError.
 */
export class CallFixtures {
  readonly #options: CallFixturesOptions;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(options: CallFixturesOptions) {
    this.#options = options;
  }

  /** Whether calls of a bot are saved from now on. */
  keeps(botName: string): boolean {
    const { bots = '', botNamed } = this.#options;
    const names = bots.split(',').map((name) => name.trim());
    return (names.includes('*') || names.includes(botName)) && botNamed(botName)?.recording === 'always';
  }

  /** The unsealed file of a call; undefined without one. */
  async file(tenantId: string, callId: string): Promise<Uint8Array | undefined> {
    const { folder, keyOf, clock } = this.#options;
    for (const suffix of SUFFIXES) {
      const file = await readFile(join(folder, `${callId}${suffix}`)).catch(unlessMissing(undefined));
      // An empty file reserves the place of a live call.
      if (file === undefined || file.length === 0) continue;
      // Another tenant's sealed file does not open with this tenant's key.
      return plainFixture(file, clock.wallMs(), (_tenant, _call, make) => keyOf(tenantId, callId, make));
    }
    return undefined;
  }

  /** @returns undefined for a call that was not saved */
  async facts(tenantId: string, callId: string, signal: AbortSignal): Promise<FixtureFacts | undefined> {
    const ran = await this.#run({ type: 'describe', settings: [] }, tenantId, callId, signal);
    if (ran === undefined) return undefined;
    const { outcome, bytes } = ran;
    if (outcome.type !== 'facts') throw new FixtureInvalidError('the fixture was not described');
    return { ...outcome.facts, bytes };
  }

  /**
   * Replays a call with other settings of its bot.
   * @returns undefined for a call that was not saved @throws ReplaySettingsError
   */
  async replay(
    tenantId: string,
    callId: string,
    settings: readonly NamedSetting[],
    signal: AbortSignal,
  ): Promise<ReplayReport | undefined> {
    const ran = await this.#run({ type: 'replay', settings }, tenantId, callId, signal);
    if (ran === undefined) return undefined;
    if (ran.outcome.type !== 'report') throw new FixtureInvalidError('the fixture was not replayed');
    return ran.outcome.report;
  }

  /** The file is read when its turn comes, so that waiting replays take no memory. */
  async #run(
    task: Pick<ReplayTask, 'type' | 'settings'>,
    tenantId: string,
    callId: string,
    signal: AbortSignal,
  ): Promise<{ readonly outcome: ReplayOutcome; readonly bytes: number } | undefined> {
    if (!(await this.#isSaved(callId))) return undefined;
    if (this.#waiting >= MOST_WAITING) throw new ReplayBusyError('other calls are being replayed: try again in a moment');
    this.#waiting += 1;
    const run = this.#last
      .then(async () => {
        signal.throwIfAborted();
        const file = await this.file(tenantId, callId);
        return file && { outcome: await this.#inThread({ ...task, file }, signal), bytes: file.length };
      })
      .finally(() => (this.#waiting -= 1));
    this.#last = run.catch(() => undefined);
    return run;
  }

  async #isSaved(callId: string): Promise<boolean> {
    for (const suffix of SUFFIXES) {
      const found = await stat(join(this.#options.folder, `${callId}${suffix}`)).catch(unlessMissing(undefined));
      if (found !== undefined && found.size > 0) return true;
    }
    return false;
  }

  async #inThread(task: Omit<ReplayTask, 'nowWallMs'>, signal: AbortSignal): Promise<ReplayOutcome> {
    signal.throwIfAborted();
    const { clock } = this.#options;
    const workerData: ReplayTask = { ...task, nowWallMs: clock.wallMs() };
    const worker = startWorker(import.meta.url, 'replay-worker', workerData, MEMORY);
    let timer: { cancel(): void } | undefined;
    try {
      const message = await new Promise<unknown>((resolve, reject) => {
        timer = clock.after(LONGEST_MS, () => reject(new ReplayBusyError(`the replay took longer than ${LONGEST_MS / 1000} s`)));
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        worker.once('message', resolve);
        worker.once('error', reject);
        worker.once('exit', () => reject(new Error('the thread that replays calls has ended')));
      });
      const problem = refused.safeParse(message);
      if (problem.success) throw errorOf(problem.data);
      // Sent by our own thread.
      return message as ReplayOutcome;
    } finally {
      timer?.cancel();
      await worker.terminate();
    }
  }
}

function errorOf({ code, message }: z.output<typeof refused>): Error {
  if (code === 'OFFHOOK_FIXTURE_EXPIRED') return new FixtureExpiredError(message);
  if (code === 'OFFHOOK_FIXTURE_INVALID') return new FixtureInvalidError(message);
  if (code === 'OFFHOOK_REPLAY_SETTINGS') return new ReplaySettingsError(message);
  return new Error(message);
}
