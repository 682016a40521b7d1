import { CompressedAudioError } from '../errors.ts';

/** Granules count at this rate, whatever the rate of the audio (RFC 7845, section 4). */
export const OPUS_CLOCK_HZ = 48_000;

/** The encoder's look-ahead in granules: 6.5 ms, which players drop (RFC 7845, section 5.1). */
export const OPUS_LEAD = 312;

/**
 * The identification header (RFC 7845, section 5.1): version 1, no gain. One channel is mapping family 0; more are family 1, each
 * channel a mono stream of its own.
 */
export function opusHead(channels: number, rateHz: number): Uint8Array {
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
export function opusTags(): Uint8Array {
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
