import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { StoreKeyError } from '../errors.ts';

/**
 * A file sealed in chunks, so that any range of it can be opened alone: `OFHK`, one byte of form and three of nothing, a
 * random salt of 8 bytes; then chunks of 64 KiB under AES-256-GCM, each with its tag of 16 bytes behind it. A chunk's nonce
 * is salt and number, and it is sealed as being the last or not: nothing can be cut off, put in or exchanged.
 */
const MARK = Buffer.from([0x4f, 0x46, 0x48, 0x4b, 1, 0, 0, 0]);
const SALT_BYTES = 8;
const HEAD_BYTES = MARK.length + SALT_BYTES;
const CHUNK_BYTES = 65_536;
const TAG_BYTES = 16;

/** Bytes of the sealed form of a file of `plainBytes`, which are not 0. */
export function sealedBytesOf(plainBytes: number): number {
  return HEAD_BYTES + plainBytes + Math.ceil(plainBytes / CHUNK_BYTES) * TAG_BYTES;
}

/** The other way round. @throws StoreKeyError for a length that no sealed file has */
export function plainBytesOf(sealedBytes: number): number {
  const body = sealedBytes - HEAD_BYTES;
  const plain = body - Math.ceil(body / (CHUNK_BYTES + TAG_BYTES)) * TAG_BYTES;
  if (plain <= 0 || sealedBytesOf(plain) !== sealedBytes) throw new StoreKeyError('not the length of a sealed recording');
  return plain;
}

/** @param about what the file is; it opens as nothing else. @param plain exactly `plainBytes`, in any pieces */
export async function* sealAudio(
  key: Uint8Array,
  about: string,
  plain: AsyncIterable<Uint8Array>,
  plainBytes: number,
): AsyncIterable<Uint8Array> {
  const salt = randomBytes(SALT_BYTES);
  yield Buffer.concat([MARK, salt]);
  const last = Math.ceil(plainBytes / CHUNK_BYTES) - 1;
  let number = 0;
  let pending: Buffer = Buffer.alloc(0);
  for await (const piece of plain) {
    pending = Buffer.concat([pending, piece]);
    while (pending.length >= CHUNK_BYTES || (number === last && pending.length === plainBytes - number * CHUNK_BYTES)) {
      if (pending.length === 0) break;
      const cipher = createCipheriv('aes-256-gcm', key, nonceOf(salt, number)).setAAD(aadOf(about, number, number === last));
      const chunk = pending.subarray(0, CHUNK_BYTES);
      yield Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]);
      pending = pending.subarray(chunk.length);
      number += 1;
    }
  }
  if (number !== last + 1 || pending.length > 0) throw new RangeError('the file is not as long as was said');
}

export interface SealedFile {
  readonly sealedBytes: number;
  read(start: number, end: number): AsyncIterable<Uint8Array>;
}

/**
 * Opens the plain bytes from `start` up to, not including, `end`.
 * @throws StoreKeyError when the key is another or the file was changed
 */
export async function* openAudio(
  key: Uint8Array,
  about: string,
  file: SealedFile,
  start: number,
  end: number,
): AsyncIterable<Uint8Array> {
  const plainBytes = plainBytesOf(file.sealedBytes);
  const last = Math.ceil(plainBytes / CHUNK_BYTES) - 1;
  const [from, to] = [Math.max(0, start), Math.min(end, plainBytes)];
  if (from >= to) return;
  const head = await collect(file.read(0, HEAD_BYTES));
  if (!head.subarray(0, MARK.length).equals(MARK)) throw new StoreKeyError('not a sealed recording');
  const salt = head.subarray(MARK.length);
  let number = Math.floor(from / CHUNK_BYTES);
  const lastNeeded = Math.floor((to - 1) / CHUNK_BYTES);
  const place = (chunk: number): number => HEAD_BYTES + chunk * (CHUNK_BYTES + TAG_BYTES);
  let pending: Buffer = Buffer.alloc(0);
  for await (const piece of file.read(place(number), Math.min(place(lastNeeded + 1), file.sealedBytes))) {
    pending = Buffer.concat([pending, piece]);
    for (;;) {
      const plainLength = number === last ? plainBytes - last * CHUNK_BYTES : CHUNK_BYTES;
      if (number > lastNeeded || pending.length < plainLength + TAG_BYTES) break;
      const opened = openChunk(key, nonceOf(salt, number), aadOf(about, number, number === last), pending, plainLength);
      const base = number * CHUNK_BYTES;
      yield opened.subarray(Math.max(0, from - base), Math.min(plainLength, to - base));
      pending = pending.subarray(plainLength + TAG_BYTES);
      number += 1;
    }
  }
  if (number <= lastNeeded) throw new StoreKeyError('a sealed recording was cut off');
}

function openChunk(key: Uint8Array, nonce: Buffer, aad: Buffer, bytes: Buffer, plainLength: number): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES }).setAAD(aad);
  decipher.setAuthTag(bytes.subarray(plainLength, plainLength + TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(0, plainLength)), decipher.final()]);
  } catch (error) {
    throw new StoreKeyError('a sealed recording cannot be opened with this key', { cause: error });
  }
}

function nonceOf(salt: Uint8Array, number: number): Buffer {
  const nonce = Buffer.alloc(SALT_BYTES + 4);
  nonce.set(salt);
  nonce.writeUInt32BE(number, SALT_BYTES);
  return nonce;
}

function aadOf(about: string, number: number, isLast: boolean): Buffer {
  return Buffer.from(JSON.stringify([about, number, isLast]));
}

async function collect(parts: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const part of parts) pieces.push(part);
  return Buffer.concat(pieces);
}
