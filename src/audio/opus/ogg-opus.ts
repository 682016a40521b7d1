import OpusScript from 'opusscript';
import type { ByteSource, PcmBlock } from '../byte-source.ts';
import { CompressedAudioError, MediaNeedsFfmpegError, MediaUnreadableError } from '../errors.ts';
import { oggHead, oggPackets } from '../ogg/ogg.ts';
import { OPUS_CLOCK_HZ, OPUS_RATES, type OpusRateHz, takeApart } from './opus-encoder.ts';

/** Recognition's rate: nothing is left to resample. */
export const decodeRateHz = 16_000;
/** The identification header and the comments (RFC 7845, section 3). */
const HEADER_PACKETS = 2;

export interface OpusRecording {
  readonly rateHz: number;
  readonly channels: number;
  /** Interleaved 16-bit samples, piece by piece. */
  readonly pieces: Iterable<Int16Array>;
}

/**
 * Reads a file that `OpusEncoder` wrote: channels apart, at the rate of the recording. One at a time in a thread.
 * @throws CompressedAudioError for any other file, also while it is read; MediaUnreadableError for a torn one
 */
export function readOpusRecording(source: ByteSource): OpusRecording {
  const head = Buffer.from(oggHead(source));
  const channels = head[9] ?? 0;
  const rateHz = OPUS_RATES.find((rate) => head.length >= 19 && rate === head.readUInt32LE(12));
  const streams = head[18] === 0 ? 1 : (head[19] ?? 0);
  const isKnown = isOpusHead(head) && channels >= 1 && channels <= 2;
  const isApart = streams === channels && (head[18] === 0 || (head[18] === 1 && head[20] === 0 && head[21] === 0));
  if (!isKnown || !isApart || rateHz === undefined)
    throw new CompressedAudioError('not an Opus file of the kind that is written here');
  const damaged = (cause: unknown): Error => new CompressedAudioError('an Opus packet is damaged', { cause });
  const decoder = new OpusDecoder(head, { rateHz, streams, damaged });
  return { rateHz, channels, pieces: interleaved(decodeOggPackets(source, decoder)) };
}

/**
 * Decodes the first stream of an Ogg Opus file to mono, packet by packet. One at a time in a thread: the decoders share a memory.
 * @throws MediaUnreadableError, MediaNeedsFfmpegError for more than two channels
 */
export function* oggOpusBlocks(source: ByteSource, rateHz: OpusRateHz): Generator<PcmBlock> {
  const decoder = monoOpusDecoder(oggHead(source), rateHz);
  for (const streams of decodeOggPackets(source, decoder)) yield { rateHz, pcm: averaged(streams) };
}

/** Decodes Opus packets of another container to mono. @throws as `oggOpusBlocks` */
export function* opusBlocks(head: Uint8Array, rateHz: OpusRateHz, packets: Iterable<Uint8Array>): Generator<PcmBlock> {
  using decoder = monoOpusDecoder(head, rateHz);
  for (const packet of packets) yield { rateHz, pcm: averaged(decoder.decode(packet)) };
}

/** Whether a packet is the identification header of an Opus stream (RFC 7845, section 5.1). */
export function isOpusHead(packet: Uint8Array): boolean {
  return packet.length >= 19 && Buffer.from(packet.subarray(0, 8)).toString('latin1') === 'OpusHead';
}

function monoOpusDecoder(head: Uint8Array, rateHz: OpusRateHz): OpusDecoder {
  if (!isOpusHead(head)) throw new MediaUnreadableError('the Opus header is damaged');
  const streams = monoStreams(head);
  if (streams === undefined) throw new MediaNeedsFfmpegError('Opus of more than two channels');
  const damaged = (cause: unknown): Error => new MediaUnreadableError('a damaged Opus packet', { cause });
  return new OpusDecoder(head, { rateHz, streams, damaged });
}

/** One stream, also where it is a pair of channels, or two of one channel each; undefined for anything else. */
function monoStreams(head: Uint8Array): 1 | 2 | undefined {
  const [channels = 0, mapping = 0, streams, coupled] = [head[9], head[18], head[19], head[20]];
  if (channels <= 2 && mapping === 0) return 1;
  return channels === 2 && mapping === 1 && streams === 2 && coupled === 0 ? 2 : undefined;
}

