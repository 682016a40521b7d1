import type { ByteSource } from '../byte-source.ts';
import { MediaUnreadableError } from '../errors.ts';

/** Longest packet accepted; packets of speech are far shorter. */
const maxPacketBytes = 256 * 1024;

export interface OggPacket {
  /** A view that is valid until the next packet is read. */
  readonly data: Uint8Array;
  /** Granule position at the end of the stream; only on packets of its last page. */
  readonly endGranule: bigint | undefined;
}

/** The first packet of a file, which names the codec; may be empty. @throws MediaUnreadableError */
export function oggHead(source: ByteSource): Uint8Array {
  const first = oggPages(source).next();
  return first.done === true ? new Uint8Array(0) : Uint8Array.from(first.value.packets[0] ?? []);
}

/**
 * The packets of the first logical stream of a file, in order; packets that span pages are joined.
 * @throws MediaUnreadableError as `oggPages` does, and for a packet that is too large
 */
export function* oggPackets(source: ByteSource): Generator<OggPacket> {
  let serial: number | undefined;
  let begun: Uint8Array[] = [];
  for (const page of oggPages(source)) {
    serial ??= page.serial;
    if (page.serial !== serial) continue;
    if (!page.continued) begun = [];
    const endGranule = page.last && page.granule >= 0n ? page.granule : undefined;
    for (const [index, part] of page.packets.entries()) {
      // Completes a packet that the page before left open.
      const whole = begun.length === 0 ? part : Buffer.concat([...begun, part]);
      if (whole.length > maxPacketBytes) throw new MediaUnreadableError('an Ogg packet is too large');
      begun = [];
      if (page.open && index === page.packets.length - 1) begun = [Uint8Array.from(whole)];
      else yield { data: whole, endGranule };
    }
  }
}

const headerBytes = 27;

interface OggPage {
  /** The whole page, header and body: a view that is valid until the next page is read. */
  readonly bytes: Uint8Array;
  readonly serial: number;
  /** Granule position at the end of the last packet that ends here; -1 when none does. */
  readonly granule: bigint;
  readonly continued: boolean;
  readonly last: boolean;
  /** The packets in this page; the last one continues in the next page when `open`. */
  readonly packets: readonly Uint8Array[];
  readonly open: boolean;
}

/**
 * Walks the pages of an Ogg file (RFC 3533, section 6).
 * @throws MediaUnreadableError when a page is cut off, or something else is where a page should begin
 */
export function* oggPages(source: ByteSource): Generator<OggPage> {
  for (let at = 0; at < source.sizeBytes;) {
    const head = source.read(at, headerBytes + 255);
    const segments = head[26] ?? 0;
    if (head.length < headerBytes || head.length < headerBytes + segments) throw torn();
    if (Buffer.from(head.subarray(0, 4)).toString('latin1') !== 'OggS') {
      throw new MediaUnreadableError('the Ogg file is damaged: a page is missing');
    }
    const lacing = Uint8Array.from(head.subarray(headerBytes, headerBytes + segments));
    const bodyBytes = lacing.reduce((sum, value) => sum + value, 0);
    const bytes = source.read(at, headerBytes + segments + bodyBytes);
    if (bytes.length < headerBytes + segments + bodyBytes) throw torn();
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const flags = bytes[5] ?? 0;
    const packets: Uint8Array[] = [];
    let start = headerBytes + segments;
    let end = start;
    for (const value of lacing) {
      end += value;
      if (value === 255) continue;
      packets.push(bytes.subarray(start, end));
      start = end;
    }
    const open = lacing.at(-1) === 255;
    if (open) packets.push(bytes.subarray(start, end));
    yield {
      bytes,
      serial: view.getUint32(14, true),
      granule: view.getBigInt64(6, true),
      continued: (flags & 1) !== 0,
      last: (flags & 4) !== 0,
      packets,
      open,
    };
    at += bytes.length;
  }
}

function torn(): MediaUnreadableError {
  return new MediaUnreadableError('the Ogg file is cut off in the middle of a page');
}

/** A packet to write, and the granule position at its end. */
export interface WrittenPacket {
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
  page(packets: readonly WrittenPacket[], last: boolean): Uint8Array {
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
