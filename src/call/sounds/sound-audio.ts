import { setImmediate } from 'node:timers/promises';
import { encodeMulaw } from '../../audio/g711.ts';
import { Resampler } from '../../audio/resample.ts';
import { decodeWavSamples, readWavLayout, wavSampleBytes } from '../../audio/wav.ts';
import { levelled } from '../loudness.ts';
import { SoundError } from './errors.ts';

const RATE_HZ = 8_000;
/** Longer than this nobody is made to listen; what is to go on is played again. */
const MOST_SECONDS = 300;
/** So much is converted between two looks at what the calls need. */
const BLOCK_MS = 250;

/**
 * Converts a WAV file (any rate, any number of channels) to mu-law at 8 kHz, as loud as the voices are. Gives way to the calls again and again.
 * @throws WavError, SoundError
 */
export async function soundAudio(file: Uint8Array): Promise<Uint8Array> {
  const { format, rateHz, channels, dataOffset, dataBytes } = readWavLayout(file);
  const frameBytes = wavSampleBytes(format) * channels;
  const frames = Math.floor(dataBytes / frameBytes);
  if (frames === 0) throw new SoundError('the sound is empty');
  if (frames > MOST_SECONDS * rateHz) throw new SoundError(`the sound is longer than ${MOST_SECONDS} s`);
  const resampler = rateHz === RATE_HZ ? undefined : new Resampler(rateHz, RATE_HZ);
  const parts: Uint8Array[] = [];
  const blockFrames = Math.ceil((rateHz * BLOCK_MS) / 1000);
  for (let at = 0; at < frames; at += blockFrames) {
    const from = dataOffset + at * frameBytes;
    const to = dataOffset + Math.min(frames, at + blockFrames) * frameBytes;
    const pcm = mixed(decodeWavSamples(format, file.subarray(from, to)), channels);
    parts.push(encodeMulaw(resampler?.process(pcm) ?? pcm));
    await setImmediate();
  }
  if (resampler !== undefined) parts.push(encodeMulaw(resampler.flush()));
  return levelled(Buffer.concat(parts));
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
