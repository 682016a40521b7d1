import { parentPort, workerData } from 'node:worker_threads';
import { errorText } from '../../kernel/errors.ts';
import { decodeFile, decodeWorkSchema, type DecodeWorkResult } from './decode-file.ts';
import { MediaNeedsFfmpegError, MediaTooLongError, MediaUnreadableError } from '../errors.ts';

// One file a thread: a decoder that a hostile file broke dies with it.
const result = await decodeFile(decodeWorkSchema.parse(workerData)).then(
  (): DecodeWorkResult => ({ type: 'decoded' }),
  (error: unknown): DecodeWorkResult => {
    const reason = errorText(error);
    if (error instanceof MediaTooLongError) return { type: 'too-long', reason };
    if (error instanceof MediaNeedsFfmpegError) return { type: 'needs-ffmpeg', reason };
    if (error instanceof MediaUnreadableError) return { type: 'unreadable', reason };
    // What a hostile file does to a decoder is a property of the file; a full disk is not.
    if (error instanceof Error && 'syscall' in error) return { type: 'failed', reason };
    return { type: 'unreadable', reason: 'the decoder failed', cause: reason };
  },
);
parentPort?.postMessage(result, []);
