import { stat, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { RECORDING_FORMATS, inFormat, type CompressedFormat } from '../../audio/recording-format.ts';
import { pourIntoFile, readFileParts } from '../../kernel/file-streams.ts';
import { StoreRecordError } from '../errors.ts';
import { type ObjectStore, objectKey } from './port.ts';
import { openAudio, plainBytesOf, sealAudio, sealedBytesOf } from './sealed-audio.ts';
import type { CallRef, Store, ErasedCall, KeptRecording, StoredCall } from '../port.ts';
import { hasCode } from '../../kernel/errors.ts';
import { temporaryFolder, temporaryPath } from '../../kernel/temporary.ts';
import { flushFolder } from '../../kernel/flush.ts';
import type { SubmissionRef } from '../submissions.ts';

/** How a recording is compressed. */
export interface RecordingCompression {
  readonly format: CompressedFormat;
  /** Converts a WAV to a complete, durable file of that format; leaves no file after a failure. */
  readonly code: (wavPath: string, outputPath: string) => Promise<void>;
  /** For plain copies of sealed recordings, while they are worked on. */
  readonly workFolder: string;
  readonly signal: AbortSignal;
}

type Holder = Pick<Store, 'recordings' | 'privacy'>;

/**
 * Recordings of ended calls. While a call goes, its recording is a plain WAV in the data folder; after its end it is sealed
 * under the call's own key into the object store, where that is configured, and the plain file removed. Later it may be
 * turned into another format, which takes its place.
 */
export class Recordings {
  readonly #store: Holder;
  readonly #sealed: SealedRecordings;

  constructor(store: Holder, objects: ObjectStore) {
    this.#store = store;
    this.#sealed = new SealedRecordings(store, objects);
  }

  /**
   * Seals a plain file into the object store and removes it, also where it was compressed meanwhile. Repeating it, also after
   * a death in its middle, does no harm; so does asking for a file that is sealed already.
   * @throws ObjectStoreError, StoreUnavailableError (retryable): the plain file is still there
   */
  async keep(ref: CallRef, wavPath: string, startedAtMs: number): Promise<void> {
    const { tenantId, callId } = ref;
    const found = await this.#store.recordings.find(tenantId, callId);
    const path = inFormat(wavPath, found?.format ?? 'wav');
    if (found?.object === undefined && (await sizeOf(path)) !== undefined) {
      const object = inFormat(sealedKey(ref, startedAtMs), found?.format ?? 'wav');
      const wasPut = await this.#sealed.put(ref, object, path);
      if (wasPut && !(await this.#store.recordings.sealed(tenantId, callId, object))) {
        await this.#sealed.remove(object);
        // Erased while it was put, it goes; of a call that is not in the store, nothing may be lost.
        if ((await this.#store.privacy.audioKey(tenantId, callId, false)) !== undefined) {
          throw new StoreRecordError('the call of a recording is not in the store', { facts: { callId } });
        }
      }
    }
    await removePlain(wavPath);
  }

  /** @returns undefined when the call has no recording */
  async open({ tenantId, id: callId, recordingPath, keeping }: StoredCall): Promise<OpenRecording | undefined> {
    const object = keeping.recordingObject;
    if (object !== undefined) return this.#sealed.open({ tenantId, callId }, object);
    return recordingPath === undefined ? undefined : openPlain(recordingPath);
  }

  /**
   * Writes the recording, in the format that it has, as a plain file for programs that want one. The caller removes it.
   * @throws StoreRecordError when the call has no recording
   */
  async copyTo(call: StoredCall, path: string, signal?: AbortSignal): Promise<void> {
    await writePlain(await this.open(call), path, signal);
  }

  /**
   * Turns a WAV into another format: the new file is whole before the call knows of it, and the old one goes after that.
   * Repeating it, also after a death in its middle, does no harm.
   * @returns false where a legal hold keeps it as it is
   * @throws what `code` throws; ObjectStoreError, StoreUnavailableError (retryable): the recording is what it was, or is both
   */
  async compress(ref: CallRef, compression: RecordingCompression): Promise<boolean> {
    const { recordings } = this.#store;
    const found = await recordings.find(ref.tenantId, ref.callId);
    if (found?.format === 'wav' && !found.isErased && (found.object ?? found.path) !== undefined) {
      if (found.legalHold) return false;
      await this.#compressWav(ref, found, compression);
    }
    const is = await recordings.find(ref.tenantId, ref.callId);
    // Erased after it had been put, and before that could be seen.
    if (is?.isErased === true) await this.#sealed.remove(sealedKey(ref, is.startedAtMs));
    if (is === undefined || is.isErased) return true;
    if (is.format === 'wav' && (is.object ?? is.path) !== undefined) {
      if (is.legalHold) return false;
      throw new Error('the recording was sealed while it was compressed');
    }
    if (is.object !== undefined) await this.#sealed.remove(is.object, is.object);
    if (is.path !== undefined) await removePlain(is.path, is.object === undefined ? is.path : undefined);
    await recordings.settled(ref.tenantId, ref.callId);
    return true;
  }

  /** Puts the new file into its place and tells the row; takes it back where the row does not take it. */
  async #compressWav(ref: CallRef, was: KeptRecording, compression: RecordingCompression): Promise<void> {
    const { format, code, workFolder, signal } = compression;
    // Named after the call and made before its key is asked for: an erasure finds it, and what is in it is moved nowhere then.
    await using folder = await temporaryFolder(workFolder, ref.callId);
    const object = was.object === undefined ? undefined : inFormat(was.object, format);
    const path = object === undefined && was.path !== undefined ? inFormat(was.path, format) : undefined;
    const coded = join(folder.path, `recording.${format}`);
    const copy = join(folder.path, 'recording.wav');
    if (was.object !== undefined) await writePlain(await this.#sealed.open(ref, was.object), copy, signal);
    const plain = was.object === undefined ? was.path : copy;
    if (plain === undefined) throw new TypeError('a recording has an object or a path');
    await code(plain, coded);
    if (object !== undefined && !(await this.#sealed.put(ref, object, coded, signal))) return;
    if (path !== undefined) await moveFile(coded, path);
    const { tenantId, callId } = ref;
    if (await this.#store.recordings.compressed(tenantId, callId, was, { object, format })) return;
    const is = await this.#store.recordings.find(tenantId, callId);
    if (object !== undefined && is?.object !== object) await this.#sealed.remove(object, is?.object);
    if (path !== undefined && is?.path !== path) await rm(path, { force: true });
  }

  /**
   * Removes what an erased call left: its object, also where a death kept the store from knowing of it, and its recording's
   * file; whatever they were turned into.
   */
  async remove({ recordingObject, recordingPath, startedAtMs, ...ref }: ErasedCall): Promise<void> {
    const object = recordingObject ?? (startedAtMs === undefined ? undefined : sealedKey(ref, startedAtMs));
    if (object !== undefined) await this.#sealed.remove(object);
    if (recordingPath !== undefined) await removePlain(recordingPath);
  }
}

/** Where the WAV of a call is sealed. */
function sealedKey({ tenantId, callId }: CallRef, startedAtMs: number): string {
  return objectKey(tenantId, new Date(startedAtMs).toISOString().slice(0, 10), `${callId}.wav.sealed`);
}

/** Durable when it returns, and never seen half written, also across two disks. */
async function moveFile(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
    const temporary = temporaryPath(to);
    try {
      await pourIntoFile(readFileParts(from), temporary, { flush: true });
      await rename(temporary, to);
    } finally {
      await rm(temporary, { force: true });
    }
  }
  await flushFolder(dirname(to));
}

/** Removes a plain recording in every format but one. */
async function removePlain(path: string, kept?: string): Promise<void> {
  for (const name of new Set([path, ...RECORDING_FORMATS.map((format) => inFormat(path, format))])) {
    if (name !== kept) await rm(name, { force: true });
  }
}

async function openPlain(path: string): Promise<OpenRecording | undefined> {
  const bytes = await sizeOf(path);
  if (bytes === undefined) return undefined;
  return {
    bytes,
    read: (start = 0, end = bytes, signal) => readFileParts(path, { start, end, signal }),
  };
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

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

/** Writes it as a plain file. @throws StoreRecordError without a recording */
export async function writePlain(recording: OpenRecording | undefined, path: string, signal?: AbortSignal): Promise<void> {
  if (recording === undefined) throw new StoreRecordError('the call has no recording');
  await pourIntoFile(recording.read(0, recording.bytes, signal), path);
}

function aboutOf(tenantId: string, callId: string): string {
  return JSON.stringify(['recording', tenantId, callId]);
}

/** Uploaded recordings on their way to be analysed: in the object store, where every worker finds them, sealed under their submission's key. */
export class Uploads {
  readonly #store: Pick<Store, 'privacy'>;
  readonly #objects: ObjectStore;

  constructor(store: Pick<Store, 'privacy'>, objects: ObjectStore) {
    this.#store = store;
    this.#objects = objects;
  }

  /**
   * @param path a plain file, not empty, which stays
   * @returns the object's key
   * @throws ObjectStoreError, StoreUnavailableError (retryable); StoreRecordError when its keys were destroyed meanwhile
   */
  async keep({ tenantId, submissionId }: SubmissionRef, path: string): Promise<string> {
    const { size } = await stat(path);
    const key = await this.#store.privacy.audioKey(tenantId, submissionId, true);
    if (key === undefined) throw new StoreRecordError('the upload was erased', { facts: { submissionId } });
    const object = objectKey(tenantId, 'uploads', `${submissionId}.sealed`);
    const sealed = sealAudio(key, aboutUpload(tenantId, submissionId), readFileParts(path), size);
    await this.#objects.put(object, sealed, sealedBytesOf(size));
    return object;
  }

  /** @throws StoreRecordError when it is not there any more */
  async copyTo({ tenantId, submissionId }: SubmissionRef, object: string, path: string, signal: AbortSignal): Promise<void> {
    const key = await this.#store.privacy.audioKey(tenantId, submissionId, false);
    const sealedBytes = await this.#objects.size(object, signal);
    if (key === undefined || sealedBytes === undefined)
      throw new StoreRecordError('the upload is not there any more', { facts: { submissionId } });
    const read = (from: number, to: number) => this.#objects.read(object, from, to, signal);
    const about = aboutUpload(tenantId, submissionId);
    const plain = openAudio(key, about, { sealedBytes, read }, 0, plainBytesOf(sealedBytes));
    await pourIntoFile(plain, path, { signal });
  }

  remove(object: string): Promise<void> {
    return this.#objects.remove(object);
  }
}

function aboutUpload(tenantId: string, submissionId: string): string {
  return JSON.stringify(['upload', tenantId, submissionId]);
}
