import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises';

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
  readonly #onError: (error: unknown) => void;
  /** What is to be written next. */
  #next: object | undefined;
  #writing: Promise<void> | undefined;
  #file: FileHandle | undefined;
  #bytes = 0;

  /** @param onError told of a state that the file system refused; the one before can still be read then */
  constructor(path: string, onError: (error: unknown) => void) {
    this.#path = path;
    this.#onError = onError;
  }

  /** Keeps the document as it stands. Writes never overlap; of what comes during one, only the last is written. */
  keep(document: object): void {
    this.#next = document;
    this.#writing ??= this.#drain();
  }

  /** Closes the file, with what was to be kept in it. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#file?.close();
    this.#file = undefined;
  }

  /** The same, but nothing more is written: the file is of no use any longer. */
  async abandon(): Promise<void> {
    this.#next = undefined;
    await this.close();
  }

  async #drain(): Promise<void> {
    for (let next = this.#next; next !== undefined; next = this.#next) {
      this.#next = undefined;
      try {
        await this.#write(next);
      } catch (error) {
        this.#onError(error);
      }
    }
    this.#writing = undefined;
  }

  async #write(document: object): Promise<void> {
    const entry = Buffer.from(MARK + JSON.stringify(document));
    this.#bytes += entry.length;
    if (this.#file !== undefined && this.#bytes <= LONGEST_BYTES) await this.#file.appendFile(entry);
    else await this.#begin(entry);
  }

  async #begin(entry: Buffer): Promise<void> {
    const file = await open(`${this.#path}.new`, 'w', 0o600);
    try {
      await file.appendFile(entry);
      await rename(`${this.#path}.new`, this.#path);
    } catch (error) {
      await file.close();
      await rm(`${this.#path}.new`, { force: true });
      throw error;
    }
    await this.#file?.close();
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
