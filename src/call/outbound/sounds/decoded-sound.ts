import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeAudio } from '../../../audio/codec.ts';
import type { Container } from '../../../audio/media/container.ts';
import { decodedRateHz } from '../../../audio/media/decode-file.ts';
import { MediaNeedsFfmpegError, MediaTooLongError, MediaUnreadableError } from '../../../audio/errors.ts';
import type { MediaDecoder } from '../../../audio/media/media-decoder.ts';
import { sleep } from '../../../kernel/waiting.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { SoundError } from './errors.ts';
import { MOST_SECONDS } from './sound-place.ts';

export interface SoundDecoding {
  readonly clock: Clock;
  readonly decoder: Pick<MediaDecoder, 'decode'>;
}

/** Five minutes take a second or two; whoever waits for the sound has given it up long before this. */
const MOST_DECODING_MS = 30_000;
const SAMPLE_BYTES = 2;

/**
 * Decodes a compressed sound, away from the event loop and by way of files, so that never more than the file and one stretch of
 * `blockMs` is in memory here.
 * @throws SoundError when it is too long, damaged, of a codec that cannot be read here, or takes too long
 */
export async function* decodedSound(
  file: Uint8Array,
  container: Container,
  blockMs: number,
  decoding: SoundDecoding,
): AsyncIterable<{ readonly rateHz: number; readonly channels: number; readonly interleaved: Int16Array }> {
  const folder = await mkdtemp(join(tmpdir(), 'offhook-sound-'));
  try {
    const [inputPath, outputPath] = [join(folder, 'sound'), join(folder, 'sound.pcm')];
    await writeFile(inputPath, file, { mode: 0o600 });
    await decode({ inputPath, container, outputPath, maxSeconds: MOST_SECONDS }, decoding);
    await using pcm = await open(outputPath, 'r');
    const block = Buffer.alloc((decodedRateHz * SAMPLE_BYTES * blockMs) / 1000);
    for (let at = 0; ;) {
      const { bytesRead } = await pcm.read(block, 0, block.length, at);
      if (at + bytesRead === 0) throw new SoundError('the sound is empty');
      if (bytesRead === 0) return;
      at += bytesRead;
      yield { rateHz: decodedRateHz, channels: 1, interleaved: decodeAudio('pcm16', block.subarray(0, bytesRead)) };
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function decode(options: Parameters<MediaDecoder['decode']>[0], { clock, decoder }: SoundDecoding): Promise<void> {
  const over = new AbortController();
  const late = new AbortController();
  void sleep(clock, MOST_DECODING_MS, over.signal).then(
    () => late.abort(new SoundError(`the sound was not decoded within ${MOST_DECODING_MS} ms`)),
    () => undefined,
  );
  try {
    await decoder.decode(options, late.signal);
  } catch (error) {
    if (error instanceof MediaTooLongError) throw new SoundError(`the sound is longer than ${MOST_SECONDS} s`, { cause: error });
    if (error instanceof MediaUnreadableError) throw new SoundError(`the sound is damaged: ${error.message}`, { cause: error });
    if (error instanceof MediaNeedsFfmpegError)
      throw new SoundError(`the sound needs ffmpeg on this machine: ${error.message}`, { cause: error });
    throw error;
  } finally {
    over.abort(new Error('decoded'));
  }
}
