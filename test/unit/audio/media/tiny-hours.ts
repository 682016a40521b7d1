const crcTable = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index << 24;
  for (let bit = 0; bit < 8; bit += 1) value = value & 0x8000_0000 ? (value << 1) ^ 0x04c1_1db7 : value << 1;
  return value >>> 0;
});

function page(packets: readonly Uint8Array[], sequence: number, granule: number, flags: number): Buffer {
  const head = Buffer.alloc(27 + packets.length);
  head.write('OggS', 0, 'latin1');
  head[5] = flags;
  head.writeBigInt64LE(BigInt(granule), 6);
  head.writeUInt32LE(7, 14);
  head.writeUInt32LE(sequence, 18);
  head[26] = packets.length;
  for (const [index, packet] of packets.entries()) head[27 + index] = packet.length;
  const bytes = Buffer.concat([head, ...packets]);
  let crc = 0;
  for (const byte of bytes) crc = ((crc << 8) ^ crcTable[((crc >>> 24) ^ byte) & 0xff]!) >>> 0;
  bytes.writeUInt32LE(crc, 22);
  return bytes;
}

/** An Ogg Opus file of some 60 kB an hour: packets of two bytes that each stand for 120 ms of silence. */
export function tinyHours(hours: number): Uint8Array {
  const header = Buffer.from('OpusHead\x01\x01\0\0\x80\x3e\0\0\0\0\0', 'latin1');
  const tags = Buffer.from('OpusTags\0\0\0\0\0\0\0\0', 'latin1');
  const pages = [page([header], 0, 0, 2), page([tags], 1, 0, 0)];
  // SILK narrowband frames of 60 ms, two of no bytes: they are filled in as silence.
  const packet = Uint8Array.of((3 << 3) | 3, 2);
  const count = Math.ceil((hours * 3600) / (0.12 * 255));
  for (let index = 1; index <= count; index += 1) {
    pages.push(page(Array<Uint8Array>(255).fill(packet), index + 1, index * 255 * 5760, index === count ? 4 : 0));
  }
  return Buffer.concat(pages);
}
