import { type FileHandle, open, readFile, rename } from 'node:fs/promises';

/** The file begins anew with the entry that would make it longer than this. */
const LONGEST_BYTES = 256 * 1024;
/** Ahead of each entry, so that one that a full disk cut off does not take the next with it. */
const MARK = '\n';

/**
 * A document that changes often, on disk: each state is added to the file by a single write, and the last one that is whole
 * is what counts. A new file for each state, put in the place of the last, costs the disk four orders in place of one, while
 * a caller waits for an answer.
 */
export class JournalFile {
  readonly #path: string;
  #file: FileHandle | undefined;
  #bytes = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * To be called again only when the call before is done.
   *
   * @throws the file system's error; the state before can still be read then
   */
  async write(document: object): Promise<void> {
    const entry = Buffer.from(MARK + JSON.stringify(document));
    this.#bytes += entry.length;
    if (this.#file !== undefined && this.#bytes <= LONGEST_BYTES) await this.#file.appendFile(entry);
    else await this.#begin(entry);
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  async #begin(entry: Buffer): Promise<void> {
    const file = await open(`${this.#path}.new`, 'w', 0o600);
    try {
      await file.appendFile(entry);
      await rename(`${this.#path}.new`, this.#path);
    } catch (error) {
      await file.close();
      throw error;
    }
    await this.close();
    this.#file = file;
    this.#bytes = entry.length;
  }
}

/**
 * The last whole state in a journal's file, which another process may be writing to.
 *
 * @throws the file system's error, or a SyntaxError when nothing in it is whole
 */
export async function readJournal(path: string): Promise<unknown> {
  const entries = (await readFile(path, 'utf8')).split(MARK);
  for (;;) {
    const entry = entries.pop() ?? '';
    try {
      return JSON.parse(entry);
    } catch (error) {
      if (entries.length === 0) throw error;
    }
  }
}
