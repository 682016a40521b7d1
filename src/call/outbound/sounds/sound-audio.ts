import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { decodeAudio } from '../../../audio/codec.ts';
import { MediaNeedsFfmpegError, MediaTooLongError, MediaUnreadableError } from '../../../audio/errors.ts';
import { type Container, containerOf } from '../../../audio/media/container.ts';
import { decodedRateHz } from '../../../audio/media/decode-job.ts';
import type { MediaDecoder } from '../../../audio/media/media-decoder.ts';
import { Resampler } from '../../../audio/resample.ts';
import { joinSamples } from '../../../audio/samples.ts';
import { decodeWavSamples, readWavLayout, wavSampleBytes } from '../../../audio/wav.ts';
import { levelled } from '../loudness.ts';
import { SoundError } from './port.ts';
import { MOST_SECONDS } from './sound-place.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { sleep } from '../../../kernel/waiting.ts';

/** Audio converted before yielding to the calls. */
const BLOCK_MS = 250;

/** A stretch of interleaved samples. */
interface Stretch {
  readonly rateHz: number;
  readonly channels: number;
  readonly interleaved: Int16Array;
}

/**
 * Converts a file (any rate, any number of channels) to samples at this rate, at the level of the voices. Yields to the calls regularly; compressed
 * audio is decoded in a thread.
 * @throws WavError, SoundError
 */
export async function soundAudio(file: Uint8Array, toHz: number, decoding: SoundDecoding): Promise<Int16Array> {
  const container = containerOf(file.subarray(0, 16)) ?? 'wav';
  const stretches = container === 'wav' ? wavStretches(file) : decodedSound(file, container, BLOCK_MS, decoding);
  const parts: Int16Array[] = [];
  let resampler: Resampler | undefined;
  for await (const { rateHz, channels, interleaved } of stretches) {
    const pcm = mixed(interleaved, channels);
    if (rateHz !== toHz) resampler ??= new Resampler(rateHz, toHz);
    parts.push(resampler?.process(pcm) ?? pcm);
  }
  if (resampler !== undefined) parts.push(resampler.flush());
  return levelled(joinSamples(parts), toHz);
}

async function* wavStretches(file: Uint8Array): AsyncIterable<Stretch> {
  const { format, rateHz, channels, dataOffset, dataBytes } = readWavLayout(file);
  const frameBytes = wavSampleBytes(format) * channels;
  const frames = Math.floor(dataBytes / frameBytes);
  if (frames === 0) throw new SoundError('the sound is empty');
  if (frames > MOST_SECONDS * rateHz) throw new SoundError(`the sound is longer than ${MOST_SECONDS} s`);
  const blockFrames = Math.ceil((rateHz * BLOCK_MS) / 1000);
  for (let at = 0; at < frames; at += blockFrames) {
    const from = dataOffset + at * frameBytes;
    const to = dataOffset + Math.min(frames, at + blockFrames) * frameBytes;
    yield { rateHz, channels, interleaved: decodeWavSamples(format, file.subarray(from, to)) };
    await setImmediate();
  }
}

/** Mixes all channels into one. */
function mixed(interleaved: Int16Array, channels: number): Int16Array {
  if (channels === 1) return interleaved;
  return Int16Array.from({ length: interleaved.length / channels }, (_, index) => {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) sum += interleaved[index * channels + channel] ?? 0;
    return Math.round(sum / channels);
  });
}

export interface SoundDecoding {
  readonly clock: Clock;
  readonly decoder: Pick<MediaDecoder, 'decode'>;
}

/** Five minutes of audio take a second or two to decode; callers stop waiting long before this. */
const MOST_DECODING_MS = 30_000;
const SAMPLE_BYTES = 2;

/**
 * Decodes a compressed sound off the event loop, through files, so that only the file and one stretch of `blockMs` are in memory.
 * @throws SoundError when it is too long, damaged, of an unsupported codec, or takes too long
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
