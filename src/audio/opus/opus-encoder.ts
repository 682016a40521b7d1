import OpusScript from 'opusscript';
import { type OggPacket, OggWriter } from '../ogg/ogg-writer.ts';
import { OPUS_CLOCK_HZ, OPUS_LEAD, opusHead, opusTags, type OpusRateHz, packTogether } from './opus-format.ts';

/** Samples of each channel in a packet: 20 ms. */
export const opusFrame = (rateHz: number): number => rateHz / 50;

export interface OpusSettings {
  readonly rateHz: OpusRateHz;
  /** 1 or 2. */
  readonly channels: number;
  /** Identifies the stream: any 32-bit number. */
  readonly serial: number;
  readonly kbpsPerChannel: number;
  /** `voip` favours intelligible speech, `audio` fidelity. */
  readonly application: 'voip' | 'audio';
  /** 0 to 10, the effort put into encoding; the codec's own choice when absent. */
  readonly complexity?: number;
}

const SET_COMPLEXITY = 4010;

/** Packets of 20 ms in a page: one second. A page holds at most 255 segments. */
const PACKETS_A_PAGE = 50;
const SEGMENTS_A_PAGE = 255;

/**
 * Encodes 16-bit audio as Opus in Ogg (RFC 7845). Each channel is a stream of its own: two speakers do not share bits, and neither leaks
 * into the other's channel. One at a time in a thread: the package has one memory for all its coders.
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

  constructor({ rateHz, channels, serial, kbpsPerChannel, application, complexity }: OpusSettings) {
    this.#rateHz = rateHz;
    this.#channels = channels;
    this.#ogg = new OggWriter(serial);
    const { VOIP, AUDIO } = OpusScript.Application;
    this.#coders = Array.from({ length: channels }, () => {
      const coder = new OpusScript(rateHz, 1, application === 'voip' ? VOIP : AUDIO);
      coder.setBitrate(kbpsPerChannel * 1000);
      if (complexity !== undefined) coder.encoderCTL(SET_COMPLEXITY, complexity);
      return coder;
    });
  }

  /** The two header pages at the start of a file. */
  head(): Uint8Array {
    return Buffer.concat([
      this.#ogg.page([{ data: opusHead(this.#channels, this.#rateHz), granule: 0 }], false),
      this.#ogg.page([{ data: opusTags(), granule: 0 }], false),
    ]);
  }

  /**
   * @param interleaved `opusFrame` samples of each channel; fewer only at the end
   * @returns a page once a second, otherwise no bytes
   */
  frame(interleaved: Int16Array): Uint8Array {
    this.#samples += interleaved.length / this.#channels;
    return this.#packet(interleaved);
  }

  /** The last pages, with enough silence to flush the encoder's look-ahead. No frame may follow. */
  end(): Uint8Array {
    const perPacket = opusFrame(this.#rateHz);
    const granules = OPUS_CLOCK_HZ / this.#rateHz;
    const endGranule = OPUS_LEAD + this.#samples * granules;
    const pages: Uint8Array[] = [];
    while (this.#packets * perPacket * granules < endGranule) pages.push(this.#packet(new Int16Array(0)));
    // The last granule says where the audio ends within the last packet.
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
        samples[at] = interleaved[from] ?? 0;
      return coder.encode(Buffer.from(samples.buffer), length);
    });
    const data = packTogether(streams);
    const segments = Math.floor(data.length / 255) + 1;
    // A full page is written only when a packet follows, so that the last page is never empty.
    const isFull = this.#held.length >= PACKETS_A_PAGE || this.#heldSegments + segments > SEGMENTS_A_PAGE;
    const page = isFull ? this.#ogg.page(this.#held, false) : new Uint8Array(0);
    if (isFull) [this.#held, this.#heldSegments] = [[], 0];
    this.#packets += 1;
    this.#held.push({ data, granule: this.#packets * length * (OPUS_CLOCK_HZ / this.#rateHz) });
    this.#heldSegments += segments;
    return page;
  }
}
