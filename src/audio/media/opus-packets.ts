import OpusScript from 'opusscript';
import { takeApart } from '../opus/packet-packing.ts';
import { MediaNeedsFfmpegError, MediaUnreadableError } from './errors.ts';
import type { PcmBlock } from './pcm-block.ts';

/** Recognition's rate, so that nothing is left to resample. */
export const decodeRateHz = 16_000;
/** Opus counts in 48 kHz whatever the rate. */
const opusClockHz = 48_000;

/** Rates that the decoder can be asked for and that are needed here. */
export type OpusRateHz = 16_000 | 24_000;

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
