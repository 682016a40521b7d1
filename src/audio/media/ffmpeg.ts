import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { atMost } from '../../kernel/bounded-reading.ts';
import { pourIntoFile } from '../../kernel/file-streams.ts';
import type { Container } from './container.ts';
import { type DecodeJob, decodedRateHz } from './decode-job.ts';
import { MediaTooLongError, MediaUnreadableError } from '../errors.ts';

/** Demuxers that have another name than their container. One is always named: guessing would let a playlist open other files. */
const DEMUXERS: Readonly<Partial<Record<Container, string>>> = { mp4: 'mov', webm: 'matroska' };

/** Arguments that make `ffmpeg` read this file alone: no network, no other file named inside it. */
export function ffmpegInput(container: Container, path: string): readonly string[] {
  return ['-protocol_whitelist', 'file', '-f', DEMUXERS[container] ?? container, '-i', `file:${path}`];
}

/** Whether this machine has an `ffmpeg` that starts. */
export async function hasFfmpeg(command: string): Promise<boolean> {
  const child = spawn(command, ['-version'], { stdio: 'ignore' });
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
}

/**
 * Decodes with the system's `ffmpeg`, in a process that reads no network and no other file.
 * @throws MediaUnreadableError, MediaTooLongError, or the signal's reason
 */
export async function decodeWithFfmpeg(command: string, options: DecodeJob, signal: AbortSignal): Promise<void> {
  const { inputPath, container, outputPath, maxSeconds } = options;
  signal.throwIfAborted();
  // One second more than allowed, to detect audio that is too long.
  const output = `-map 0:a:0 -t ${maxSeconds + 1} -ac 1 -ar ${decodedRateHz} -f s16le pipe:1`.split(' ');
  const child = spawn(
    command,
    ['-nostdin', '-loglevel', 'quiet', '-threads', '1', ...ffmpegInput(container, inputPath), ...output],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
      signal,
      killSignal: 'SIGKILL',
    },
  );
  const ended = new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', (code) => resolve(code));
  });
  const tooLong = (): Error => new MediaTooLongError(`the audio is longer than ${maxSeconds} s`);
  try {
    const bytes = await pourIntoFile(child.stdout, outputPath, {
      flags: 'wx',
      through: (parts) => atMost(parts, maxSeconds * decodedRateHz * 2, tooLong),
    });
    const code = await ended;
    signal.throwIfAborted();
    if (code !== 0 || bytes === 0) throw new MediaUnreadableError('ffmpeg could not decode it');
  } finally {
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL')) await once(child, 'close');
  }
}
