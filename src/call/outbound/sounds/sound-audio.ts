import { setImmediate } from 'node:timers/promises';
import { encodeMulaw } from '../../../audio/g711.ts';
import { containerOf } from '../../../audio/media/container.ts';
import { Resampler } from '../../../audio/resample.ts';
import { decodeWavSamples, readWavLayout, wavSampleBytes } from '../../../audio/wav.ts';
import { levelled } from '../loudness.ts';
import { decodedSound, type SoundDecoding } from './decoded-sound.ts';
import { SoundError } from './errors.ts';
import { MOST_SECONDS } from './sound-place.ts';

const RATE_HZ = 8_000;
/** So much is converted between two looks at what the calls need. */
const BLOCK_MS = 250;

/** A stretch of a sound: all its channels, one sample of each after the other. */
interface Stretch {
  readonly rateHz: number;
  readonly channels: number;
  readonly interleaved: Int16Array;
}

/**
 * Converts a file (any rate, any number of channels) to mu-law at 8 kHz, as loud as the voices are. Gives way to the calls again
 * and again; what is compressed is decoded in a thread.
 * @throws WavError, SoundError
 */
export async function soundAudio(file: Uint8Array, decoding: SoundDecoding): Promise<Uint8Array> {
  const container = containerOf(file.subarray(0, 16)) ?? 'wav';
  const stretches = container === 'wav' ? wavStretches(file) : decodedSound(file, container, BLOCK_MS, decoding);
  const parts: Uint8Array[] = [];
  let resampler: Resampler | undefined;
  for await (const { rateHz, channels, interleaved } of stretches) {
    const pcm = mixed(interleaved, channels);
    if (rateHz !== RATE_HZ) resampler ??= new Resampler(rateHz, RATE_HZ);
    parts.push(encodeMulaw(resampler?.process(pcm) ?? pcm));
  }
  if (resampler !== undefined) parts.push(encodeMulaw(resampler.flush()));
  return levelled(Buffer.concat(parts));
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

/** All channels as one. */
function mixed(interleaved: Int16Array, channels: number): Int16Array {
  if (channels === 1) return interleaved;
  return Int16Array.from({ length: interleaved.length / channels }, (_, index) => {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) sum += interleaved[index * channels + channel]!;
    return Math.round(sum / channels);
  });
}
