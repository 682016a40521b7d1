/** State of one recording of a submission. */
export type SubmissionState = 'queued' | 'running' | 'done' | 'failed' | 'cancelled';

/** A request to analyse recordings from elsewhere. */
export interface Submission {
  readonly tenantId: string;
  readonly id: string;
  /** The profile's name. */
  readonly profile: string;
  readonly createdAtMs: number;
  /** When all of it was finished; undefined before that. */
  readonly endedAtMs: number | undefined;
  /** Number of restarts. */
  readonly round: number;
  /** Counts of recordings by state. */
  readonly counts: Readonly<Record<SubmissionState, number>>;
}

/** Given facts of a recording. */
export interface SubmittedRecording {
  /** Name given by the client. */
  readonly name: string;
  /** Address to fetch it from; undefined for an upload. */
  readonly url: string | undefined;
  readonly recordedAtMs: number | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface NewSubmission {
  readonly tenantId: string;
  readonly id: string;
  readonly profile: string;
  readonly createdAtMs: number;
  readonly items: readonly (SubmittedRecording & { readonly uploadObject?: string | undefined })[];
}

/** One recording of a submission, without its document. */
export interface SubmissionItem extends SubmittedRecording {
  readonly index: number;
  readonly state: SubmissionState;
  readonly attempts: number;
  readonly updatedAtMs: number;
  /** Key of the sealed upload in the object store, while it is needed. */
  readonly uploadObject: string | undefined;
  readonly sha256: string | undefined;
  readonly bytes: number | undefined;
  /** Name and hash of the profile that made the document. */
  readonly profileKey: string | undefined;
  readonly disposition: string | undefined;
  readonly score: number | undefined;
  readonly code: string | undefined;
  readonly reason: string | undefined;
}

export interface SubmissionRef {
  readonly tenantId: string;
  readonly submissionId: string;
}
export interface SubmissionItemRef extends SubmissionRef {
  readonly index: number;
}

/** Result of a try at a recording. */
export type ItemOutcome =
  | {
      readonly state: 'done';
      readonly sha256: string;
      readonly bytes: number;
      readonly profileKey: string;
      readonly disposition: string | undefined;
      readonly score: number | undefined;
      /** JSON; its reader parses it. */
      readonly document: unknown;
    }
  /** `queued`: to be retried. */
  | { readonly state: 'failed' | 'queued'; readonly code: string; readonly reason: string };

export interface SubmissionPage {
  /** Newest first. */
  readonly submissions: readonly Submission[];
  /** Give it as `before` to read on; undefined at the end. */
  readonly next: string | undefined;
}

/** Submitted recordings and their results. Every method can throw StoreUnavailableError (retryable). */
export interface SubmissionRepository {
  /** Atomic. A known submission stays unchanged. @returns the stored one */
  create(submission: NewSubmission): Promise<Submission>;
  get(tenantId: string, id: string): Promise<Submission | undefined>;
  /** @param query.limit 1 to 200 */
  page(
    tenantId: string,
    query: { readonly limit: number; readonly before?: string | undefined; readonly profile?: string | undefined },
  ): Promise<SubmissionPage>;
  /** In order, after an index, limited in number; optionally with one state only. */
  items(
    ref: SubmissionRef,
    query: { readonly after: number; readonly limit: number; readonly state?: SubmissionState | undefined },
  ): Promise<readonly SubmissionItem[]>;
  /** Recordings still to be done; their personal data is not opened. */
  queued(ref: SubmissionRef): Promise<readonly number[]>;
  /** @returns undefined where there is none yet */
  document(ref: SubmissionItemRef): Promise<unknown>;
  /** A document by the same profile for the same bytes and recording time, of this tenant. */
  sameContent(tenantId: string, sha256: string, profileKey: string, recordedAtMs: number | undefined): Promise<unknown>;
  /** Begins a try. @returns undefined for one that is finished, cancelled or deleted */
  begin(ref: SubmissionItemRef, atMs: number): Promise<SubmissionItem | undefined>;
  /**
   * Ends a try. A recording cancelled, finished or deleted meanwhile stays so.
   * @returns the submission afterwards; undefined when it was deleted
   */
  finish(ref: SubmissionItemRef, outcome: ItemOutcome, atMs: number): Promise<Submission | undefined>;
  /**
   * Requeues failed recordings, the named one or all; cancelled ones stay.
   * @returns how many; undefined for an unknown submission
   */
  retry(ref: SubmissionRef, index: number | undefined, atMs: number): Promise<number | undefined>;
  /** Cancels the open recordings. @returns undefined for an unknown submission */
  cancel(ref: SubmissionRef, atMs: number): Promise<Submission | undefined>;
  /** Its objects in the object store; undefined for an unknown submission. */
  uploads(ref: SubmissionRef): Promise<readonly string[] | undefined>;
  /** The upload of a recording was removed. */
  uploadRemoved(ref: SubmissionItemRef): Promise<void>;
  /** All tenants' finished recordings whose uploads should be gone. */
  uploadsLeft(limit: number): Promise<readonly (SubmissionItemRef & { readonly object: string })[]>;
  /**
   * Destroys its keys, its documents and what was said of it. Remove its uploads before: no row names them afterwards.
   * @returns those that were still named; undefined when there is no such submission
   */
  remove(ref: SubmissionRef): Promise<readonly string[] | undefined>;
  /** All tenants' ended, unannounced submissions, oldest end first. */
  unannounced(limit: number): Promise<readonly Submission[]>;
  announced(ref: SubmissionRef, atMs: number): Promise<void>;
  /** All tenants' unfinished submissions, untouched since then, each once. */
  waiting(query: { readonly untouchedSinceMs: number; readonly limit: number }): Promise<readonly SubmissionRef[]>;
  /** All tenants' submissions that ended before a time. */
  endedBefore(query: { readonly endedBeforeMs: number; readonly limit: number }): Promise<readonly SubmissionRef[]>;
}
