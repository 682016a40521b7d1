import { fork } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import { readEnvironment } from '../../config/env.ts';
import type { ModelOrders, ModelProgress } from '../../http/api/settings/settings-orders.ts';
import { systemClock } from '../../kernel/clock.ts';
import { entryFile } from '../../kernel/entry-file.ts';

/** What the command writes before the reason of its failure. */
const MODELS_FAILED = 'offhook models get: ';
const KEPT_CHARACTERS = 4_000;

const progress = z.object({
  step: z.enum(['download', 'check', 'unpack', 'library', 'open']),
  done: z.number(),
  all: z.number().optional(),
});

/** Shortest time between two pieces of news of one step. */
const NEWS_EVERY_MS = 200;

/** The gateway that runs this command for the console. */
export class Parent {
  readonly #onGone: () => void;
  #told: { readonly step: string; readonly atMs: number } | undefined;

  /** @param onGone called when it has ended; waiting for that keeps no process alive */
  constructor(onGone: () => void) {
    this.#onGone = onGone;
    process.once('disconnect', onGone).channel?.unref();
  }

  /** Tells it how far the command is. */
  tell(news: ModelProgress): void {
    const nowMs = systemClock.nowMs();
    if (this.#told?.step === news.step && nowMs - this.#told.atMs < NEWS_EVERY_MS) return;
    this.#told = { step: news.step, atMs: nowMs };
    process.send?.(news, undefined, undefined, () => undefined);
  }

  leave(): void {
    process.off('disconnect', this.#onGone);
  }
}

/**
 * Runs `offhook models get NAME --yes` in a process of its own: unpacking and hashing would delay live calls here.
 * @param more further arguments, such as another manifest
 * @throws Error with the reason the command gives; the signal's reason once the command has stopped
 */
export async function getModelInProcess(
  name: string,
  { onProgress, signal }: Parameters<NonNullable<ModelOrders['get']>>[1],
  more: readonly string[] = [],
): Promise<void> {
  signal.throwIfAborted();
  const { path, execArgv } = entryFile(import.meta.url, '../../main');
  const child = fork(path, ['models', 'get', name, '--yes', '--to-parent', ...more], {
    execArgv: [...execArgv],
    env: readEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const stop = (): void => void child.kill('SIGTERM');
  signal.addEventListener('abort', stop, { once: true });
  let notes = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (notes = (notes + text).slice(-KEPT_CHARACTERS)));
  child.on('message', (message) => {
    const { data } = progress.safeParse(message);
    if (data !== undefined) onProgress({ ...data, all: data.all });
  });
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    if (code === 0) return;
  } finally {
    signal.removeEventListener('abort', stop);
  }
  signal.throwIfAborted();
  const failed = notes.split('\n').findLast((line) => line.startsWith(MODELS_FAILED));
  throw new Error(failed?.slice(MODELS_FAILED.length) ?? 'the command ended without a reason');
}
