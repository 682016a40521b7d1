// Writes the recordings of all calls, so that calls never wait for a disk. One thread is enough: blocks are small, and the system buffers them.
import { closeSync, fsync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { errorText } from '../../kernel/errors.ts';
import { HEADER_BYTES, openingFlags, recordingHeader } from './recording-file.ts';

const open = new Map<number, { readonly descriptor: number; readonly rateHz: number }>();

parentPort?.on('message', (command: RecordingCommand) => {
  if (command.type === 'finish') return finish(command.id);
  const failures: { id: number; error: string }[] = [];
  let from = 0;
  const { memory } = command;
  for (const { id, file, atByte, length } of command.blocks) {
    try {
      write(id, file, atByte, new Uint8Array(memory, from, length));
    } catch (error) {
      failures.push({ id, error: errorText(error) });
    }
    from += length;
  }
  report({ type: 'done', bytes: from, memory, failures }, [memory]);
});

function write(id: number, created: RecordingBlock['file'], atByte: number, bytes: Uint8Array): void {
  let file = open.get(id);
  if (file === undefined) {
    if (created === undefined) throw new Error('creating the recording failed');
    const { path, rateHz, goesOn } = created;
    mkdirSync(dirname(path), { recursive: true });
    file = { descriptor: openSync(path, openingFlags(path, goesOn), 0o600), rateHz };
    open.set(id, file);
  }
  writeWhole(file.descriptor, bytes, HEADER_BYTES + atByte);
  writeWhole(file.descriptor, recordingHeader(atByte + bytes.length, file.rateHz), 0);
}

/** A nearly full disk may take a part of a block and refuse the rest; the header must not count that part. */
function writeWhole(file: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done, bytes.length - done, position + done);
}

function finish(id: number): void {
  const file = open.get(id);
  open.delete(id);
  if (file === undefined) return report({ type: 'finished', id, exists: false, error: undefined });
  // Syncing is slow; other calls' blocks do not wait for it.
  const { descriptor } = file;
  fsync(descriptor, (cause) => {
    closeSync(descriptor);
    report({ type: 'finished', id, exists: true, error: cause === null ? undefined : errorText(cause) });
  });
}

function report(message: RecordingReport, transfer: readonly ArrayBuffer[] = []): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
  parentPort?.postMessage(message, transfer);
}

/** One block of a recording: its place in the transferred bytes and in its file's audio. */
export interface RecordingBlock {
  readonly id: number;
  /** Sent with the first block of a file. */
  readonly file: { readonly path: string; readonly rateHz: number; readonly goesOn: boolean } | undefined;
  readonly atByte: number;
  readonly length: number;
}

/** Commands to the recording thread. Blocks are packed in `memory`, whose ownership moves there and back, so that a few buffers are reused. */
export type RecordingCommand =
  | { readonly type: 'write'; readonly blocks: readonly RecordingBlock[]; readonly memory: ArrayBuffer }
  | { readonly type: 'finish'; readonly id: number };

/** Reports of the recording thread. */
export type RecordingReport =
  /** These blocks were written or refused. */
  | {
      readonly type: 'done';
      readonly bytes: number;
      readonly memory: ArrayBuffer;
      readonly failures: readonly { readonly id: number; readonly error: string }[];
    }
  | { readonly type: 'finished'; readonly id: number; readonly exists: boolean; readonly error: string | undefined };
