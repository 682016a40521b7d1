import type { ByteSource } from './byte-source.ts';
import { MediaNeedsFfmpegError, MediaUnreadableError } from './errors.ts';
import { OpusPackets, decodeRateHz } from './opus-packets.ts';
import type { DecodeBlocks } from './pcm-block.ts';
import { webmPackets } from './webm-packets.ts';

/** Decodes Opus in WebM or Matroska. */
export async function* decodeWebm(source: ByteSource): DecodeBlocks {
  const packets = webmPackets(source);
  const first = packets.next();
  if (first.done === true || first.value instanceof Uint8Array)
    throw new MediaUnreadableError('there is no track in the WebM file');
  const { codec, codecPrivate } = first.value;
  if (codec !== 'A_OPUS') throw new MediaNeedsFfmpegError(`WebM with ${codec.slice(0, 40)}`);
  using decoder = new OpusPackets(codecPrivate, decodeRateHz);
  for (const packet of packets) if (packet instanceof Uint8Array) yield decoder.decode(packet);
}
