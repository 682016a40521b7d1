import { ModelContentError } from './errors.ts';

/** More entries than any archive of a model has. */
export const MOST_ENTRIES = 20_000;

/** A file, a folder or something else in an archive. */
export interface ArchiveEntry {
  /** As the archive says; a reader checks it with `safePath`. */
  readonly name: string;
  /** `other`: links, devices, pipes and sparse files, which are never created. */
  readonly type: 'file' | 'folder' | 'other';
  readonly bytes: number;
  /** The content, which is skipped when it is not read before the next entry. */
  readonly parts: () => AsyncIterable<Uint8Array>;
}

/**
 * The path of an entry in parts, without `.`.
 * @throws ModelContentError for one that leaves the folder, or that a file system could take for another
 */
export function safePath(name: string): readonly string[] {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  const strange = /[\p{Cc}\\]/u.test(name) || name.startsWith('/') || /^[a-z]:/iu.test(name);
  const tooLong = name.length > 1_000 || parts.some((part) => Buffer.byteLength(part) > 255);
  if (strange || tooLong || parts.includes('..')) {
    throw new ModelContentError(`the archive has an entry whose path is refused: ${JSON.stringify(name.slice(0, 200))}`);
  }
  return parts;
}
