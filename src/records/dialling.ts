import type { AnsweredBy } from '../config/answered-by.ts';

/** The store of dials: do-not-call entries, consents, decisions and attempts. */

export const PURPOSES = ['promotional', 'service', 'transactional', 'government'] as const;
/** Why a call is made. `promotional` is telemarketing; `service` concerns something that the person has; `transactional` answers what they just did. */
export type Purpose = (typeof PURPOSES)[number];

/** What came of an attempt, or of a contact: one word for lists, reports and policies. */
export const DISPOSITIONS = [
  // A person was spoken to.
  'completed',
  'transferred',
  'opt-out',
  'wrong-number',
  'call-back',
  /** The person hung up before the bot had said its first sentence. */
  'abandoned',
  // Something else answered.
  'message-left',
  'mailbox',
  'mailbox-full',
  'screening',
  'ivr',
  'hold',
  'fax',
  'bot',
  'silence',
  // The phone was not answered.
  'busy',
  'no-answer',
  'rejected',
  'cancelled',
  'failed',
  /** The gate said no. */
  'refused',
  /** Ordered, without knowing whether it was placed. */
  'unknown',
] as const;
export type Disposition = (typeof DISPOSITIONS)[number];

/** A person was spoken to. */
export const WITH_A_PERSON = [
  'completed',
  'transferred',
  'opt-out',
  'wrong-number',
  'call-back',
  'abandoned',
] as const satisfies readonly Disposition[];

/** What the evidence of a consent is. */
export const EVIDENCE_KINDS = ['form', 'recording', 'message', 'contract', 'letter', 'verbal', 'register'] as const;
export type EvidenceKind = (typeof EVIDENCE_KINDS)[number];

/** A person's consent. Those of earlier versions lack evidence kind, source and author. */
export interface Consent {
  readonly id: string;
  readonly level: 'express' | 'written';
  readonly purposes: readonly Purpose[];
  readonly givenAtMs: number;
  /** First moment at which it is void. */
  readonly expiresAtMs?: number | undefined;
  readonly withdrawnAtMs?: number | undefined;
  /** What proves it: a form, a recording, a document. A consent without evidence does not count. */
  readonly evidence: string;
  readonly evidenceKind?: EvidenceKind | undefined;
  /** Where it was captured. */
  readonly evidenceSource?: string | undefined;
  /** Author of the entry, as named in the audit log. */
  readonly writtenBy?: string | undefined;
  readonly writtenAtMs?: number | undefined;
  /** Its id in a public register, such as the ledger of the Indian operators. */
  readonly registeredId?: string | undefined;
}

/** One list that a number is on. */
export interface Suppression {
  /** `own`, or the name of a list of the profile. */
  readonly list: string;
  readonly addedAtMs: number;
  /** When it ends; absent: never. */
  readonly untilMs?: number | undefined;
}

/** An entry of a list as its keeper sees it. */
export interface SuppressionEntry extends Suppression {
  /** E.164; undefined once the person was erased: the entry still holds, by the number's hash. */
  readonly number: string | undefined;
  /** `caller` for an opt-out in a call, else the author of the entry. */
  readonly source: string;
  /** The call in which it was heard. */
  readonly callId?: string | undefined;
  readonly note?: string | undefined;
}

export interface SuppressionRepository {
  /** Adds, or renews, entries; the earlier `addedAtMs` and the later `untilMs` stay. Numbers are E.164. @returns how many are new */
  add(tenantId: string, entries: readonly (SuppressionEntry & { readonly number: string })[]): Promise<number>;
  /** @returns false when the number was not on that list */
  remove(tenantId: string, list: string, number: string): Promise<boolean>;
  of(tenantId: string, number: string): Promise<readonly SuppressionEntry[]>;
  /** By the time of their addition, oldest first. @param query.limit 1 to 1,000 */
  page(
    tenantId: string,
    query: { readonly list?: string | undefined; readonly limit: number; readonly after?: string | undefined },
  ): Promise<{ readonly entries: readonly SuppressionEntry[]; readonly next: string | undefined }>;
  /** A list was obtained, or all numbers were checked against it, at that time. */
  obtained(tenantId: string, list: string, atMs: number): Promise<void>;
  /** When each list was obtained. */
  lists(tenantId: string): Promise<Readonly<Record<string, number>>>;
}

export interface ConsentRepository {
  /** Replaces the consent with the same number and id, except that a withdrawn one stays withdrawn: a new consent needs a new id. */
  put(tenantId: string, number: string, consents: readonly Consent[]): Promise<void>;
  /** The same for many numbers, E.164. @returns how many are new */
  putMany(tenantId: string, consents: readonly (Consent & { readonly number: string })[]): Promise<number>;
  /** @returns false when there is no such consent */
  withdraw(tenantId: string, number: string, id: string, atMs: number): Promise<boolean>;
  of(tenantId: string, number: string): Promise<readonly Consent[]>;
  page(
    tenantId: string,
    query: { readonly limit: number; readonly after?: string | undefined },
  ): Promise<{
    readonly consents: readonly (Consent & { readonly number: string | undefined })[];
    readonly next: string | undefined;
  }>;
}

