import { parentPort, workerData } from 'node:worker_threads';
import { errorText } from '../../kernel/errors.ts';
import { decodeFile } from './decode-file.ts';
import { decodeWorkSchema, type DecodeWorkResult } from './decode-work.ts';
import { MediaNeedsFfmpegError, MediaTooLongError } from './errors.ts';

// One file a thread: a decoder that a hostile file broke dies with it.
const result = await decodeFile(decodeWorkSchema.parse(workerData)).then(
  (): DecodeWorkResult => ({ type: 'decoded' }),
  (error: unknown): DecodeWorkResult => {
    const reason = errorText(error);
    if (error instanceof MediaTooLongError) return { type: 'too-long', reason };
    return { type: error instanceof MediaNeedsFfmpegError ? 'needs-ffmpeg' : 'unreadable', reason };
  },
);
parentPort?.postMessage(result, []);
