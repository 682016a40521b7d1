import { type ArchiveEntry, MOST_ENTRIES } from './archive-entry.ts';
import { ModelContentError } from './errors.ts';

const BLOCK = 512;
/** Longest name and largest extended header that are read. */
const MOST_HEADER_BYTES = 65_536;

/**
 * Reads a tar archive (ustar, with the extensions of GNU and POSIX for long names) from its bytes.
 * @throws ModelContentError when it is damaged, ends early, or has too many entries
 */
export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<ArchiveEntry, void, undefined> {
  const reader = new ByteReader(source);
  let longName: string | undefined;
  let extended = new Map<string, string>();
  for (let entries = 0; ; entries += 1) {
    if (entries > MOST_ENTRIES) throw new ModelContentError(`the archive has more than ${MOST_ENTRIES} entries`);
    const header = await reader.block();
    if (header === undefined) return;
    const { name, type, bytes } = parseHeader(header);
    if (type === 'L' || type === 'x' || type === 'g' || type === 'K') {
      if (bytes > MOST_HEADER_BYTES) throw new ModelContentError('the archive has an extended header that is too large');
      const content = await reader.take(bytes);
      await reader.skip(padding(bytes));
      if (type === 'L') longName = textOf(content);
      if (type === 'x') extended = extendedFields(content);
      continue;
    }
    const size = extended.has('size') ? wholeNumber(extended.get('size') ?? '') : bytes;
    const fullName = extended.get('path') ?? longName ?? name;
    longName = undefined;
    extended = new Map();
    let left = size;
    const isFile = type === '0' || type === '\0' || type === '7';
    yield {
      name: fullName,
      type: type === '5' || (isFile && fullName.endsWith('/')) ? 'folder' : isFile ? 'file' : 'other',
      bytes: size,
      async *parts() {
        while (left > 0) {
          const part = await reader.some(left);
          left -= part.length;
          yield part;
        }
      },
    };
    await reader.skip(left + padding(size));
  }
}

function parseHeader(header: Uint8Array): { name: string; type: string; bytes: number } {
  const sum = header.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte), 0);
  if (wholeNumber(textOf(header.subarray(148, 156)).trim(), 8) !== sum) {
    throw new ModelContentError('the archive is damaged: a header has the wrong checksum');
  }
  const name = textOf(header.subarray(0, 100));
  const isUstar = textOf(header.subarray(257, 263)).startsWith('ustar') && header[263] === 0x30;
  const prefix = isUstar ? textOf(header.subarray(345, 500)) : '';
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    type: String.fromCodePoint(header[156] ?? 0),
    bytes: wholeNumber(textOf(header.subarray(124, 136)).trim(), 8),
  };
}

/** `length key=value\n`, repeated; the length counts itself. */
function extendedFields(content: Uint8Array): Map<string, string> {
  const fields = new Map<string, string>();
  let rest = content;
  while (rest.length > 0) {
    const blank = rest.indexOf(0x20);
    const length = blank < 0 ? 0 : wholeNumber(Buffer.from(rest.subarray(0, blank)).toString('latin1'));
    if (length <= blank + 1 || length > rest.length) throw new ModelContentError('the archive is damaged: an extended header');
    const field = Buffer.from(rest.subarray(blank + 1, length - 1)).toString('utf8');
    const equals = field.indexOf('=');
    fields.set(field.slice(0, equals), field.slice(equals + 1));
    rest = rest.subarray(length);
  }
  return fields;
}

function wholeNumber(text: string, base: 8 | 10 = 10): number {
  const digits = base === 8 ? /^[0-7]{1,12}$/u : /^\d{1,15}$/u;
  if (!digits.test(text)) throw new ModelContentError('the archive is damaged: a header has no valid number');
  return Number.parseInt(text, base);
}

function textOf(field: Uint8Array): string {
  const end = field.indexOf(0);
  return Buffer.from(end < 0 ? field : field.subarray(0, end)).toString('utf8');
}

const padding = (bytes: number): number => (BLOCK - (bytes % BLOCK)) % BLOCK;

class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** 1 to `most` bytes. @throws ModelContentError at the end */
  async some(most: number): Promise<Uint8Array> {
    if (!(await this.#filled())) throw new ModelContentError('the archive ends early');
    const part = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(part.length);
    return part;
  }

  async take(bytes: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    for (let left = bytes; left > 0;) {
      const part = await this.some(left);
      parts.push(part);
      left -= part.length;
    }
    return Buffer.concat(parts);
  }

  async skip(bytes: number): Promise<void> {
    for (let left = bytes; left > 0;) left -= (await this.some(left)).length;
  }

  /** The next header; undefined at a block of zeros and at the end. What follows the end is read, so that its writer can end. */
  async block(): Promise<Uint8Array | undefined> {
    if (!(await this.#filled())) return undefined;
    const block = await this.take(BLOCK);
    if (block.some((byte) => byte !== 0)) return block;
    while (await this.#filled()) this.#rest = new Uint8Array();
    return undefined;
  }

  async #filled(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#source.next();
      if (done === true) return false;
      this.#rest = value;
    }
    return true;
  }
}
