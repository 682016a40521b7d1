import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { CompressedAudioError, MediaUnreadableError } from '../errors.ts';
import { COMPRESSED_FORMATS } from '../recording-format.ts';
import { WavError } from '../wav.ts';
import { errorText } from '../../kernel/errors.ts';
import { codeFile } from './code-file.ts';
import type { CodingResult } from './recording-coder.ts';

const coding = z.object({
  type: z.enum(['compress', 'restore']),
  format: z.enum(COMPRESSED_FORMATS),
  inputPath: z.string(),
  outputPath: z.string(),
});

// One file a thread: the Opus coders of one thread share a memory.
parentPort?.postMessage(await outcome(), []);

async function outcome(): Promise<CodingResult> {
  try {
    await codeFile(coding.parse(workerData));
    return { type: 'done' };
  } catch (error) {
    const isOfTheFile = [CompressedAudioError, WavError, MediaUnreadableError].some((kind) => error instanceof kind);
    return { type: isOfTheFile ? 'refused' : 'failed', reason: errorText(error) };
  }
}
