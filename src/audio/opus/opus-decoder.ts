import OpusScript from 'opusscript';
import { CompressedAudioError } from '../compressed-audio-error.ts';
import type { ByteSource } from '../media/byte-source.ts';
import { samplesOf } from '../media/opus-packets.ts';
import { oggHead, oggPackets } from '../media/ogg-packets.ts';
import { OPUS_RATES, type OpusRateHz } from './opus-encoder.ts';
import { takeApart } from './packet-packing.ts';

const CLOCK_HZ = 48_000;
/** The identification header and the comments. */
const HEADER_PACKETS = 2;

export interface OpusSound {
  readonly rateHz: number;
  readonly channels: number;
  /** Interleaved, 16 bits, piece by piece. */
  readonly pieces: Iterable<Int16Array>;
}

/**
 * Reads a file that `OpusEncoder` wrote, its channels apart, at the rate that its sound had. One at a time in a thread.
 * @throws CompressedAudioError for any other file, also while it is read; MediaUnreadableError for a torn one
 */
export function readOpus(source: ByteSource): OpusSound {
  const head = Buffer.from(oggHead(source));
  const channels = head[9] ?? 0;
  const rateHz = OPUS_RATES.find((rate) => head.length >= 19 && rate === head.readUInt32LE(12));
  const streams = head[18] === 0 ? 1 : (head[19] ?? 0);
  const isOurs = head.toString('latin1', 0, 8) === 'OpusHead' && channels >= 1 && channels <= 2;
  const isApart = streams === channels && (head[18] === 0 || (head[18] === 1 && head[20] === 0 && head[21] === 0));
  if (!isOurs || !isApart || rateHz === undefined)
    throw new CompressedAudioError('not an Opus file of the kind that is written here');
  const lead = Math.round((head.readUInt16LE(10) * rateHz) / CLOCK_HZ);
  return { rateHz, channels, pieces: piecesOf(source, rateHz, channels, lead) };
}

function* piecesOf(source: ByteSource, rateHz: OpusRateHz, channels: number, lead: number): Generator<Int16Array> {
  const coders = Array.from({ length: channels }, () => new OpusScript(rateHz, 1));
  try {
    let headers = HEADER_PACKETS;
    let decoded = 0;
    for (const { data, endGranule } of oggPackets(source)) {
      if (headers > 0) {
        headers -= 1;
        continue;
      }
      const streams = takeApart(data, channels).map((packet, channel) => decode(coders[channel]!, packet));
      const length = Math.min(...streams.map((samples) => samples.length));
      // The last page says where the sound ends within its last packet (RFC 7845, section 4.4).
      const end = endGranule === undefined ? Infinity : Math.round((Number(endGranule) * rateHz) / CLOCK_HZ);
      const [from, to] = [Math.max(0, lead - decoded), Math.min(length, end - decoded)];
      decoded += length;
      if (to <= from) continue;
      const interleaved = new Int16Array((to - from) * channels);
      for (const [channel, samples] of streams.entries())
        for (let at = from, into = channel; at < to; at += 1, into += channels) interleaved[into] = samples[at]!;
      yield interleaved;
    }
  } finally {
    for (const coder of coders) coder.delete();
  }
}

function decode(coder: OpusScript, packet: Uint8Array): Int16Array {
  try {
    return samplesOf(coder, packet);
  } catch (error) {
    throw new CompressedAudioError('an Opus packet is damaged', { cause: error });
  }
}
