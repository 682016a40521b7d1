import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { errorText, OffhookError } from '../../kernel/errors.ts';
import { type ArchiveEntry, MOST_ENTRIES } from './archive-entry.ts';
import { ModelContentError } from './errors.ts';

/** The type of a file in the upper half of a zip's attributes, as Unix has it, and that of a plain file; 0 where it is not noted. */
const TYPE_BITS = 0o170000;
const PLAIN_FILE = 0o100000;

/**
 * Reads a zip archive by its directory. Sizes are those of the directory, which the content has to meet.
 * @param most bytes of all entries together
 * @throws ModelContentError when it is damaged, encrypted, or larger than `most`
 */
export async function* readZip(
  file: string,
  most: number,
  onBytes: (unpacked: number) => void = () => undefined,
): AsyncGenerator<ArchiveEntry, void, undefined> {
  const zip = await openPromise(file).catch(refuse);
  try {
    if (zip.entryCount > MOST_ENTRIES) throw new ModelContentError(`the archive has more than ${MOST_ENTRIES} entries`);
    let bytes = 0;
    for await (const entry of zip.eachEntry()) {
      bytes += entry.uncompressedSize;
      if (bytes > most) throw new ModelContentError(`the archive holds more than ${most} bytes, far more than its own size`);
      onBytes(bytes);
      yield { name: entry.fileName, type: typeOf(entry), bytes: entry.uncompressedSize, parts: () => partsOf(zip, entry) };
    }
  } catch (error) {
    refuse(error);
  } finally {
    zip.close();
  }
}

function typeOf({ fileName, externalFileAttributes }: Entry): ArchiveEntry['type'] {
  if (fileName.endsWith('/')) return 'folder';
  const type = (externalFileAttributes >>> 16) & TYPE_BITS;
  return type === 0 || type === PLAIN_FILE ? 'file' : 'other';
}

async function* partsOf(zip: ZipFile, entry: Entry): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const part of await zip.openReadStreamPromise(entry)) yield part as Buffer;
  } catch (error) {
    refuse(error);
  }
}

function refuse(error: unknown): never {
  if (error instanceof OffhookError) throw error;
  throw new ModelContentError(`the archive is no whole zip: ${errorText(error)}`, { cause: error });
}
