import { rm } from 'node:fs/promises';
import { z } from 'zod';
import { CompressedAudioError } from '../errors.ts';
import { startWorker } from '../../kernel/entry-file.ts';
import type { FileCoding } from './code-file.ts';

const codingResult = z.union([
  z.object({ type: z.literal('done') }),
  /** `refused`: the file is at fault; `failed`: the disk, or the thread. */
  z.object({ type: z.enum(['refused', 'failed']), reason: z.string() }),
]);
export type CodingResult = z.infer<typeof codingResult>;

/** Compresses recordings, and restores them, in threads: one file at a time, so that live calls keep a processor. */
export class RecordingCoder {
  #last: Promise<unknown> = Promise.resolve();

  /**
   * The output is complete and durable when this returns; after an exception it does not exist.
   * @throws CompressedAudioError for a file that cannot be coded; the disk's Error; the signal's reason
   */
  code(coding: FileCoding, signal: AbortSignal): Promise<void> {
    const run = this.#last.then(() => codeInThread(coding, signal));
    this.#last = run.catch(() => {});
    return run;
  }
}

async function codeInThread(coding: FileCoding, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const worker = startWorker(import.meta.url, 'coding-worker', coding);
  const ended = new Promise<CodingResult>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    worker.once('message', (message: unknown) => resolve(codingResult.parse(message)));
    worker.once('error', (error) => resolve({ type: 'failed', reason: error.message }));
    worker.once('exit', () => {
      signal.removeEventListener('abort', onAbort);
      resolve({ type: 'failed', reason: 'the thread that compresses recordings has ended' });
    });
  });
  let result: CodingResult | undefined;
  try {
    result = await ended;
  } finally {
    await worker.terminate();
    if (result?.type !== 'done') await rm(coding.outputPath, { force: true });
  }
  if (result.type === 'refused') throw new CompressedAudioError(result.reason);
  if (result.type === 'failed') throw new Error(result.reason);
}
