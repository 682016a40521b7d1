import type { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '../kernel/clock.ts';
import { startWorker } from '../kernel/entry-file.ts';
import { errorText } from '../kernel/errors.ts';
import { BYTES_PER_SECOND, type RecordingFile, type RecordingFiles, TOO_SLOW } from './recording-file.ts';
import type { RecordingBlock, RecordingOrder, RecordingReport } from './recording-orders.ts';

/** Blocks of all calls go to the thread together, this often; it adds to what dies with the process. */
const SEND_EVERY_MS = 50;
/** Of all calls together: half a second of a thousand, or much more of fewer. */
const MOST_QUEUED_BYTES = 500 * BYTES_PER_SECOND;

type Block = RecordingBlock & { readonly bytes: Uint8Array };

/** Writes recordings in a thread of its own; a call gives its audio away and never waits. */
export class RecordingThread implements RecordingFiles, AsyncDisposable {
  readonly #clock: Clock;
  readonly #worker: Worker;
  readonly #files = new Map<number, ThreadFile>();
  /** Sizes of the blocks under way, oldest first. */
  readonly #underWay: number[] = [];
  #blocks: Block[] = [];
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

  create(path: string): RecordingFile {
    const id = this.#nextId;
    this.#nextId += 1;
    let isNew = true;
    const file = new ThreadFile({
      write: (atByte, bytes) => {
        const refusal = this.#write({ id, path: isNew ? path : undefined, atByte, length: bytes.length, bytes });
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

  #write(block: Block): string | undefined {
    if (this.#queuedBytes > MOST_QUEUED_BYTES) return TOO_SLOW;
    this.#queuedBytes += block.bytes.length;
    this.#blocks.push(block);
    this.#timer ??= this.#clock.after(SEND_EVERY_MS, () => this.#send());
    return undefined;
  }

  #finish(id: number): void {
    this.#send();
    if (this.#failure === undefined) this.#order({ type: 'finish', id });
    else this.#finished(id, false, undefined);
  }

  #send(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#blocks.length === 0) return;
    const blocks = this.#blocks;
    this.#blocks = [];
    const bytes = new Uint8Array(blocks.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const block of blocks) {
      this.#underWay.push(block.length);
      bytes.set(block.bytes, at);
      at += block.length;
    }
    const facts = blocks.map(({ id, path, atByte, length }) => ({ id, path, atByte, length }));
    this.#order({ type: 'write', blocks: facts, bytes }, [bytes.buffer]);
  }

  #reported(report: RecordingReport): void {
    if (report.type === 'finished') return this.#finished(report.id, report.exists, report.error);
    for (const size of this.#underWay.splice(0, report.count)) this.#queuedBytes -= size;
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

  #order(order: RecordingOrder, transfer: readonly ArrayBuffer[] = []): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
    this.#worker.postMessage(order, transfer);
  }
}

/** What a file asks of its thread. */
interface FileOrders {
  /** @returns why it cannot be written */
  write(atByte: number, bytes: Uint8Array<ArrayBuffer>): string | undefined;
  finish(): void;
}

class ThreadFile implements RecordingFile {
  failure: string | undefined;
  finishing = false;
  readonly #orders: FileOrders;
  #resolve: (exists: boolean) => void = () => undefined;

  constructor(orders: FileOrders) {
    this.#orders = orders;
  }

  write(atByte: number, block: Uint8Array<ArrayBuffer>): void {
    if (this.failure === undefined) this.failure = this.#orders.write(atByte, block);
  }

  finish(): Promise<boolean> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.finishing = true;
      this.#orders.finish();
    });
  }

  failed(error: string): void {
    this.failure ??= error;
  }

  finished(exists: boolean): void {
    this.#resolve(exists);
  }
}
