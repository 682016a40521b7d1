import type { PaceKey } from '../kernel/pace.ts';
import type { Disposition } from './dialling.ts';

/** The store of campaigns: settings, contacts, progress, and the pace shared by all processes. */

/** `stopped`: ended by a person before its contacts were done. */
export const CAMPAIGN_STATES = ['draft', 'running', 'paused', 'finished', 'stopped'] as const;
export type CampaignState = (typeof CAMPAIGN_STATES)[number];

/** Cause of a change of state: a person, the breaker when a limit was passed, or the gateway where no call can be placed. */
export const CAMPAIGN_CHANGERS = ['person', 'breaker', 'gateway'] as const;
export type CampaignChanger = (typeof CAMPAIGN_CHANGERS)[number];

export interface CampaignRef {
  readonly tenantId: string;
  readonly campaignId: string;
}

/** A campaign as it is stored; `outbound/campaign.ts` reads its settings. */
export interface StoredCampaign {
  readonly tenantId: string;
  readonly id: string;
  readonly name: string;
  readonly state: CampaignState;
  /** Why it was paused, or stopped: for people. */
  readonly reason: string | undefined;
  /** Cause of the last change of state; undefined where it was not recorded. */
  readonly changedBy: CampaignChanger | undefined;
  /** As they were written: JSON. Nothing personal. */
  readonly settings: unknown;
  readonly createdAtMs: number;
  /** The API key or person whose ceilings apply to its calls; undefined for a command. */
  readonly createdBy?: string | undefined;
  /** Time of the first start. */
  readonly startedAtMs: number | undefined;
  /** Time of the last change of state. */
  readonly changedAtMs: number;
  /** When it was finished or stopped. */
  readonly endedAtMs: number | undefined;
  /** When numbers and variables of its contacts were destroyed. */
  readonly erasedAtMs: number | undefined;
}

/** How its contacts stand. Erased ones count. */
export interface CampaignCounts {
  readonly contacts: number;
  readonly states: Readonly<Record<ContactState, number>>;
  /** Results of finished contacts. */
  readonly dispositions: Readonly<Partial<Record<Disposition, number>>>;
}

/** How far a campaign has come with its contacts. */
export interface CampaignReach {
  /** Contacts called by the carrier. */
  readonly called: number;
  /** Those of them that were answered, by any party. */
  readonly answered: number;
  /** Those of them where a person was spoken to. */
  readonly person: number;
  /** What the gate refused, by the name of the refusal. */
  readonly refusals: Readonly<Record<string, number>>;
  /** Contacts that wait for their first or next call, by why it was put off last. */
  readonly putOff: Readonly<Record<string, number>>;
}

