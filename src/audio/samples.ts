/** Joins arrays of samples into a new one. */
export function joinSamples(parts: readonly Int16Array[]): Int16Array<ArrayBuffer> {
  const joined = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** Samples from -1 to 1, as speech models take them. */
export function floatSamples(pcm: Int16Array): Float32Array<ArrayBuffer> {
  // A loop: it runs for each frame of each call, and takes a small part of the time of a mapping.
  const samples = new Float32Array(pcm.length);
  for (let index = 0; index < pcm.length; index += 1) samples[index] = (pcm[index] ?? 0) / 32_768;
  return samples;
}

/** Averages channels into 16-bit samples. @param fullScale 16-bit value of the input's 1.0: 32,767 for floats, 1 for 16-bit input */
export function mixDown(channels: readonly (Float32Array | Int16Array)[], samples: number, fullScale = 32_767): Int16Array {
  const pcm = new Int16Array(samples);
  const scale = fullScale / Math.max(1, channels.length);
  for (let index = 0; index < samples; index += 1) {
    let sum = 0;
    for (const channel of channels) sum += channel[index] ?? 0;
    pcm[index] = Math.max(-32_768, Math.min(32_767, Math.round(sum * scale)));
  }
  return pcm;
}

/** Averages interleaved 16-bit channels. @returns the same array for one channel */
export function mixDownInterleaved(interleaved: Int16Array, channels: number): Int16Array {
  if (channels === 1) return interleaved;
  const mono = new Int16Array(Math.floor(interleaved.length / channels));
  for (let frame = 0; frame < mono.length; frame += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) sum += interleaved[frame * channels + channel] ?? 0;
    mono[frame] = Math.round(sum / channels);
  }
  return mono;
}
