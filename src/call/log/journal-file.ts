import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises';

/** The file is restarted before the entry that would exceed this size. */
const LONGEST_BYTES = 256 * 1024;
/** Precedes each entry, so that an entry cut off by a full disk does not spoil the next. */
const MARK = '\n';

/**
 * A document that changes often, on disk: each state is appended by a single write, and the last complete one counts. Replacing the file for each
 * state would take four disk operations instead of one, while a caller waits.
 */
export class JournalFile {
  readonly #path: string;
  readonly #onError: (error: unknown) => void;
  /** The next state to write. */
  #next: object | undefined;
  #writing: Promise<void> | undefined;
  #file: FileHandle | undefined;
  #bytes = 0;

  /** @param onError called for a state that the file system refused; the one before stays readable */
  constructor(path: string, onError: (error: unknown) => void) {
    this.#path = path;
    this.#onError = onError;
  }

  /** Saves the document. Writes never overlap; of the states that arrive during a write, only the last is written. */
  keep(document: object): void {
    this.#next = document;
    this.#writing ??= this.#drain();
  }

  /** Writes the pending state and closes the file. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#file?.close();
    this.#file = undefined;
  }

  /** Closes the file without writing the pending state. */
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
 * The last complete state in a journal file, which another process may be writing.
 * @throws the file system's error, or a SyntaxError when no state is complete
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
