/** The checksum of a frame's header (RFC 9639, section 9.1.8). */
export function crc8(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) sum = CRC8[sum ^ byte]!;
  return sum;
}

/** The checksum of a whole frame (RFC 9639, section 9.3). */
export function crc16(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) sum = ((sum << 8) & 0xffff) ^ CRC16[(sum >> 8) ^ byte]!;
  return sum;
}

const CRC8 = tableOf(8, 0x07);
const CRC16 = tableOf(16, 0x8005);

function tableOf(bits: number, polynomial: number): Uint16Array {
  const top = 1 << (bits - 1);
  return Uint16Array.from({ length: 256 }, (_, index) => {
    let value = index << (bits - 8);
    for (let bit = 0; bit < 8; bit += 1) value = (value & top) === 0 ? value << 1 : (value << 1) ^ polynomial;
    return value & ((1 << bits) - 1);
  });
}