export interface CampaignRepository {
  /** One with this id changes nothing. @throws StoreRecordError for a shape that cannot be kept */
  create(campaign: {
    readonly tenantId: string;
    readonly id: string;
    readonly name: string;
    readonly settings: unknown;
    readonly createdBy?: string | undefined;
    readonly createdAtMs: number;
  }): Promise<StoredCampaign>;
  get(tenantId: string, id: string): Promise<StoredCampaign | undefined>;
  /** Newest first. @param query.limit 1 to 200 */
  page(
    tenantId: string,
    query: { readonly limit: number; readonly before?: string | undefined; readonly state?: CampaignState | undefined },
  ): Promise<{ readonly campaigns: readonly StoredCampaign[]; readonly next: string | undefined }>;
  /** Replaces the settings, which count from the next calls on. @returns false when there is no such campaign, or it has ended */
  change(tenantId: string, id: string, change: { readonly name: string; readonly settings: unknown }): Promise<boolean>;
  /** Changes the state from one of these. @returns false when it was in none of them: of two attempts, one succeeds */
  setState(
    ref: CampaignRef,
    from: readonly CampaignState[],
    to: CampaignState,
    change: { readonly reason?: string | undefined; readonly by?: CampaignChanger | undefined; readonly atMs: number },
  ): Promise<boolean>;
  /** Finishes a running campaign without open contacts. @returns false where it was changed meanwhile, or has some */
  finish(ref: CampaignRef, atMs: number): Promise<boolean>;
  /** All tenants' running campaigns. */
  running(): Promise<readonly StoredCampaign[]>;
  /** Stopped campaigns of all tenants that have contacts which still wait. */
  stoppedWithOpenContacts(limit: number): Promise<readonly CampaignRef[]>;
  counts(ref: CampaignRef): Promise<CampaignCounts>;
  /** The same of several campaigns of a tenant, by their ids. */
  countsOf(tenantId: string, ids: readonly string[]): Promise<ReadonlyMap<string, CampaignCounts>>;
  /** How many people were called, and what the gate refused. Reads all attempts of the campaign. */
  reach(ref: CampaignRef): Promise<CampaignReach>;
  /** How often each thing came of its attempts that ended since each of these moments; counts are in their order. */
  outcomes(ref: CampaignRef, endedSinceMs: readonly number[]): Promise<OutcomeCounts>;
  /** When the next call of each key may begin; a key that never paced a call is absent. */
  paces(keys: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /**
   * Gives each call, in order, the first moment at which all its keys are free, and occupies them for their interval. One transaction: concurrent
   * processes get different moments.
   * @param calls the keys of each: its campaign, its carrier account and its caller id
   * @returns the moments, none before `nowMs`
   */
  takePace(calls: readonly (readonly PaceKey[])[], nowMs: number): Promise<readonly number[]>;
  /** All tenants' campaigns with an unannounced change of state, oldest change first. */
  unannounced(limit: number): Promise<readonly StoredCampaign[]>;
  /** @param changedAtMs of the campaign that was announced */
  announced(ref: CampaignRef, changedAtMs: number): Promise<void>;
  /** All tenants' campaigns that ended before a time, and are not erased. */
  endedBefore(query: { readonly endedBeforeMs: number; readonly limit: number }): Promise<readonly StoredCampaign[]>;
  /** Destroys the key of its contacts and blanks numbers and variables; counts and dispositions stay. Open contacts become `cancelled`. */
  erase(ref: CampaignRef, atMs: number): Promise<void>;
}

export type OutcomeCounts = ReadonlyMap<Disposition, readonly number[]>;

/** `pending`: never called; `leased`: is being called, or is about to be; `waiting`: for its next attempt. */
export const CONTACT_STATES = ['pending', 'leased', 'waiting', 'done'] as const;
export type ContactState = (typeof CONTACT_STATES)[number];

export interface NewContact {
  /** E.164. */
  readonly number: string;
  /** IANA name, where it is known. */
  readonly zone?: string | undefined;
  /** Variables of the bot. */
  readonly variables: Readonly<Record<string, string>>;
}

/** What is known of a contact's attempts so far. */
export interface ContactHistory {
  /** Calls that the gate allowed. */
  readonly attempts: number;
  /** How often each thing came of them. */
  readonly outcomes: Readonly<Partial<Record<Disposition, number>>>;
  /** Result of the last attempt, or of the finished contact. */
  readonly disposition: Disposition | undefined;
  /** The name of a refusal, or the carrier's word for a failure. */
  readonly cause: string | undefined;
  readonly lastAttemptId: string | undefined;
  /** When the person asked to be called. */
  readonly callBackAtMs: number | undefined;
  readonly messageLeft: boolean;
}

export interface CampaignContact extends NewContact, ContactHistory, CampaignRef {
  readonly id: string;
  /** Its place in the campaign, in the order of addition. */
  readonly ordinal: number;
  readonly state: ContactState;
  /** When it may be called next; of a leased one, when its lease runs out. */
  readonly dueAtMs: number;
  readonly erased: boolean;
}

/** Contacts to call first: those that asked for it, then those that were called before. */
export type ContactPriority = 'call-back' | 'retry' | 'new';

/** A contact leased exclusively to one process. */
export interface LeasedContact extends CampaignContact {
  /** The caller id that has room for it. */
  readonly from: string;
}

/** A contact with an expired lease: its process died, or its call takes long. */
export interface OverdueContact extends CampaignContact {
  /** Whether `lastAttemptId` is known to be the running attempt; otherwise an attempt of index `attempts + 1` may exist. */
  readonly attached: boolean;
}

/** What is to become of a contact. */
export type ContactChange = Partial<Pick<ContactHistory, 'outcomes' | 'cause' | 'callBackAtMs' | 'messageLeft'>> &
  (
    | {
        readonly state: 'waiting';
        readonly dueAtMs: number;
        readonly priority: ContactPriority;
        readonly disposition?: Disposition | undefined;
      }
    | { readonly state: 'done'; readonly disposition: Disposition }
  );

export interface ContactRepository {
  /**
   * Adds contacts in the order given; a number that the campaign has is not added again. A thousand at once is a good size.
   * @param dueAtMs when they may be called at the earliest
   * @returns the places, in `contacts`, of those that the campaign had already
   * @throws StoreRecordError when there is no such campaign, or it was erased
   */
  add(
    ref: CampaignRef,
    contacts: readonly NewContact[],
    dueAtMs: number,
  ): Promise<{ readonly added: number; readonly duplicates: readonly number[] }>;
  /** How many of these numbers, E.164, the campaign has. */
  known(ref: CampaignRef, numbers: readonly string[]): Promise<number>;
  get(ref: CampaignRef, contactId: string): Promise<CampaignContact | undefined>;
  /** In the order of addition. @param query.limit 1 to 1,000 */
  page(
    ref: CampaignRef,
    query: {
      readonly limit: number;
      /** `next` of the page before. */
      readonly after?: number | undefined;
      readonly state?: ContactState | undefined;
      readonly disposition?: Disposition | undefined;
      readonly number?: string | undefined;
    },
  ): Promise<{ readonly contacts: readonly CampaignContact[]; readonly next: number | undefined }>;
  /** Some of the contacts that are not done, spread over all of them. @param most all of them, where there are no more */
  sample(ref: CampaignRef, most: number): Promise<readonly Pick<CampaignContact, 'number' | 'zone'>[]>;
  /**
   * Leases due contacts, prioritised ones first, within the limits, which count the already leased contacts: each of those is a call under way.
   * Concurrent processes get different contacts.
   * @param request.owner unique for this request
   * @param request.carrier the account, whose limit all its campaigns share
   * @param request.lines caller ids to share the calls among
   */
  lease(
    ref: CampaignRef,
    request: {
      readonly owner: string;
      readonly nowMs: number;
      readonly untilMs: number;
      readonly limit: number;
      readonly concurrency: number;
      readonly carrier: { readonly name: string; readonly concurrency: number };
      readonly lines: readonly { readonly from: string; readonly concurrency: number }[];
    },
  ): Promise<readonly LeasedContact[]>;
  /** Gives leased contacts back, each due at its time; it is as if they had never been leased. */
  release(
    ref: CampaignRef,
    owner: string,
    contacts: readonly { readonly id: string; readonly dueAtMs: number; readonly cause?: string | undefined }[],
  ): Promise<void>;
  /**
   * The gate allowed these attempts: each contact stays leased for its attempt, and is looked after when `checkAtMs` comes.
   * @returns the contacts for which it was done; the others' leases were lost meanwhile
   */
  attach(
    ref: CampaignRef,
    owner: string,
    attempts: readonly { readonly contactId: string; readonly attemptId: string }[],
    checkAtMs: number,
  ): Promise<readonly string[]>;
  /** Ends leases by what the gate refused for ever. */
  refuse(ref: CampaignRef, owner: string, refused: readonly { readonly id: string; readonly cause: string }[]): Promise<void>;
  /**
   * An attempt has ended. Changes the contact once: an attempt that is not the one under way changes nothing, unless it was `unknown` what
   * came of it.
   * @param attempt.index 1 for the first of its contact
   * @returns whether this was the one that did it
   */
  settle(
    ref: CampaignRef,
    contactId: string,
    attempt: { readonly id: string; readonly index: number },
    change: ContactChange,
  ): Promise<boolean>;
  /** All tenants' expired leases; leased anew until then, so that each goes to one process. */
  overdue(query: {
    readonly nowMs: number;
    readonly untilMs: number;
    readonly limit: number;
  }): Promise<readonly OverdueContact[]>;
  /** Makes a contact without an attempt due again after its lease expired. @returns false when it has changed meanwhile */
  reclaim(ref: CampaignRef, contactId: string, untilMs: number, dueAtMs: number): Promise<boolean>;
  /** Leased contacts of all tenants, which is the number of calls under way. */
  underWay(): Promise<readonly (CampaignRef & { readonly carrier: string; readonly from: string; readonly count: number })[]>;
  /** Whether any contact is not done, and when the first that waits is due. */
  open(ref: CampaignRef): Promise<{ readonly left: boolean; readonly nextDueAtMs: number | undefined }>;
  /** Marks contacts that are not done, and not being called, as `cancelled`. @returns how many; fewer than `limit`: that was all */
  cancelOpen(ref: CampaignRef, cause: string, limit: number): Promise<number>;
  /** Blanks number and variables of one contact, which is not called any longer. @returns false for an unknown contact */
  erase(ref: CampaignRef, contactId: string): Promise<boolean>;
}
