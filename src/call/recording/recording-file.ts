import { NARROW_RATE_HZ } from '../../audio/format.ts';
import { existsSync } from 'node:fs';
import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { wavHeader } from '../../audio/wav.ts';
import { errorText } from '../../kernel/errors.ts';

export const HEADER_BYTES = 44;
/** For 16-bit stereo at 8 kHz, as most recordings are; one at 16 kHz has half the time within the same limits. */
export const BYTES_PER_SECOND = NARROW_RATE_HZ * 4;
const MOST_QUEUED_BYTES = 30 * BYTES_PER_SECOND;
export const TOO_SLOW = 'the disk is too slow: more than 30 s of audio (15 s of wideband) were waiting to be written';

/** Output of one recording. Disk errors are stored in `failure`, never thrown into the call. */
export interface RecordingFile {
  /** The first disk error, if any; nothing is written after it. */
  readonly failure: string | undefined;
  /**
   * Writes a block and a header that counts it. The first block creates the file.
   * @param atByte offset in the audio; gaps are silence
   * @param block copied before the call returns
   */
  write(atByte: number, block: Uint8Array): void;
  /** Writes the rest and closes the file. Never rejects. @returns whether there is a file */
  finish(): Promise<boolean>;
}

export interface RecordingFiles {
  /** @param goesOn continues a file that another process began, if it exists */
  create(path: string, rateHz: number, goesOn?: boolean): RecordingFile;
}

/** Flags for opening a recording's file. */
export function openingFlags(path: string, goesOn: boolean): 'w' | 'r+' {
  return goesOn && existsSync(path) ? 'r+' : 'w';
}

/** The header of a file with this much audio. */
export function recordingHeader(dataBytes: number, rateHz: number): Uint8Array {
  return wavHeader({ rateHz, channels: 2, dataBytes, encoding: 'pcm16' });
}

/** Writes on the calling thread. */
export const directRecordingFiles: RecordingFiles = {
  create: (path, rateHz, goesOn = false) => new DirectRecordingFile(path, rateHz, goesOn),
};

class DirectRecordingFile implements RecordingFile {
  readonly #path: string;
  readonly #rateHz: number;
  readonly #goesOn: boolean;
  #file: FileHandle | undefined;
  #writing: Promise<void> = Promise.resolve();
  #queuedBytes = 0;
  failure: string | undefined;

  constructor(path: string, rateHz: number, goesOn: boolean) {
    this.#path = path;
    this.#goesOn = goesOn;
    this.#rateHz = rateHz;
  }

  write(atByte: number, lent: Uint8Array): void {
    if (this.failure !== undefined) return;
    if (this.#queuedBytes > MOST_QUEUED_BYTES) {
      this.failure = TOO_SLOW;
      return;
    }
    const block = lent.slice();
    this.#queuedBytes += block.length;
    this.#writing = this.#writing.then(() => this.#writeBlock(atByte, block));
  }

  async finish(): Promise<boolean> {
    await this.#writing;
    try {
      await this.#file?.sync();
      await this.#file?.close();
    } catch (error) {
      this.failure ??= errorText(error);
    }
    return this.#file !== undefined;
  }

  async #writeBlock(atByte: number, block: Uint8Array): Promise<void> {
    try {
      if (this.#file === undefined) {
        await mkdir(dirname(this.#path), { recursive: true });
        this.#file = await open(this.#path, openingFlags(this.#path, this.#goesOn), 0o600);
      }
      await writeWhole(this.#file, block, HEADER_BYTES + atByte);
      await writeWhole(this.#file, recordingHeader(atByte + block.length, this.#rateHz), 0);
    } catch (error) {
      this.failure ??= errorText(error);
    } finally {
      this.#queuedBytes -= block.length;
    }
  }
}

/** A nearly full disk may take a part of a block and refuse the rest; the header must not count that part. */
async function writeWhole(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;)
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
}