/** One entry of a tenant's log of decisions, as `outbound/gate/chain.ts` makes it. */
export interface DecisionEntry {
  readonly tenantId: string;
  readonly sequence: number;
  readonly atMs: number;
  /** JSON. */
  readonly body: unknown;
  readonly previousHash: string;
  readonly hash: string;
}

export const ATTEMPT_STATES = ['queued', 'placing', 'ringing', 'answered', 'ended'] as const;
/** Where an attempt stands. `placing`: the carrier is being asked, or was, and its answer is not known. */
export type AttemptState = (typeof ATTEMPT_STATES)[number];

/** One dial of one number: has the id of the call that it places. */
export interface Attempt {
  readonly tenantId: string;
  readonly id: string;
  readonly state: AttemptState;
  readonly botName: string;
  readonly carrier: string;
  readonly carrierCallId?: string | undefined;
  readonly campaignId?: string | undefined;
  readonly contactId?: string | undefined;
  /** 1 for the first of its contact. */
  readonly index: number;
  /** The caller id, which is the tenant's own. */
  readonly from: string;
  /** Empty once erased, as are variables and metadata. */
  readonly to: string;
  /** The process working on it, if any. */
  readonly leaseOwner?: string | undefined;
  /** The person's time zone, where they came with one. */
  readonly zone?: string | undefined;
  readonly variables: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly ringTimeoutMs: number;
  readonly purpose?: Purpose | undefined;
  readonly profile: string;
  readonly duties: readonly { readonly duty: string; readonly ms?: number | undefined }[];
  /** The gate's decision in the log. */
  readonly decisionSequence: number;
  /** Last moment at which it may be placed: until then the gate's yes holds. */
  readonly placeByMs: number;
  readonly createdAtMs: number;
  /**
   * When the carrier was asked. An attempt counts for caps while it has not ended, and afterwards if it has this or its disposition
   * is `unknown`.
   */
  readonly placedAtMs?: number | undefined;
  readonly ringingAtMs?: number | undefined;
  readonly answeredAtMs?: number | undefined;
  readonly endedAtMs?: number | undefined;
  readonly answeredBy?: AnsweredBy | undefined;
  readonly disposition?: Disposition | undefined;
  /** The carrier's own code or word for a failure; of a refusal, its name. */
  readonly cause?: string | undefined;
  /** When the person asked to be called. */
  readonly callBackAtMs?: number | undefined;
}

export type NewAttempt = Omit<
  Attempt,
  'leaseOwner' | 'carrierCallId' | 'placedAtMs' | 'ringingAtMs' | 'answeredAtMs' | 'answeredBy' | 'callBackAtMs'
>;

/** What is written of an attempt as it goes on; absent facts stay as they are. */
export type AttemptNews = Partial<
  Pick<
    Attempt,
    'carrierCallId' | 'ringingAtMs' | 'answeredAtMs' | 'endedAtMs' | 'answeredBy' | 'disposition' | 'cause' | 'callBackAtMs'
  >
> & {
  /** Null when the carrier surely did not place it: it counts for no cap then. */
  readonly placedAtMs?: number | null | undefined;
};

/** All that the gate has to know of one number, beside what its caller knows. */
export interface KnownOfNumber {
  readonly suppressions: readonly Suppression[];
  readonly consents: readonly Consent[];
  /** Start of every attempt of this tenant to this number since `sinceMs`: those that were placed, and those that are about to be. */
  readonly attemptsMs: readonly number[];
  /** Attempts ever made in the named campaign. */
  readonly attemptsInCampaign: number;
  /** An attempt to this number is under way. */
  readonly isBeingCalled: boolean;
  /** What the log names the number by: random, and forgotten with the person's erasure. */
  readonly subject: string;
}

/** Calls of one day that the gate allowed, and their estimated cost in millionths of a currency. */
export interface CallSum {
  readonly calls: number;
  readonly costMicros: number;
}

/** What one tenant has called today, and on the days before. */
export interface DaySpending {
  readonly tenant: CallSum;
  /** The part requested by the named API key or person; undefined where none is named. */
  readonly asker: CallSum | undefined;
  /** Calls of each earlier day that had any, in any order. */
  readonly earlier: readonly number[];
  /** Whether the unusual day was already reported. */
  readonly isTold: boolean;
}

/** The process working on an attempt, and until when. */
export interface AttemptLease {
  readonly owner: string;
  readonly untilMs: number;
}

/** What one asking of the gate wrote. */
export interface Decided<Result> {
  /** They follow the end of the log, and each other. */
  readonly entries: readonly DecisionEntry[];
  readonly attempts: readonly NewAttempt[];
  /** To be added to the day that was asked about. */
  readonly spent?: (CallSum & { readonly isTold: boolean }) | undefined;
  readonly result: Result;
}

