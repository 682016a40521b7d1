import { OggWriter } from '../ogg-writer.ts';
import type { ByteSource } from './byte-source.ts';
import { MediaNeedsFfmpegError, MediaUnreadableError } from './errors.ts';
import { decodeVorbisPages, vorbisChannelsAt } from './ogg-decoder.ts';
import { OpusPackets, decodeRateHz } from './opus-packets.ts';
import type { DecodeBlocks } from './pcm-block.ts';
import { webmPackets, type WebmTrack } from './webm-packets.ts';

/** Decodes Opus or Vorbis in WebM or Matroska. */
export async function* decodeWebm(source: ByteSource): DecodeBlocks {
  const packets = webmPackets(source);
  const first = packets.next();
  if (first.done === true || first.value instanceof Uint8Array)
    throw new MediaUnreadableError('there is no track in the WebM file');
  const { codec, codecPrivate } = first.value;
  if (codec === 'A_VORBIS') {
    const headers = vorbisHeaders(codecPrivate);
    yield* decodeVorbisPages(vorbisPages(headers, packets), headers[0]?.[vorbisChannelsAt] ?? 0);
    return;
  }
  if (codec !== 'A_OPUS') throw new MediaNeedsFfmpegError(`WebM with ${codec.slice(0, 40)}`);
  using decoder = new OpusPackets(codecPrivate, decodeRateHz);
  for (const packet of packets) if (packet instanceof Uint8Array) yield decoder.decode(packet);
}

/** The decoder reads Ogg alone, so each packet is given a page of its own. */
function* vorbisPages(headers: readonly Uint8Array[], packets: Iterable<WebmTrack | Uint8Array>): Generator<Uint8Array> {
  const ogg = new OggWriter(1);
  const page = (data: Uint8Array): Uint8Array => {
    try {
      return ogg.page([{ data, granule: 0 }], false);
    } catch (error) {
      throw new MediaUnreadableError('a Vorbis packet is too large', { cause: error });
    }
  };
  for (const header of headers) yield page(header);
  for (const packet of packets) if (packet instanceof Uint8Array) yield page(packet);
}

/** The three headers of a Vorbis stream, laced together as Xiph does it (RFC 9559, section 10.3.2). @throws MediaUnreadableError */
function vorbisHeaders(codecPrivate: Uint8Array): Uint8Array[] {
  let at = 1;
  const lengths = [0, 0];
  for (const index of lengths.keys()) {
    let value = 255;
    while (value === 255) {
      value = codecPrivate[at++] ?? 0;
      lengths[index] = (lengths[index] ?? 0) + value;
    }
  }
  const [first = 0, second = 0] = lengths;
  const headers = [
    codecPrivate.subarray(at, at + first),
    codecPrivate.subarray(at + first, at + first + second),
    codecPrivate.subarray(at + first + second),
  ];
  // Each begins with its kind: identification, comments, setup (Vorbis I, section 4.2.1).
  const sound = codecPrivate[0] === 2 && [1, 3, 5].every((kind, index) => headers[index]?.[0] === kind);
  if (!sound) throw new MediaUnreadableError('the Vorbis headers of the WebM file are damaged');
  return headers;
}
