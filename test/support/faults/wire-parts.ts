/** A piece of one direction of a connection: the head of a message, one whole WebSocket frame, or bytes of a body. */
export interface WirePart {
  readonly kind: 'head' | 'frame' | 'body';
  readonly bytes: Buffer;
}

const HEAD_END = '\r\n\r\n';
const UPGRADED = /^HTTP\/1\.1 101 |^upgrade: *websocket/imu;

/**
 * Cuts one direction of an HTTP/1.1 connection into its first head, and what follows: WebSocket frames after an upgrade
 * (RFC 6455, section 5.2), else the bytes as they come, later heads among them. Every byte is in one part.
 */
export async function* wireParts(chunks: AsyncIterable<Buffer>): AsyncGenerator<WirePart, void, undefined> {
  let kept: Buffer = Buffer.alloc(0);
  let state: 'head' | 'frame' | 'body' = 'head';
  for await (const chunk of chunks) {
    kept = Buffer.concat([kept, chunk]);
    for (;;) {
      const length = partLength(state, kept);
      if (length === undefined || length === 0 || length > kept.length) break;
      const bytes = kept.subarray(0, length);
      kept = kept.subarray(length);
      yield { kind: state, bytes };
      if (state === 'head') state = UPGRADED.test(bytes.toString('latin1')) ? 'frame' : 'body';
    }
  }
  if (kept.length > 0) yield { kind: 'body', bytes: kept };
}

/** Bytes of the part that these begin with; undefined while that is not known. */
function partLength(state: WirePart['kind'], bytes: Buffer): number | undefined {
  if (state === 'body') return bytes.length;
  if (state === 'frame') {
    const header = frameHeader(bytes);
    return header === undefined ? undefined : header.bytes + header.payloadBytes;
  }
  const end = bytes.indexOf(HEAD_END);
  return end === -1 ? undefined : end + HEAD_END.length;
}

/** Where the length of a frame stands, how long its header is with the mask, and how long its payload. */
export function frameHeader(
  frame: Buffer,
): { readonly bytes: number; readonly payloadBytes: number; readonly lengthBytes: 1 | 2 | 8 } | undefined {
  if (frame.length < 2) return undefined;
  const second = frame.readUInt8(1);
  const short = second & 0x7f;
  const lengthBytes = short === 127 ? 8 : short === 126 ? 2 : 1;
  const maskAt = lengthBytes === 1 ? 2 : 2 + lengthBytes;
  if (frame.length < maskAt) return undefined;
  const payloadBytes = lengthBytes === 1 ? short : lengthBytes === 2 ? frame.readUInt16BE(2) : Number(frame.readBigUInt64BE(2));
  return { bytes: maskAt + (second >= 0x80 ? 4 : 0), payloadBytes, lengthBytes };
}

/** The same frame with another length in its header, and all its bytes. */
export function withFrameLength(frame: Buffer, by: number): Buffer {
  const header = frameHeader(frame);
  if (header === undefined) return frame;
  const changed = Buffer.from(frame);
  const length = Math.max(0, header.payloadBytes + by);
  if (header.lengthBytes === 1) changed.writeUInt8((frame.readUInt8(1) & 0x80) | Math.min(length, 125), 1);
  else if (header.lengthBytes === 2) changed.writeUInt16BE(Math.min(length, 0xffff), 2);
  else changed.writeBigUInt64BE(BigInt(length), 2);
  return changed;
}
