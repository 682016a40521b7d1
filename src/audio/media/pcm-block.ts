/** Decoded audio, mono. */
export interface PcmBlock {
  readonly rateHz: number;
  readonly pcm: Int16Array;
}

/** Reads a compressed file from its start to its end. @throws MediaUnreadableError, MediaNeedsFfmpegError */
export type DecodeBlocks = AsyncIterable<PcmBlock>;

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
