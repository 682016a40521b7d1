/** A packet to write, and the granule position at its end. */
export interface OggPacket {
  readonly data: Uint8Array;
  readonly granule: number;
}

const FIRST = 2;
const LAST = 4;
const MAX_SEGMENTS = 255;

const crcTable = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index << 24;
  for (let bit = 0; bit < 8; bit += 1) value = value & 0x8000_0000 ? (value << 1) ^ 0x04c1_1db7 : value << 1;
  return value >>> 0;
});

function pageChecksum(page: Uint8Array): number {
  let sum = 0;
  for (const byte of page) sum = ((sum << 8) ^ (crcTable[((sum >>> 24) ^ byte) & 0xff] ?? 0)) >>> 0;
  return sum;
}

/** Writes whole packets, each below 65,025 bytes, as the pages of one logical stream (RFC 3533, section 6). */
export class OggWriter {
  readonly #serial: number;
  #sequence = 0;

  constructor(serial: number) {
    this.#serial = serial;
  }

  /** One page that holds these packets. @throws RangeError when they do not fit in one */
  page(packets: readonly OggPacket[], last: boolean): Uint8Array {
    const lacing = packets.flatMap(({ data }) => [
      ...Array.from({ length: Math.floor(data.length / 255) }, () => 255),
      data.length % 255,
    ]);
    if (lacing.length > MAX_SEGMENTS) throw new RangeError('packets of more than one Ogg page');
    const page = Buffer.alloc(27 + lacing.length + packets.reduce((sum, { data }) => sum + data.length, 0));
    page.write('OggS', 0, 'latin1');
    page[5] = (this.#sequence === 0 ? FIRST : 0) | (last ? LAST : 0);
    page.writeBigInt64LE(BigInt(packets.at(-1)?.granule ?? 0), 6);
    page.writeUInt32LE(this.#serial, 14);
    page.writeUInt32LE(this.#sequence++, 18);
    page[26] = lacing.length;
    page.set(lacing, 27);
    let at = 27 + lacing.length;
    for (const { data } of packets) {
      page.set(data, at);
      at += data.length;
    }
    page.writeUInt32LE(pageChecksum(page), 22);
    return page;
  }
}
