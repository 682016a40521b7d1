import { stat } from 'node:fs/promises';
import { RECORDING_FORMATS, inFormat } from '../../audio/recording-format.ts';
import { pourIntoFile } from '../../kernel/pour-into-file.ts';
import { readFileParts } from '../../kernel/read-file-parts.ts';
import { StoreRecordError } from '../errors.ts';
import type { ObjectStore } from './port.ts';
import { openAudio, plainBytesOf, sealAudio, sealedBytesOf } from './sealed-audio.ts';
import type { CallRef, Store } from '../port.ts';

/** A recording that can be read: a file of its format, whatever it is kept in. */
export interface OpenRecording {
  readonly bytes: number;
  /** @param start first byte, @param end the byte after the last; the whole file when absent */
  read(start?: number, end?: number, signal?: AbortSignal): AsyncIterable<Uint8Array>;
}

/** Recordings in the object store, each sealed under its call's own key. */
export class SealedRecordings {
  readonly #store: Pick<Store, 'privacy'>;
  readonly #objects: ObjectStore;

  constructor(store: Pick<Store, 'privacy'>, objects: ObjectStore) {
    this.#store = store;
    this.#objects = objects;
  }

  /**
   * Seals a plain file, which stays, under a key of the object store, in place of what stood there.
   * @returns false where its call was erased, or it is empty: nothing was put then
   * @throws ObjectStoreError, StoreUnavailableError (retryable)
   */
  async put({ tenantId, callId }: CallRef, object: string, path: string, signal?: AbortSignal): Promise<boolean> {
    const { size } = await stat(path);
    const key = size === 0 ? undefined : await this.#store.privacy.audioKey(tenantId, callId, true);
    if (key === undefined) return false;
    const sealed = sealAudio(key, aboutOf(tenantId, callId), readFileParts(path), size);
    await this.#objects.put(object, sealed, sealedBytesOf(size), signal);
    return true;
  }

  /** @returns undefined when it is not there any more, or its key is not */
  async open({ tenantId, callId }: CallRef, object: string): Promise<OpenRecording | undefined> {
    const key = await this.#store.privacy.audioKey(tenantId, callId, false);
    const sealedBytes = await this.#objects.size(object);
    if (key === undefined || sealedBytes === undefined) return undefined;
    const bytes = plainBytesOf(sealedBytes);
    return {
      bytes,
      read: (start = 0, end = bytes, signal) => {
        const read = (from: number, to: number) => this.#objects.read(object, from, to, signal);
        return openAudio(key, aboutOf(tenantId, callId), { sealedBytes, read }, start, end);
      },
    };
  }

  /** Removes a recording, and what it would be in other formats; one of them may be kept. */
  async remove(object: string, kept?: string): Promise<void> {
    for (const name of new Set([object, ...RECORDING_FORMATS.map((format) => inFormat(object, format))])) {
      if (name !== kept) await this.#objects.remove(name);
    }
  }
}

/** Writes it as a plain file. @throws StoreRecordError where there is none */
export async function writePlain(recording: OpenRecording | undefined, path: string, signal?: AbortSignal): Promise<void> {
  if (recording === undefined) throw new StoreRecordError('the call has no recording');
  await pourIntoFile(recording.read(0, recording.bytes, signal), path);
}

function aboutOf(tenantId: string, callId: string): string {
  return JSON.stringify(['recording', tenantId, callId]);
}
