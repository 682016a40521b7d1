import OpusScript from 'opusscript';
import { type OggPacket, OggWriter } from '../ogg/ogg-writer.ts';
import { OPUS_LEAD, opusHead, opusTags, type OpusRateHz, packTogether } from './opus-format.ts';

/** Samples of each channel in a packet: 20 ms. */
export const opusFrame = (rateHz: number): number => rateHz / 50;

/** Granules count at this rate, whatever the sound's (RFC 7845, section 4). */
const CLOCK_HZ = 48_000;

const KBPS_A_CHANNEL = 16;

/** Of 0 to 10: more takes twice the time, and sounds the same on a telephone line. */
const COMPLEXITY = 2;

const SET_COMPLEXITY = 4010;

/** One second, and never more segments than a page has. */
const PACKETS_A_PAGE = 50;

const SEGMENTS_A_PAGE = 255;

/**
 * Turns 16-bit sound into Opus in Ogg (RFC 7845), each channel a stream of its own: what one person says takes nothing from
 * the other's, and is never heard on their side. One at a time in a thread: the package keeps one memory for all its coders.
 */
export class OpusEncoder implements Disposable {
  readonly #rateHz: OpusRateHz;
  readonly #channels: number;
  readonly #ogg: OggWriter;
  readonly #coders: readonly OpusScript[];
  #held: OggPacket[] = [];
  #heldSegments = 0;
  #packets = 0;
  #samples = 0;

  /**
   * @param channels 1 or 2
   * @param serial of the stream, any number of 32 bits
   */
  constructor(rateHz: OpusRateHz, channels: number, serial: number) {
    this.#rateHz = rateHz;
    this.#channels = channels;
    this.#ogg = new OggWriter(serial);
    this.#coders = Array.from({ length: channels }, () => {
      const coder = new OpusScript(rateHz, 1, OpusScript.Application.AUDIO);
      coder.setBitrate(KBPS_A_CHANNEL * 1000);
      coder.encoderCTL(SET_COMPLEXITY, COMPLEXITY);
      return coder;
    });
  }

  /** The two pages that a file begins with. */
  head(): Uint8Array {
    return Buffer.concat([
      this.#ogg.page([{ data: opusHead(this.#channels, this.#rateHz), granule: 0 }], false),
      this.#ogg.page([{ data: opusTags(), granule: 0 }], false),
    ]);
  }

  /**
   * @param interleaved `opusFrame` samples of each channel, fewer only where the sound ends
   * @returns a page each second, and nothing between
   */
  frame(interleaved: Int16Array): Uint8Array {
    this.#samples += interleaved.length / this.#channels;
    return this.#packet(interleaved);
  }

  /** What is left, with the encoder's lead pushed out. Nothing can be given after it. */
  end(): Uint8Array {
    const perPacket = opusFrame(this.#rateHz);
    const granules = CLOCK_HZ / this.#rateHz;
    const endGranule = OPUS_LEAD + this.#samples * granules;
    const pages: Uint8Array[] = [];
    while (this.#packets * perPacket * granules < endGranule) pages.push(this.#packet(new Int16Array(0)));
    // The last granule says where the sound ends within the last packet.
    const held = this.#held.map((packet, at) => (at === this.#held.length - 1 ? { ...packet, granule: endGranule } : packet));
    return Buffer.concat([...pages, this.#ogg.page(held, true)]);
  }

  [Symbol.dispose](): void {
    for (const coder of this.#coders) coder.delete();
  }

  #packet(interleaved: Int16Array): Uint8Array {
    const length = opusFrame(this.#rateHz);
    const streams = this.#coders.map((coder, channel) => {
      const samples = new Int16Array(length);
      for (let at = 0, from = channel; from < interleaved.length; at += 1, from += this.#channels)
        samples[at] = interleaved[from]!;
      return coder.encode(Buffer.from(samples.buffer), length);
    });
    const data = packTogether(streams);
    const segments = Math.floor(data.length / 255) + 1;
    // The last page is never empty: so a page goes only when there is a packet to follow.
    const isFull = this.#held.length >= PACKETS_A_PAGE || this.#heldSegments + segments > SEGMENTS_A_PAGE;
    const page = isFull ? this.#ogg.page(this.#held, false) : new Uint8Array(0);
    if (isFull) [this.#held, this.#heldSegments] = [[], 0];
    this.#packets += 1;
    this.#held.push({ data, granule: this.#packets * length * (CLOCK_HZ / this.#rateHz) });
    this.#heldSegments += segments;
    return page;
  }
}
