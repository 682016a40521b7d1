/** The parts one after another, in memory of their own. */
export function joinSamples(parts: readonly Int16Array[]): Int16Array<ArrayBuffer> {
  const joined = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** Averages channels of -1 to 1 into 16 bits. */
export function mixDown(channels: readonly Float32Array[], samples: number): Int16Array {
  const pcm = new Int16Array(samples);
  const scale = 32_767 / Math.max(1, channels.length);
  for (let index = 0; index < samples; index += 1) {
    let sum = 0;
    for (const channel of channels) sum += channel[index] ?? 0;
    pcm[index] = Math.max(-32_768, Math.min(32_767, Math.round(sum * scale)));
  }
  return pcm;
}
