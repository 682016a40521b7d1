import { CompressedAudioError } from '../errors.ts';
import OpusScript from 'opusscript';
import { OggWriter, type WrittenPacket } from '../ogg/ogg.ts';

/** Granules count at this rate, whatever the rate of the audio (RFC 7845, section 4). */
export const OPUS_CLOCK_HZ = 48_000;

/** The encoder's look-ahead in granules: 6.5 ms, which players drop (RFC 7845, section 5.1). */
const OPUS_LEAD = 312;

/**
 * The identification header (RFC 7845, section 5.1): version 1, no gain. One channel is mapping family 0; more are family 1, each
 * channel a mono stream of its own.
 */
function opusHead(channels: number, rateHz: number): Uint8Array {
  const head = Buffer.alloc(channels === 1 ? 19 : 21 + channels);
  head.write('OpusHead', 'latin1');
  head[8] = 1;
  head[9] = channels;
  head.writeUInt16LE(OPUS_LEAD, 10);
  head.writeUInt32LE(rateHz, 12);
  if (channels > 1) {
    head[18] = 1;
    // The number of streams, no stereo ones, then the stream of each channel.
    head[19] = channels;
    head.set(
      Array.from({ length: channels }, (_, channel) => channel),
      21,
    );
  }
  return head;
}

/** The comment header (RFC 7845, section 5.2): a vendor and no comments. */
function opusTags(): Uint8Array {
  const vendor = 'offhook';
  const tags = Buffer.alloc(8 + 4 + vendor.length + 4);
  tags.write('OpusTags', 'latin1');
  tags.writeUInt32LE(vendor.length, 8);
  tags.write(vendor, 12, 'latin1');
  return tags;
}

/** Sample rates the codec accepts. */
export const OPUS_RATES = [8000, 12_000, 16_000, 24_000, 48_000] as const;

export type OpusRateHz = (typeof OPUS_RATES)[number];

/** Longest frame whose length fits one byte (RFC 6716, section 3.2.1). */
const ONE_BYTE = 251;

/**
 * Joins packets of several streams into one multistream packet; all but the last carry their length (RFC 6716, appendix B).
 * @param packets of one frame each
 */
export function packTogether(packets: readonly Uint8Array[]): Uint8Array {
  const last = packets.at(-1);
  if (last === undefined) throw new TypeError('no packet to pack');
  return Buffer.concat([
    ...packets.slice(0, -1).flatMap((packet) => {
      const [head = 3] = packet;
      if ((head & 3) !== 0) throw new TypeError('an Opus packet that holds no frame or several');
      const frame = packet.subarray(1);
      return [packet.subarray(0, 1), lengthBytes(frame.length), frame];
    }),
    last,
  ]);
}

/** Splits a multistream packet. @throws CompressedAudioError when it is damaged */
export function takeApart(packet: Uint8Array, streams: number): Uint8Array[] {
  const packets: Uint8Array[] = [];
  let rest = packet;
  for (let stream = 1; stream < streams; stream += 1) {
    const [head = 1, first = 0, second = 0] = rest;
    const [length, from] = first <= ONE_BYTE ? [first, 2] : [first + 4 * second, 3];
    if ((head & 3) !== 0 || rest.length < from + length) throw new CompressedAudioError('an Opus packet is damaged');
    packets.push(Buffer.concat([Uint8Array.of(head), rest.subarray(from, from + length)]));
    rest = rest.subarray(from + length);
  }
  return [...packets, rest];
}

function lengthBytes(length: number): Uint8Array {
  if (length <= ONE_BYTE) return Uint8Array.of(length);
  const first = 252 + (length & 3);
  return Uint8Array.of(first, (length - first) >> 2);
}

/** Samples of each channel in a packet: 20 ms. */
export const opusFrame = (rateHz: number): number => rateHz / 50;

interface OpusSettings {
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
  #held: WrittenPacket[] = [];
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
