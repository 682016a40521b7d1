import type { ByteSource } from './byte-source.ts';
import { MediaUnreadableError } from './errors.ts';

/**
 * Walks the outermost boxes of an MP4 file (ISO/IEC 14496-12, section 4.2): a file that lost its end lacks part of the last
 * one, or its index.
 * @throws MediaUnreadableError
 */
export function refuseTornMp4(source: ByteSource): void {
  const seen = new Set<string>();
  for (let at = 0; at < source.sizeBytes;) {
    const head = Buffer.from(source.read(at, 16));
    if (head.length < 8) throw new MediaUnreadableError('the MP4 file is cut off');
    const short = head.readUInt32BE(0);
    seen.add(head.toString('latin1', 4, 8));
    // 0 goes on to the end of the file, 1 has its length in the next eight bytes.
    const length =
      short === 0 ? source.sizeBytes - at : short === 1 && head.length === 16 ? Number(head.readBigUInt64BE(8)) : short;
    if (length < 8 || at + length > source.sizeBytes) throw new MediaUnreadableError('the MP4 file is cut off');
    at += length;
  }
  if (!seen.has('moov')) throw new MediaUnreadableError('the MP4 file has no index: its end is missing');
}
