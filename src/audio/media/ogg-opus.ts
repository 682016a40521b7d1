import type { ByteSource } from './byte-source.ts';
import { oggHead, oggPackets } from './ogg-packets.ts';
import { type OpusRateHz, OpusPackets } from './opus-packets.ts';
import type { PcmBlock } from './pcm-block.ts';

/** The identification header and the comments (RFC 7845, section 3). */
const headerPackets = 2;

/**
 * Decodes Opus in Ogg packet by packet, the file's first stream. One at a time in a thread: the decoders share a memory.
 * @throws MediaUnreadableError, MediaNeedsFfmpegError for more than two channels
 */
export function* oggOpusBlocks(source: ByteSource, rateHz: OpusRateHz): Generator<PcmBlock> {
  const head = oggHead(source);
  using decoder = new OpusPackets(head, rateHz);
  let headers = headerPackets;
  let produced = 0;
  for (const { data, endGranule } of oggPackets(source)) {
    if (headers > 0) {
      headers -= 1;
      continue;
    }
    const { pcm } = decoder.decode(data);
    // The last page says where the audio ends within its last packet (RFC 7845, section 4.4).
    const until = endGranule === undefined ? Number.POSITIVE_INFINITY : decoder.samplesUntil(endGranule);
    const kept = pcm.subarray(0, Math.max(0, Math.min(pcm.length, until - produced)));
    produced += kept.length;
    yield { rateHz, pcm: kept };
  }
}
