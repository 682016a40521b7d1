import { type FileHandle, open } from 'node:fs/promises';

/** `ModelProto.metadata_props` in onnx.proto, and the key and value of its entries. */
const METADATA = 14;
const KEY = 1;
const VALUE = 2;
/** Types of fields on the wire of protocol buffers. */
const VARINT = 0;
const DELIMITED = 2;
/** A field's number, type and length. */
const HEADER_BYTES = 20;
const MOST_BYTES = 1024 * 1024;

/**
 * Reads a model's metadata, such as names of speakers, without the weights.
 * @returns an empty map for a file that is not an ONNX model
 * @throws when the file cannot be read
 */
export async function readOnnxMetadata(path: string): Promise<ReadonlyMap<string, string>> {
  const metadata = new Map<string, string>();
  const file = await open(path);
  try {
    const { size } = await file.stat();
    for (let at = 0; at < size;) {
      const header = fieldAt(await bytesAt(file, at, HEADER_BYTES), 0);
      if (header === undefined) return metadata;
      const { number, from, length } = header;
      if (number === METADATA && length <= MOST_BYTES) {
        const entry = entryOf(await bytesAt(file, at + from, length));
        if (entry !== undefined) metadata.set(...entry);
      }
      at += from + length;
    }
    return metadata;
  } finally {
    await file.close();
  }
}

function entryOf(bytes: Buffer): [key: string, value: string] | undefined {
  const fields = new Map<number, string>();
  for (let at = 0; at < bytes.length;) {
    const field = fieldAt(bytes, at);
    if (field === undefined) return undefined;
    fields.set(field.number, bytes.toString('utf8', field.from, field.from + field.length));
    at = field.from + field.length;
  }
  const key = fields.get(KEY);
  return key === undefined ? undefined : [key, fields.get(VALUE) ?? ''];
}

async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

/** @returns where the field's value begins, and its length; undefined for what no ONNX model has */
function fieldAt(bytes: Buffer, at: number): { number: number; from: number; length: number } | undefined {
  const tag = varintAt(bytes, at);
  if (tag === undefined) return undefined;
  const number = Math.floor(tag.value / 8);
  const value = varintAt(bytes, tag.end);
  if (value === undefined || number === 0) return undefined;
  if (tag.value % 8 === DELIMITED) return { number, from: value.end, length: value.value };
  return tag.value % 8 === VARINT ? { number, from: value.end, length: 0 } : undefined;
}

function varintAt(bytes: Buffer, at: number): { value: number; end: number } | undefined {
  let value = 0;
  for (let end = at; end < Math.min(bytes.length, at + 10); end += 1) {
    const byte = bytes[end] ?? 0;
    value += (byte & 0x7f) * 2 ** (7 * (end - at));
    if (byte < 0x80) return { value, end: end + 1 };
  }
  return undefined;
}