/** Attempts of a campaign that have these things in common. Nothing personal: it outlives the people's data. */
export interface AttemptTally {
  /** Start of the quarter of an hour in which the carrier was asked, or the attempt was made. All zones begin their hours on one. */
  readonly quarterMs: number;
  readonly botName: string;
  readonly from: string;
  /** Undefined while they are under way. */
  readonly disposition: Disposition | undefined;
  /** Refused attempts: the name of the refusal. */
  readonly refusal: string | undefined;
  readonly attempts: number;
  readonly answered: number;
  /** From answer to end; of each call whole seconds, rounded down. */
  readonly talkSeconds: number;
}

/** Calls of one campaign that were placed within one stretch of time. */
export interface PlacedCalls {
  readonly campaignId: string;
  /** Start of the stretch: a multiple of its length after the start of the query. */
  readonly atMs: number;
  readonly placed: number;
  readonly answered: number;
}

export interface AttemptRepository {
  /**
   * Has the gate decide about these numbers and stores its decision in one transaction: a tenant's decisions are serialised, so that two requests
   * never both get yes for the same number.
   * @param about.numbers E.164, each once
   * @param about.sinceMs how far back attempts are reported
   * @param about.lease of the attempts made: the placing process, until when
   * @param about.day the day whose calls are reported and counted: its start in UTC, how many days before it, and who asks
   * @param decide gets the facts by number, the end of the log, and the day's calls
   */
  decide<Result>(
    tenantId: string,
    about: {
      readonly numbers: readonly string[];
      readonly campaignId?: string | undefined;
      readonly sinceMs: number;
      readonly lease: AttemptLease;
      readonly day?: { readonly startMs: number; readonly earlier: number; readonly asker?: string | undefined } | undefined;
    },
    decide: (
      known: ReadonlyMap<string, KnownOfNumber>,
      lists: Readonly<Record<string, number>>,
      head: Pick<DecisionEntry, 'sequence' | 'hash'> | undefined,
      spending: DaySpending,
    ) => Decided<Result>,
  ): Promise<Result>;
  get(tenantId: string, id: string): Promise<Attempt | undefined>;
  /**
   * Changes an attempt's state from one of these, and returns whether it was in one: of two attempts to do so, one succeeds.
   * @param lease the new lease; unchanged when absent
   */
  advance(
    tenantId: string,
    id: string,
    from: readonly AttemptState[],
    to: AttemptState,
    news: AttemptNews,
    lease?: AttemptLease,
  ): Promise<boolean>;
  /** Prolongs what this owner is busy with. */
  renew(owner: string, untilMs: number): Promise<void>;
  /** All tenants' unended attempts without a valid lease; oldest first. */
  abandoned(query: { readonly nowMs: number; readonly limit: number }): Promise<readonly Attempt[]>;
  byCarrierId(tenantId: string, carrier: string, carrierCallId: string): Promise<Attempt | undefined>;
  /** Newest first. @param query.limit 1 to 200 */
  page(
    tenantId: string,
    query: {
      readonly limit: number;
      readonly before?: string | undefined;
      readonly campaignId?: string | undefined;
      readonly contactId?: string | undefined;
      readonly disposition?: Disposition | undefined;
      /** Refused attempts: the name of the refusal. */
      readonly cause?: string | undefined;
      readonly number?: string | undefined;
      readonly fromMs?: number | undefined;
      readonly toMs?: number | undefined;
    },
  ): Promise<{ readonly attempts: readonly Attempt[]; readonly next: string | undefined }>;
  /** All attempts of a campaign, summed up. */
  tally(tenantId: string, query: { readonly campaignId: string }): Promise<readonly AttemptTally[]>;
  /** How many calls of some campaigns the carrier was asked for, and how many of these were answered, by time; empty times are absent. */
  placed(
    tenantId: string,
    query: {
      readonly campaignIds: readonly string[];
      /** Included. */
      readonly fromMs: number;
      /** Excluded. */
      readonly toMs: number;
      readonly everyMs: number;
    },
  ): Promise<readonly PlacedCalls[]>;
  /** Attempts that are not over, by what paces them; of all tenants. */
  live(): Promise<
    readonly {
      readonly tenantId: string;
      readonly campaignId?: string | undefined;
      readonly from: string;
      readonly carrier: string;
      readonly count: number;
    }[]
  >;
  /** The end of the log as it is kept beside it; undefined before the first decision. */
  decisionHead(tenantId: string): Promise<Pick<DecisionEntry, 'sequence' | 'hash'> | undefined>;
  /** The same of every tenant that has one. */
  decisionHeads(): Promise<readonly Pick<DecisionEntry, 'tenantId' | 'sequence' | 'hash'>[]>;
  /** One entry of the log of decisions. */
  decision(tenantId: string, sequence: number): Promise<DecisionEntry | undefined>;
  /** The log of decisions from its first entry, in bounded memory. */
  decisions(tenantId: string): AsyncIterable<DecisionEntry>;
}
