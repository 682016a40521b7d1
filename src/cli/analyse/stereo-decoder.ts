import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import type { Container } from '../../audio/media/container.ts';
import { ffmpegInput } from '../../audio/media/ffmpeg.ts';

/** The platform hears no higher ones. */
const RATE_HZ = 16_000;

/**
 * Decodes with the system's `ffmpeg`, channels kept apart, which the own decoders do not: in a process that sees no network and
 * no other file.
 * @returns false where there is no such program, or it could not
 */
export async function decodeStereo(
  ffmpeg: string,
  { path, container }: { readonly path: string; readonly container: Container },
  wavPath: string,
  maxSeconds: number,
  signal: AbortSignal,
): Promise<boolean> {
  signal.throwIfAborted();
  // A little more than is allowed, so that too much can be told from just enough.
  const output = [
    '-map',
    '0:a:0',
    '-t',
    `${maxSeconds + 1}`,
    '-ar',
    `${RATE_HZ}`,
    '-c:a',
    'pcm_s16le',
    '-f',
    'wav',
    `file:${wavPath}`,
  ];
  const child = spawn(
    ffmpeg,
    ['-nostdin', '-y', '-loglevel', 'quiet', '-threads', '1', ...ffmpegInput(container, path), ...output],
    {
      stdio: 'ignore',
      signal,
      killSignal: 'SIGKILL',
    },
  );
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  signal.throwIfAborted();
  if (code === 0) return true;
  await rm(wavPath, { force: true });
  return false;
}
