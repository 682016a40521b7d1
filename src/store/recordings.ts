import { createReadStream, createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { hasCode } from '../kernel/error-code.ts';
import { StoreRecordError } from './errors.ts';
import type { ObjectStore } from './objects/port.ts';
import { objectKey } from './objects/object-key.ts';
import { openAudio, plainBytesOf, sealAudio, sealedBytesOf } from './objects/sealed-audio.ts';
import type { CallRef, ErasedCall, Store, StoredCall } from './port.ts';

/** A recording that can be read: a WAV file, whatever it is kept as. */
export interface OpenRecording {
  readonly bytes: number;
  /** @param start first byte, @param end the byte after the last; the whole file when absent */
  read(start?: number, end?: number, signal?: AbortSignal): AsyncIterable<Uint8Array>;
}

/**
 * Recordings of ended calls. While a call goes, its recording is a plain WAV in the data folder; after its end it is sealed
 * under the call's own key into the object store, where that is configured, and the plain file removed.
 */
export class Recordings {
  readonly #store: Pick<Store, 'calls' | 'privacy'>;
  readonly #objects: ObjectStore;

  constructor(store: Pick<Store, 'calls' | 'privacy'>, objects: ObjectStore) {
    this.#store = store;
    this.#objects = objects;
  }

  /**
   * Seals a plain file into the object store and removes it. Repeating it, also after a death in its middle, does no harm; so
   * does asking for a file that is sealed already.
   * @throws ObjectStoreError, StoreUnavailableError (retryable): the plain file is still there
   */
  async keep({ tenantId, callId }: CallRef, wavPath: string, startedAtMs: number): Promise<void> {
    const plainBytes = await sizeOf(wavPath);
    if (plainBytes === undefined) return;
    const key = plainBytes === 0 ? undefined : await this.#store.privacy.audioKey(tenantId, callId, true);
    if (key !== undefined) {
      const object = objectKey(tenantId, new Date(startedAtMs).toISOString().slice(0, 10), `${callId}.wav.sealed`);
      const sealed = sealAudio(key, aboutOf(tenantId, callId), createReadStream(wavPath), plainBytes);
      await this.#objects.put(object, sealed, sealedBytesOf(plainBytes));
      if (!(await this.#store.calls.recordingKept(tenantId, callId, object))) {
        await this.#objects.remove(object);
        // Erased while it was put, it goes; of a call that is not in the store, nothing may be lost.
        if ((await this.#store.privacy.audioKey(tenantId, callId, false)) !== undefined) {
          throw new StoreRecordError('the call of a recording is not in the store', { facts: { callId } });
        }
      }
    }
    await rm(wavPath, { force: true });
  }

  /** @returns undefined when the call has no recording, or has none any more */
  async open(call: StoredCall): Promise<OpenRecording | undefined> {
    const { tenantId, id, recordingPath } = call;
    const object = call.keeping.recordingObject;
    if (object === undefined) return recordingPath === undefined ? undefined : openPlain(recordingPath);
    const key = await this.#store.privacy.audioKey(tenantId, id, false);
    const sealedBytes = await this.#objects.size(object);
    if (key === undefined || sealedBytes === undefined) return undefined;
    const bytes = plainBytesOf(sealedBytes);
    return {
      bytes,
      read: (start = 0, end = bytes, signal) => {
        const read = (from: number, to: number) => this.#objects.read(object, from, to, signal);
        return openAudio(key, aboutOf(tenantId, id), { sealedBytes, read }, start, end);
      },
    };
  }

  /**
   * Writes the recording as a plain WAV, for programs that want a file; whoever asks for it removes it.
   * @throws StoreRecordError when the call has no recording
   */
  async copyTo(call: StoredCall, path: string, signal?: AbortSignal): Promise<void> {
    const recording = await this.open(call);
    if (recording === undefined) throw new StoreRecordError('the call has no recording', { facts: { callId: call.id } });
    await pipeline(recording.read(0, recording.bytes, signal), createWriteStream(path, { mode: 0o600 }));
  }

  /** Removes what an erased call left: its object, and all its files beside the recording. */
  async remove(erased: ErasedCall): Promise<void> {
    const { recordingObject, recordingPath } = erased;
    if (recordingObject !== undefined) await this.#objects.remove(recordingObject);
    if (recordingPath !== undefined) await rm(recordingPath, { force: true });
  }
}

async function openPlain(path: string): Promise<OpenRecording | undefined> {
  const bytes = await sizeOf(path);
  if (bytes === undefined) return undefined;
  return {
    bytes,
    read: (start = 0, end = bytes, signal) =>
      end <= start ? nothing() : createReadStream(path, { start, end: end - 1, ...(signal === undefined ? {} : { signal }) }),
  };
}

async function* nothing(): AsyncIterable<Uint8Array> {}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function aboutOf(tenantId: string, callId: string): string {
  return JSON.stringify(['recording', tenantId, callId]);
}