interface OpusDecoderOptions {
  readonly rateHz: OpusRateHz;
  readonly streams: number;
  /** The error for a packet that cannot be decoded. */
  readonly damaged: (cause: unknown) => Error;
}

/** Decodes packets of one or more mono streams, and drops the encoder's lead at their start. */
class OpusDecoder implements Disposable {
  readonly #decoders: readonly OpusScript[];
  readonly #damaged: (cause: unknown) => Error;
  readonly #rateHz: OpusRateHz;
  /** The encoder's lead, in samples, and how much of it is still to be dropped. */
  readonly #lead: number;
  #skip: number;

  constructor(head: Uint8Array, { rateHz, streams, damaged }: OpusDecoderOptions) {
    this.#rateHz = rateHz;
    this.#damaged = damaged;
    this.#lead = this.#samplesAt(Buffer.from(head).readUInt16LE(10));
    this.#skip = this.#lead;
    this.#decoders = Array.from({ length: streams }, () => new OpusScript(rateHz, 1));
  }

  /** @returns one array a stream, all of one length */
  decode(packet: Uint8Array): Int16Array[] {
    const streams = this.#streamsOf(packet);
    const length = Math.min(...streams.map((samples) => samples.length));
    const dropped = Math.min(this.#skip, length);
    this.#skip -= dropped;
    return streams.map((samples) => samples.subarray(dropped, length));
  }

  /** Samples of the whole stream, without the lead, when this is its last granule position. */
  samplesUntil(granule: bigint): number {
    return this.#samplesAt(Number(granule)) - this.#lead;
  }

  [Symbol.dispose](): void {
    for (const decoder of this.#decoders) decoder.delete();
  }

  #streamsOf(packet: Uint8Array): Int16Array[] {
    try {
      const packets = takeApart(packet, this.#decoders.length);
      return this.#decoders.map((decoder, stream) => samplesOf(decoder, packets[stream] ?? new Uint8Array(0)));
    } catch (error) {
      throw this.#damaged(error);
    }
  }

  #samplesAt(granule: number): number {
    return Math.round((granule * this.#rateHz) / OPUS_CLOCK_HZ);
  }
}

/** @throws Error for what is no packet */
function samplesOf(decoder: OpusScript, packet: Uint8Array): Int16Array {
  // A longer packet would be written past the end of the decoder's own buffer.
  if (packet.length === 0 || packet.length > OpusScript.MAX_PACKET_SIZE) throw new Error(`it has ${packet.length} bytes`);
  const bytes = decoder.decode(Buffer.from(packet));
  return Int16Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readInt16LE(index * 2));
}

/** The samples of each stream, packet by packet; disposes of the decoder. */
function* decodeOggPackets(source: ByteSource, decoder: OpusDecoder): Generator<Int16Array[]> {
  using _decoder = decoder;
  let headers = HEADER_PACKETS;
  let produced = 0;
  for (const { data, endGranule } of oggPackets(source)) {
    if (headers > 0) {
      headers -= 1;
      continue;
    }
    const streams = decoder.decode(data);
    // The last page says where the audio ends within its last packet (RFC 7845, section 4.4).
    const until = endGranule === undefined ? Number.POSITIVE_INFINITY : decoder.samplesUntil(endGranule);
    const kept = streams.map((samples) => samples.subarray(0, Math.max(0, until - produced)));
    produced += kept[0]?.length ?? 0;
    yield kept;
  }
}

function* interleaved(packets: Iterable<readonly Int16Array[]>): Generator<Int16Array> {
  for (const streams of packets) {
    const length = streams[0]?.length ?? 0;
    if (length === 0) continue;
    const piece = new Int16Array(length * streams.length);
    for (const [channel, samples] of streams.entries())
      for (const [at, sample] of samples.entries()) piece[at * streams.length + channel] = sample;
    yield piece;
  }
}

function averaged([first = new Int16Array(0), second]: readonly Int16Array[]): Int16Array {
  return second === undefined ? first : first.map((value, at) => (value + (second[at] ?? 0)) / 2);
}
