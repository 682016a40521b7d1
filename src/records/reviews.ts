import type { Finding, Reason } from './attention.ts';

/** A call that deserves a look, or about which people noted something. */
export interface Review {
  readonly callId: string;
  readonly botName: string;
  readonly startedAtMs: number;
  /** Most urgent first; empty for a call that people chose themselves. */
  readonly findings: readonly Finding[];
  /** `done` once somebody has dealt with it. */
  readonly state: 'open' | 'done';
  readonly labels: readonly string[];
  /** Who deals with it, by name. */
  readonly assignee: string | undefined;
  /** Who changed it last; undefined before that. */
  readonly changedBy: string | undefined;
  readonly changedAtMs: number | undefined;
  readonly comments: number;
}

/** A call of the list, with what a list shows of it. Numbers are empty once erased. */
export interface ListedReview extends Review {
  readonly from: string;
  readonly to: string;
  readonly direction: 'inbound' | 'outbound';
  readonly durationMs: number | undefined;
  readonly endReason: string | undefined;
}

export interface Comment {
  readonly id: string;
  /** Name of the person or key. */
  readonly by: string;
  readonly atMs: number;
  readonly text: string;
}

/** All given filters must match. */
export interface ReviewQuery {
  readonly state?: Review['state'] | undefined;
  readonly reason?: Reason | undefined;
  readonly botName?: string | undefined;
  readonly assignee?: string | undefined;
  readonly label?: string | undefined;
  /** Start of the call, from (included) to (excluded). */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}

export interface ReviewPage {
  /** Newest call first. */
  readonly reviews: readonly ListedReview[];
  /** Pass it as `before` to continue; undefined at the end. */
  readonly next: string | undefined;
}

/** What a person changes; absent fields stay. */
export interface ReviewChange {
  readonly state?: Review['state'] | undefined;
  readonly labels?: readonly string[] | undefined;
  /** Null for nobody. */
  readonly assignee?: string | null | undefined;
}

/** Calls that deserve a look, with labels, assignees and comments. All of it is erased with the words of its call. */
export interface ReviewRepository {
  /** @param query.limit 1 to 200 */
  page(
    tenantId: string,
    query: ReviewQuery & { readonly limit: number; readonly before?: string | undefined },
  ): Promise<ReviewPage>;
  /** How many there are, `atMost` if there are more. */
  count(tenantId: string, query: ReviewQuery, atMost: number): Promise<number>;
  /** Undefined for a call that nothing was found in or noted about. */
  get(tenantId: string, callId: string): Promise<Review | undefined>;
  /** Oldest first. */
  comments(tenantId: string, callId: string): Promise<readonly Comment[]>;
  /** Lists the call where it is not yet. @returns false when there is no such call, or it was erased */
  change(tenantId: string, callId: string, change: ReviewChange, by: string, atMs: number): Promise<boolean>;
  /** @returns false when there is no such call, it was erased, or it has too many comments */
  comment(tenantId: string, callId: string, comment: Comment): Promise<boolean>;
  /** @param by only a comment of this person; anybody's when undefined @returns false when there is no such comment */
  removeComment(tenantId: string, callId: string, id: string, by: string | undefined): Promise<boolean>;
}
