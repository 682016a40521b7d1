import type { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '../../kernel/clock.ts';
import { startWorker } from '../../kernel/entry-file.ts';
import { errorText } from '../../kernel/errors.ts';
import { BYTES_PER_SECOND, type RecordingFile, type RecordingFiles, TOO_SLOW } from './recording-file.ts';
import type { RecordingBlock, RecordingCommand, RecordingReport } from './recording-worker.ts';

/** Interval at which the blocks of all calls go to the thread together; a crash loses this much more. */
const SEND_EVERY_MS = 50;
/** Limit over all calls: half a second for a thousand, or much more for fewer. */
const MOST_QUEUED_BYTES = 500 * BYTES_PER_SECOND;
/** Size of one transfer: four seconds of one call. */
const PIECE_BYTES = 4 * BYTES_PER_SECOND;
/** Spare pieces kept for reuse. */
const MOST_FREE = 8;

/** Writes recordings in a thread; a call's audio is copied, and the call never waits. */
export class RecordingThread implements RecordingFiles, AsyncDisposable {
  readonly #clock: Clock;
  readonly #worker: Worker;
  readonly #files = new Map<number, ThreadFile>();
  /** Returned buffers. */
  readonly #free: ArrayBuffer[] = [];
  /** Blocks of the next transfer, in this buffer. */
  #blocks: RecordingBlock[] = [];
  #piece = new Uint8Array();
  #filled = 0;
  #queuedBytes = 0;
  #nextId = 0;
  #timer: Timer | undefined;
  #failure: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#worker = startWorker(import.meta.url, 'recording-worker', {});
    this.#worker.on('message', (report: RecordingReport) => this.#reported(report));
    this.#worker.on('error', (error) => this.#fail(errorText(error)));
    this.#worker.on('exit', () => this.#fail('the thread that writes recordings has ended'));
  }

  create(path: string, rateHz: number, goesOn = false): RecordingFile {
    const id = this.#nextId;
    this.#nextId += 1;
    let isNew = true;
    const file = new ThreadFile({
      write: (atByte, bytes) => {
        const refusal = this.#write(
          { id, file: isNew ? { path, rateHz, goesOn } : undefined, atByte, length: bytes.length },
          bytes,
        );
        isNew &&= refusal !== undefined;
        return refusal;
      },
      finish: () => this.#finish(id),
    });
    file.failure = this.#failure;
    this.#files.set(id, file);
    return file;
  }

  /** Ends the thread; every file should be finished before. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#send();
    await this.#worker.terminate();
  }

  #write(block: RecordingBlock, bytes: Uint8Array): string | undefined {
    if (this.#queuedBytes > MOST_QUEUED_BYTES) return TOO_SLOW;
    this.#queuedBytes += bytes.length;
    if (this.#filled + bytes.length > this.#piece.length) this.#makeRoomFor(bytes.length);
    this.#piece.set(bytes, this.#filled);
    this.#filled += bytes.length;
    this.#blocks.push(block);
    this.#timer ??= this.#clock.after(SEND_EVERY_MS, () => this.#send());
    return undefined;
  }

  #finish(id: number): void {
    this.#send();
    if (this.#failure === undefined) this.#post({ type: 'finish', id });
    else this.#finished(id, false, undefined);
  }

  #makeRoomFor(length: number): void {
    this.#send();
    const known = length <= PIECE_BYTES ? this.#free.pop() : undefined;
    this.#piece = new Uint8Array(known ?? new ArrayBuffer(Math.max(PIECE_BYTES, length)));
  }

  #send(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#blocks.length === 0) return;
    const { buffer: memory } = this.#piece;
    this.#post({ type: 'write', blocks: this.#blocks, memory }, [memory]);
    this.#blocks = [];
    this.#piece = new Uint8Array();
    this.#filled = 0;
  }

  #reported(report: RecordingReport): void {
    if (report.type === 'finished') return this.#finished(report.id, report.exists, report.error);
    this.#queuedBytes -= report.bytes;
    if (report.memory.byteLength === PIECE_BYTES && this.#free.length < MOST_FREE) this.#free.push(report.memory);
    for (const { id, error } of report.failures) this.#files.get(id)?.failed(error);
  }

  #finished(id: number, exists: boolean, error: string | undefined): void {
    const file = this.#files.get(id);
    this.#files.delete(id);
    if (error !== undefined) file?.failed(error);
    file?.finished(exists);
  }

  #fail(error: string): void {
    this.#failure ??= error;
    for (const [id, file] of this.#files) {
      file.failed(error);
      if (file.finishing) this.#finished(id, false, undefined);
    }
  }

  #post(command: RecordingCommand, transfer: readonly ArrayBuffer[] = []): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
    this.#worker.postMessage(command, transfer);
  }
}

/** Commands of one file to the thread. */
interface FileCommands {
  /** @returns why it cannot be written */
  write(atByte: number, bytes: Uint8Array): string | undefined;
  finish(): void;
}

class ThreadFile implements RecordingFile {
  failure: string | undefined;
  finishing = false;
  readonly #commands: FileCommands;
  #resolve: (exists: boolean) => void = () => undefined;

  constructor(commands: FileCommands) {
    this.#commands = commands;
  }

  write(atByte: number, block: Uint8Array): void {
    if (this.failure === undefined) this.failure = this.#commands.write(atByte, block);
  }

  finish(): Promise<boolean> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.finishing = true;
      this.#commands.finish();
    });
  }

  failed(error: string): void {
    this.failure ??= error;
  }

  finished(exists: boolean): void {
    this.#resolve(exists);
  }
}
