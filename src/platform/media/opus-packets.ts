import OpusScript from 'opusscript';
import { MediaNeedsFfmpegError, MediaUnreadableError } from './errors.ts';
import type { PcmBlock } from './pcm-block.ts';

/** Recognition's rate, so that nothing is left to resample. */
const decodeRateHz = 16_000;
/** Opus counts in 48 kHz whatever the rate. */
const opusClockHz = 48_000;
const clockPerSample = opusClockHz / decodeRateHz;

/** Decodes the packets of one Opus stream to 16 kHz mono. */
export class OpusPackets implements Disposable {
  readonly #decoder = new OpusScript(decodeRateHz, 1);
  /** Samples yet to be dropped: the encoder's lead. */
  #skip: number;

  /**
   * @param head the identification header (RFC 7845, section 5.1)
   * @throws MediaUnreadableError, MediaNeedsFfmpegError for more than two channels
   */
  constructor(head: Uint8Array) {
    const tag = Buffer.from(head.subarray(0, 8)).toString('latin1');
    if (tag !== 'OpusHead' || head.length < 19) throw new MediaUnreadableError('the Opus header is damaged');
    const mapping = head[18]!;
    if (head[9]! > 2 || mapping !== 0) throw new MediaNeedsFfmpegError('Opus of more than two channels');
    this.#skip = Math.round((head[10]! | (head[11]! << 8)) / clockPerSample);
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
    return { rateHz: decodeRateHz, pcm: pcm.subarray(dropped) };
  }

  /** Samples that remain of a stream whose last granule position is this, the lead taken off. */
  static samplesUntil(granule: bigint, head: Uint8Array): number {
    const lead = head[10]! | (head[11]! << 8);
    return Math.round((Number(granule) - lead) / clockPerSample);
  }

  [Symbol.dispose](): void {
    this.#decoder.delete();
  }
}
