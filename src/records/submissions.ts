/** How one recording of a submission stands. */
export type SubmissionState = 'queued' | 'running' | 'done' | 'failed' | 'cancelled';

/** One request to analyse recordings from elsewhere. */
export interface Submission {
  readonly tenantId: string;
  readonly id: string;
  /** The profile's name. */
  readonly profile: string;
  readonly createdAtMs: number;
  /** When nothing of it was left to be done; undefined before that. */
  readonly endedAtMs: number | undefined;
  /** How often it was begun anew: 0 at first. */
  readonly round: number;
  /** Its recordings by their state. */
  readonly counts: Readonly<Record<SubmissionState, number>>;
}

/** What was said of a recording. */
export interface SubmittedRecording {
  /** As it was named to us. */
  readonly name: string;
  /** Where it is to be fetched; undefined for an upload. */
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

/** Names one submission. */
export interface SubmissionRef {
  readonly tenantId: string;
  readonly submissionId: string;
}
/** Names one recording of a submission. */
export interface SubmissionItemRef extends SubmissionRef {
  readonly index: number;
}

/** How a try at a recording ended. */
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
  /** `queued`: it will be tried again. */
  | { readonly state: 'failed' | 'queued'; readonly code: string; readonly reason: string };

export interface SubmissionPage {
  /** Newest first. */
  readonly submissions: readonly Submission[];
  /** Give it as `before` to read on; undefined at the end. */
  readonly next: string | undefined;
}

/** Recordings from elsewhere and what came of them. Every method can throw StoreUnavailableError (retryable). */
export interface SubmissionRepository {
  /** All of it or nothing. A submission that is known already is left as it is. @returns the one that is kept */
  create(submission: NewSubmission): Promise<Submission>;
  get(tenantId: string, id: string): Promise<Submission | undefined>;
  /** @param query.limit 1 to 200 */
  page(
    tenantId: string,
    query: { readonly limit: number; readonly before?: string | undefined; readonly profile?: string | undefined },
  ): Promise<SubmissionPage>;
  /** In their order, those after an index, at most so many; with a state those alone. */
  items(
    ref: SubmissionRef,
    query: { readonly after: number; readonly limit: number; readonly state?: SubmissionState | undefined },
  ): Promise<readonly SubmissionItem[]>;
  /** Recordings that are to be done; no word of them is opened. */
  queued(ref: SubmissionRef): Promise<readonly number[]>;
  /** @returns undefined where there is none yet */
  document(ref: SubmissionItemRef): Promise<unknown>;
  /** A document that the same profile made of the same bytes, said to be recorded at the same time, for this tenant. */
  sameContent(tenantId: string, sha256: string, profileKey: string, recordedAtMs: number | undefined): Promise<unknown>;
  /** A try begins. @returns undefined for one that is not to be done: finished, cancelled, deleted */
  begin(ref: SubmissionItemRef, atMs: number): Promise<SubmissionItem | undefined>;
  /**
   * A try has ended. What was cancelled, finished or deleted meanwhile stays so.
   * @returns the submission as it stands then; undefined when it was deleted
   */
  finish(ref: SubmissionItemRef, outcome: ItemOutcome, atMs: number): Promise<Submission | undefined>;
  /**
   * Puts failed recordings back, the named one or all. What was cancelled stays so.
   * @returns how many; undefined when there is no such submission
   */
  retry(ref: SubmissionRef, index: number | undefined, atMs: number): Promise<number | undefined>;
  /** Nothing more of it is begun. @returns undefined when there is no such submission */
  cancel(ref: SubmissionRef, atMs: number): Promise<Submission | undefined>;
  /** What is in the object store for it; undefined when there is no such submission. */
  uploads(ref: SubmissionRef): Promise<readonly string[] | undefined>;
  /** The upload of a recording is not there any more. */
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
