import { setImmediate } from 'node:timers/promises';
import { CALL_RATE_HZ } from '../../../audio/format.ts';
import { joinSamples } from '../../../audio/samples.ts';
import { containerOf } from '../../../audio/media/container.ts';
import { Resampler } from '../../../audio/resample.ts';
import { decodeWavSamples, readWavLayout, wavSampleBytes } from '../../../audio/wav.ts';
import { levelled } from '../loudness.ts';
import { decodedSound, type SoundDecoding } from './decoded-sound.ts';
import { SoundError } from './errors.ts';
import { MOST_SECONDS } from './sound-place.ts';

/** So much is converted between two looks at what the calls need. */
const BLOCK_MS = 250;

/** A stretch of a sound: all its channels, one sample of each after the other. */
interface Stretch {
  readonly rateHz: number;
  readonly channels: number;
  readonly interleaved: Int16Array;
}

/**
 * Converts a file (any rate, any number of channels) to samples at the call's rate, as loud as the voices are. Gives way to the calls again
 * and again; what is compressed is decoded in a thread.
 * @throws WavError, SoundError
 */
export async function soundAudio(file: Uint8Array, decoding: SoundDecoding): Promise<Int16Array> {
  const container = containerOf(file.subarray(0, 16)) ?? 'wav';
  const stretches = container === 'wav' ? wavStretches(file) : decodedSound(file, container, BLOCK_MS, decoding);
  const parts: Int16Array[] = [];
  let resampler: Resampler | undefined;
  for await (const { rateHz, channels, interleaved } of stretches) {
    const pcm = mixed(interleaved, channels);
    if (rateHz !== CALL_RATE_HZ) resampler ??= new Resampler(rateHz, CALL_RATE_HZ);
    parts.push(resampler?.process(pcm) ?? pcm);
  }
  if (resampler !== undefined) parts.push(resampler.flush());
  return levelled(joinSamples(parts));
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
    for (let channel = 0; channel < channels; channel += 1) sum += interleaved[index * channels + channel] ?? 0;
    return Math.round(sum / channels);
  });
}
