import type { ByteSource } from './byte-source.ts';
import { MediaUnreadableError } from './errors.ts';

const headerBytes = 27;

export interface OggPage {
  /** The whole page, header and body: a view that holds until the next one is asked for. */
  readonly bytes: Uint8Array;
  readonly serial: number;
  /** Samples up to the last packet that ends here; -1 when none does. */
  readonly granule: bigint;
  readonly continued: boolean;
  readonly last: boolean;
  /** The lacing values' packets; the last one goes on in the next page when `open`. */
  readonly packets: readonly Uint8Array[];
  readonly open: boolean;
}

/**
 * Walks the pages of an Ogg file (RFC 3533, section 6).
 * @throws MediaUnreadableError when a page is cut off or something else stands where one should
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
    const flags = bytes[5]!;
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
