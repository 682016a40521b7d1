import type { Store } from '../port.ts';
import type { SubmissionItemRef, SubmissionRef } from '../submissions.ts';
import type { Uploads } from '../objects/uploads.ts';

interface RemoveParts {
  readonly store: Pick<Store, 'submissions'>;
  readonly uploads: Pick<Uploads, 'remove'>;
}

/** Removed at a time, so that a long list does not have to be held. */
const BATCH = 200;

/** The object first: where it cannot be removed, the store still names it. @throws ObjectStoreError, StoreUnavailableError */
export async function removeUpload(
  { store, uploads }: RemoveParts,
  { object, ...ref }: SubmissionItemRef & { readonly object: string },
): Promise<void> {
  await uploads.remove(object);
  await store.submissions.uploadRemoved(ref);
}

/**
 * Destroys a submission, its uploads first.
 * @returns false when there is no such submission
 * @throws ObjectStoreError, StoreUnavailableError (retryable): it is still there, and can be removed again
 */
export async function removeSubmission({ store, uploads }: RemoveParts, ref: SubmissionRef): Promise<boolean> {
  const objects = await store.submissions.uploads(ref);
  if (objects === undefined) return false;
  for (const object of objects) await uploads.remove(object);
  await store.submissions.remove(ref);
  return true;
}

/** Removes uploads of recordings that are done, where that was not possible at once. @throws as `removeUpload` does */
export async function removeLeftUploads(parts: RemoveParts, signal: AbortSignal): Promise<void> {
  for (;;) {
    const left = await parts.store.submissions.uploadsLeft(BATCH);
    for (const upload of left) {
      signal.throwIfAborted();
      await removeUpload(parts, upload);
    }
    if (left.length < BATCH) return;
  }
}
