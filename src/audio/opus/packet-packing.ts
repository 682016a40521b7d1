import { CompressedAudioError } from '../compressed-audio-error.ts';

/** Longest frame whose length takes one byte (RFC 6716, section 3.2.1). */
const ONE_BYTE = 251;

/**
 * Puts the packets of several streams into one, all but the last with their length in them (RFC 6716, appendix B).
 * @param packets of one frame each
 */
export function packTogether(packets: readonly Uint8Array[]): Uint8Array {
  const last = packets.at(-1);
  if (last === undefined) throw new TypeError('no packet to pack');
  return Buffer.concat([
    ...packets.slice(0, -1).flatMap((packet) => {
      if (packet.length === 0 || (packet[0]! & 3) !== 0) throw new TypeError('an Opus packet that holds several frames');
      const frame = packet.subarray(1);
      return [packet.subarray(0, 1), lengthBytes(frame.length), frame];
    }),
    last,
  ]);
}

/** The other way round. @throws CompressedAudioError */
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
