import { OggVorbisDecoder } from '@wasm-audio-decoders/ogg-vorbis';
import type { ByteSource } from './byte-source.ts';
import { MediaNeedsFfmpegError, MediaUnreadableError } from './errors.ts';
import { oggPages } from './ogg-pages.ts';
import { OpusPackets } from './opus-packets.ts';
import { type DecodeBlocks, mixDown } from './pcm-block.ts';

/** A packet that goes over several pages; speech has none near this. */
const maxPacketBytes = 256 * 1024;
const maxChannels = 8;

/** Decodes Opus or Vorbis in Ogg, the file's first stream. */
export function decodeOgg(source: ByteSource): DecodeBlocks {
  const first = oggPages(source).next();
  const head = first.done === true ? new Uint8Array(0) : Uint8Array.from(first.value.packets[0] ?? []);
  const tag = Buffer.from(head.subarray(0, 8)).toString('latin1');
  if (tag === 'OpusHead') return decodeOggOpus(source, head);
  if (tag.startsWith('\x01vorbis')) return decodeOggVorbis(source, head[11] ?? 0);
  throw new MediaNeedsFfmpegError('Ogg that holds neither Opus nor Vorbis');
}

async function* decodeOggOpus(source: ByteSource, head: Uint8Array): DecodeBlocks {
  using decoder = new OpusPackets(head);
  let serial: number | undefined;
  let headers = 2;
  let begun: Uint8Array[] = [];
  let produced = 0;
  for (const page of oggPages(source)) {
    serial ??= page.serial;
    if (page.serial !== serial) continue;
    if (!page.continued) begun = [];
    const until = page.last && page.granule >= 0n ? OpusPackets.samplesUntil(page.granule, head) : Number.POSITIVE_INFINITY;
    for (const [index, part] of page.packets.entries()) {
      // What the page before left open.
      const whole = begun.length === 0 ? part : Buffer.concat([...begun, part]);
      if (whole.length > maxPacketBytes) throw new MediaUnreadableError('an Ogg packet is too large');
      begun = [];
      if (page.open && index === page.packets.length - 1) {
        begun = [Uint8Array.from(whole)];
        continue;
      }
      if (headers > 0) {
        headers -= 1;
        continue;
      }
      const { rateHz, pcm } = decoder.decode(whole);
      // The last page says where the audio ends within its last packet (RFC 7845, section 4.4).
      const kept = pcm.subarray(0, Math.max(0, Math.min(pcm.length, until - produced)));
      produced += kept.length;
      yield { rateHz, pcm: kept };
    }
  }
}

async function* decodeOggVorbis(source: ByteSource, channels: number): DecodeBlocks {
  // Memory for one page grows with them.
  if (channels < 1 || channels > maxChannels) throw new MediaUnreadableError(`Vorbis of ${channels} channels`);
  const decoder = new OggVorbisDecoder();
  await decoder.ready;
  try {
    for (const page of oggPages(source)) {
      const { channelData, samplesDecoded, sampleRate, errors } = await decoder.decode(Uint8Array.from(page.bytes));
      if (errors.length > 0) throw new MediaUnreadableError('the Vorbis stream is damaged');
      if (samplesDecoded > 0) yield { rateHz: sampleRate, pcm: mixDown(channelData, samplesDecoded) };
    }
    const { channelData, samplesDecoded, sampleRate } = await decoder.flush();
    if (samplesDecoded > 0) yield { rateHz: sampleRate, pcm: mixDown(channelData, samplesDecoded) };
  } finally {
    decoder.free();
  }
}
