import OpusScript from 'opusscript';
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
  readonly #decoder: OpusScript;
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
    const mapping = head[18]!;
    if (head[9]! > 2 || mapping !== 0) throw new MediaNeedsFfmpegError('Opus of more than two channels');
    this.#rateHz = rateHz;
    this.#lead = this.#samplesOf(head[10]! | (head[11]! << 8));
    this.#skip = this.#lead;
    this.#decoder = new OpusScript(rateHz, 1);
  }

  /** @throws MediaUnreadableError */
  decode(packet: Uint8Array): PcmBlock {
    // Longer ones would be written past the decoder's own buffer.
    if (packet.length === 0 || packet.length > OpusScript.MAX_PACKET_SIZE) {
      throw new MediaUnreadableError(`an Opus packet of ${packet.length} bytes`);
    }
    let bytes: Buffer;
    try {
      bytes = this.#decoder.decode(Buffer.from(packet));
    } catch (error) {
      throw new MediaUnreadableError('a damaged Opus packet', { cause: error });
    }
    const pcm = new Int16Array(bytes.length / 2);
    for (let index = 0; index < pcm.length; index += 1) pcm[index] = bytes.readInt16LE(index * 2);
    const dropped = Math.min(this.#skip, pcm.length);
    this.#skip -= dropped;
    return { rateHz: this.#rateHz, pcm: pcm.subarray(dropped) };
  }

  /** Samples that remain of a stream whose last granule position is this, the lead taken off. */
  samplesUntil(granule: bigint): number {
    return this.#samplesOf(Number(granule)) - this.#lead;
  }

  [Symbol.dispose](): void {
    this.#decoder.delete();
  }

  #samplesOf(granule: number): number {
    return Math.round((granule * this.#rateHz) / opusClockHz);
  }
}
