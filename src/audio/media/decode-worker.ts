import { parentPort, workerData } from 'node:worker_threads';
import { errorText } from '../../kernel/errors.ts';
import { decodeFile } from './decode-file.ts';
import { decodeJobSchema, type DecodeResult } from './decode-job.ts';
import { MediaNeedsFfmpegError, MediaTooLongError, MediaUnreadableError } from '../errors.ts';

// One file a thread: a decoder that a hostile file broke ends with it.
const result = await decodeFile(decodeJobSchema.parse(workerData)).then(
  (): DecodeResult => ({ type: 'decoded' }),
  (error: unknown): DecodeResult => {
    const reason = errorText(error);
    if (error instanceof MediaTooLongError) return { type: 'too-long', reason };
    if (error instanceof MediaNeedsFfmpegError) return { type: 'needs-ffmpeg', reason };
    if (error instanceof MediaUnreadableError) return { type: 'unreadable', reason };
    // A full disk is our failure; any other error of a decoder is blamed on the file.
    if (error instanceof Error && 'syscall' in error) return { type: 'failed', reason };
    return { type: 'unreadable', reason: 'the decoder failed', cause: reason };
  },
);
parentPort?.postMessage(result, []);
