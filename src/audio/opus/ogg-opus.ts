import OpusScript from 'opusscript';
import { CompressedAudioError, MediaNeedsFfmpegError, MediaUnreadableError } from '../errors.ts';
import type { ByteSource, PcmBlock } from '../byte-source.ts';
import { oggHead, oggPackets } from '../ogg/ogg-reader.ts';
import { OPUS_RATES, type OpusRateHz, takeApart } from './opus-format.ts';

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

/** Recognition's rate, so that nothing is left to resample. */
export const decodeRateHz = 16_000;
/** Opus counts in 48 kHz whatever the rate. */
const opusClockHz = 48_000;

/** Whether a packet is the identification header of an Opus stream (RFC 7845, section 5.1). */
export function isOpusHead(packet: Uint8Array): boolean {
  return packet.length >= 19 && Buffer.from(packet.subarray(0, 8)).toString('latin1') === 'OpusHead';
}

/** Decodes the packets of one Opus stream, to mono. */
export class OpusPackets implements Disposable {
  /** One for each stream. */
  readonly #decoders: readonly OpusScript[];
  readonly #rateHz: OpusRateHz;
  /** The encoder's lead, in samples. */
  readonly #lead: number;
  /** Samples of the lead that are yet to be dropped. */
  #skip: number;

  /**
   * @param head the identification header (RFC 7845, section 5.1)
   * @throws MediaUnreadableError, MediaNeedsFfmpegError for more than two channels
   */
  constructor(head: Uint8Array, rateHz: OpusRateHz) {
    if (!isOpusHead(head)) throw new MediaUnreadableError('the Opus header is damaged');
    const streams = streamsOf(head);
    if (streams === undefined) throw new MediaNeedsFfmpegError('Opus of more than two channels');
    this.#rateHz = rateHz;
    this.#lead = this.#samplesOf(head[10]! | (head[11]! << 8));
    this.#skip = this.#lead;
    this.#decoders = Array.from({ length: streams }, () => new OpusScript(rateHz, 1));
  }

  /** @throws MediaUnreadableError */
  decode(packet: Uint8Array): PcmBlock {
    let parts: Int16Array[];
    try {
      parts = takeApart(packet, this.#decoders.length).map((part, stream) => samplesOf(this.#decoders[stream]!, part));
    } catch (error) {
      throw new MediaUnreadableError('a damaged Opus packet', { cause: error });
    }
    const pcm = mixed(parts);
    const dropped = Math.min(this.#skip, pcm.length);
    this.#skip -= dropped;
    return { rateHz: this.#rateHz, pcm: pcm.subarray(dropped) };
  }

  /** Samples that remain of a stream whose last granule position is this, the lead taken off. */
  samplesUntil(granule: bigint): number {
    return this.#samplesOf(Number(granule)) - this.#lead;
  }

  [Symbol.dispose](): void {
    for (const decoder of this.#decoders) decoder.delete();
  }

  #samplesOf(granule: number): number {
    return Math.round((granule * this.#rateHz) / opusClockHz);
  }
}

/** One, also where that is a pair of channels, or two of one channel each; undefined for anything else. */
function streamsOf(head: Uint8Array): 1 | 2 | undefined {
  const [channels = 0, mapping = 0, streams, coupled] = [head[9], head[18], head[19], head[20]];
  if (channels <= 2 && mapping === 0) return 1;
  return channels === 2 && mapping === 1 && streams === 2 && coupled === 0 ? 2 : undefined;
}

/** What one packet of a mono stream says. @throws Error for what is no packet */
export function samplesOf(decoder: OpusScript, packet: Uint8Array): Int16Array {
  // Longer ones would be written past the decoder's own buffer.
  if (packet.length === 0 || packet.length > OpusScript.MAX_PACKET_SIZE) throw new Error(`it has ${packet.length} bytes`);
  const bytes = decoder.decode(Buffer.from(packet));
  const pcm = new Int16Array(bytes.length / 2);
  for (let index = 0; index < pcm.length; index += 1) pcm[index] = bytes.readInt16LE(index * 2);
  return pcm;
}

function mixed([first = new Int16Array(0), second]: readonly Int16Array[]): Int16Array {
  return second === undefined ? first : first.map((value, at) => (value + (second[at] ?? 0)) / 2);
}
