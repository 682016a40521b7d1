import { stat } from 'node:fs/promises';
import { pourIntoFile, readFileParts } from '../../kernel/file-streams.ts';
import { StoreRecordError } from '../errors.ts';
import { objectKey, type ObjectStore } from './port.ts';
import { openAudio, plainBytesOf, sealAudio, sealedBytesOf } from './sealed-audio.ts';
import type { Store } from '../port.ts';
import type { SubmissionRef } from '../submissions.ts';

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
    const sealed = sealAudio(key, aboutOf(tenantId, submissionId), readFileParts(path), size);
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
    const about = aboutOf(tenantId, submissionId);
    const plain = openAudio(key, about, { sealedBytes, read }, 0, plainBytesOf(sealedBytes));
    await pourIntoFile(plain, path, { signal });
  }

  remove(object: string): Promise<void> {
    return this.#objects.remove(object);
  }
}

function aboutOf(tenantId: string, submissionId: string): string {
  return JSON.stringify(['upload', tenantId, submissionId]);
}
