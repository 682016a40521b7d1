import type { IdempotencyRepository } from './idempotency.ts';
import type { CampaignRepository, ContactRepository } from './campaigns.ts';
import type { CompressedFormat, RecordingFormat } from '../audio/recording-format.ts';
import type { AnsweredBy } from '../config/answered-by.ts';
import type { CostPart } from '../costs/cost.ts';
import type { CallRecord, NewCallRecord } from './record.ts';
import type { AttemptRepository, ConsentRepository, SuppressionRepository } from './dialling.ts';
import type { StatisticsRepository } from './statistics.ts';
import type { Finding, Reason } from './attention.ts';
import type { Result } from './figures.ts';
import type { MemberRepository } from './members.ts';
import type { ReviewRepository } from './reviews.ts';
import type { SubmissionRepository } from './submissions.ts';

export type { CallRecord, NewCallRecord } from './record.ts';

/** A call in a list. */
export interface CallSummary {
  readonly id: string;
  readonly botName: string;
  readonly carrier: string;
  /** Empty once erased. Mask it for clients without access to numbers. */
  readonly from: string;
  readonly to: string;
  readonly direction: 'inbound' | 'outbound';
  readonly language: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number | undefined;
  readonly endReason: string | undefined;
  readonly turnCount: number;
  /** Undefined until the call's end. */
  readonly durationMs: number | undefined;
  /** From the caller's last voiced sample to the first frame of the reply; undefined without a wait. */
  readonly worstReplyMs: number | undefined;
  readonly medianReplyMs: number | undefined;
  /** Set for outbound calls; undefined once erased. */
  readonly campaignId: string | undefined;
  readonly answeredBy: AnsweredBy | undefined;
  /** Whether there is a recording. */
  readonly recorded: boolean;
  readonly disposition: string | undefined;
  /** Undefined before the call's end, and for older calls; see `CallCost`. */
  readonly costMicros: number | undefined;
  readonly knownCostMicros: number | undefined;
  readonly costCurrency: string | undefined;
  /** The dialog's variables and notes. Empty once erased. */
  readonly variables: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
  readonly keeping: CallKeeping;
}

/** State of a call after its end. */
export interface CallKeeping {
  /** `none` before the call's end, and for recordings from elsewhere. */
  readonly analysisState: 'none' | 'pending' | 'done' | 'failed';
  /** Under legal hold: not erased. */
  readonly legalHold: boolean;
  /** Key of the sealed recording in the object store; undefined for a plain file at `recordingPath`, or no recording. */
  readonly recordingObject: string | undefined;
  readonly recordingFormat: RecordingFormat;
  readonly audioErasedAtMs: number | undefined;
  /** When numbers, words and analyses were destroyed. */
  readonly textErasedAtMs: number | undefined;
}

export interface StoredCall extends CallRecord {
  readonly disposition: string | undefined;
  readonly keeping: CallKeeping;
}

/** All given filters must match. Times are wall times: from (included) to (excluded) the start of the call. */
export interface CallQuery {
  /** 1 to 200. */
  readonly limit: number;
  /** `next` of the page before. */
  readonly before?: string | undefined;
  /** Either side's number, in any notation. */
  readonly number?: string | undefined;
  readonly botName?: string | undefined;
  readonly botVersion?: string | undefined;
  readonly language?: string | undefined;
  readonly carrier?: string | undefined;
  readonly direction?: 'inbound' | 'outbound' | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  readonly disposition?: string | undefined;
  readonly endReason?: string | undefined;
  /** Outbound calls of this campaign. */
  readonly campaignId?: string | undefined;
  readonly answeredBy?: AnsweredBy | undefined;
  /** Both ends included. Running calls have no duration. */
  readonly minDurationMs?: number | undefined;
  readonly maxDurationMs?: number | undefined;
  /** Range of a call's longest wait for a reply, both ends included. */
  readonly minReplyMs?: number | undefined;
  readonly maxReplyMs?: number | undefined;
  /** Least known cost, in millionths of the currency. */
  readonly minCostMicros?: number | undefined;
  /** Variables with whole values, in any case. Does not find calls from before variables were indexed. */
  readonly variables?: readonly (readonly [name: string, value: string])[] | undefined;
  /** Only calls that a legal hold protects. */
  readonly held?: true | undefined;
  /** What became of the call, and whether a person answered; both as statistics count it. */
  readonly result?: Result | undefined;
  readonly answered?: boolean | undefined;
  readonly optedOut?: boolean | undefined;
  /** Whether the caller interrupted the bot. */
  readonly interrupted?: boolean | undefined;
  /** Whether the bot spoke into the caller's words. */
  readonly cutOff?: boolean | undefined;
  /** Whether the bot did not understand a turn. */
  readonly notUnderstood?: boolean | undefined;
  /** Only calls that deserve a look for this reason. */
  readonly attention?: Reason | undefined;
  /** Whole words, all occurring in the call's words, variables and notes, or all in an analysis; any script, any case. */
  readonly text?: string | undefined;
}

export interface CallPage {
  /** Newest first. */
  readonly calls: readonly CallSummary[];
  /** Pass it as `before` to continue; undefined at the end. */
  readonly next: string | undefined;
}

/** Names one call. */
export interface CallRef {
  readonly tenantId: string;
  readonly callId: string;
}

export interface CallRepository {
  /**
   * Writes the complete record over an older revision. Idempotent; an older revision than the stored one changes nothing, nor does any record of an
   * erased call.
   * @throws StoreRecordError for an invalid record
   */
  upsert(record: NewCallRecord): Promise<void>;
  /**
   * Like `upsert` of each, but faster for new calls. After a failure some may have been written.
   * @throws StoreRecordError for an invalid record
   */
  upsertMany(records: readonly NewCallRecord[]): Promise<void>;
  /** @throws MasterKeyError when it is sealed under another master key */
  get(tenantId: string, callId: string): Promise<StoredCall | undefined>;
  /** @throws RangeError for a limit, StoreRecordError for an invalid cursor */
  search(tenantId: string, query: CallQuery): Promise<CallPage>;
  /** How many calls a search finds, `atMost` if there are more. */
  count(tenantId: string, query: Omit<CallQuery, 'limit' | 'before'>, atMost: number): Promise<number>;
  /** @returns false when there is no such call */
  setLegalHold(tenantId: string, callId: string, on: boolean): Promise<boolean>;
  /** @returns false when there is no such call */
  setDisposition(tenantId: string, callId: string, disposition: string | undefined): Promise<boolean>;
  /**
   * Adds what a job after the call cost, in place of what the same job cost before.
   * @param job names the job among those of the call
   * @returns false when there is no such call
   */
  addCost(tenantId: string, callId: string, job: string, parts: readonly CostPart[]): Promise<boolean>;
  /** The analysis failed for good; `analyses.put` sets the other states. */
  analysisFailed(tenantId: string, callId: string): Promise<void>;
  /** All tenants' ended calls without analysis so far, oldest end first. */
  awaitingAnalysis(options: { readonly endedBeforeMs: number; readonly limit: number }): Promise<readonly CallRef[]>;
}

/** Location of a call's recording, and what it is to become. */
export interface KeptRecording {
  readonly startedAtMs: number;
  /** Path of the plain file; also the former one of a sealed recording. */
  readonly path: string | undefined;
  readonly object: string | undefined;
  readonly format: RecordingFormat;
  readonly wanted: CompressedFormat | undefined;
  readonly legalHold: boolean;
  readonly isErased: boolean;
}

export interface RecordingRepository {
  find(tenantId: string, callId: string): Promise<KeptRecording | undefined>;
  /**
   * The recording is sealed in the object store, in the format of the key's ending, and its plain file removed.
   * @returns false when the call is unknown or its audio was erased: the object must then be removed
   */
  sealed(tenantId: string, callId: string, object: string): Promise<boolean>;
  /**
   * The recording has another format: as a plain file without `object`, else under that key.
   * @param was the state before
   * @returns false, without a change, when it has changed meanwhile, was erased, or is under legal hold
   */
  compressed(
    tenantId: string,
    callId: string,
    was: Pick<KeptRecording, 'object' | 'format'>,
    is: { readonly object: string | undefined; readonly format: CompressedFormat },
  ): Promise<boolean>;
  /** It will not be compressed. */
  settled(tenantId: string, callId: string): Promise<void>;
  /** All tenants' ended, analysed calls without legal hold whose recording is to be compressed; oldest end first. */
  toCompress(options: {
    readonly endedBeforeMs: number;
    readonly limit: number;
  }): Promise<readonly (CallRef & { readonly format: CompressedFormat })[]>;
}

export interface Analysis {
  readonly tenantId: string;
  readonly callId: string;
  /** Name of the analysis profile, in any unambiguous form. */
  readonly profile: string;
  /** Version of the document's form: one document a call, profile and version. */
  readonly version: number;
  readonly createdAtMs: number;
  /** For lists and searches; the call gets the same disposition. */
  readonly disposition: string | undefined;
  readonly score: number | undefined;
  /** JSON; its reader parses it. */
  readonly document: unknown;
}

export interface NewAnalysis extends Omit<Analysis, 'profile' | 'disposition' | 'score'> {
  /** `default` when absent. */
  readonly profile?: string | undefined;
  readonly disposition?: string | undefined;
  readonly score?: number | undefined;
  /** Words of its transcript, by which the call is found too. */
  readonly searchText?: string | undefined;
  /** What it judged wrong, for the list of calls that deserve a look; unchanged when absent. */
  readonly judged?: readonly Finding[] | undefined;
}

export interface AnalysisPage {
  /** Newest first. */
  readonly analyses: readonly Analysis[];
  /** Pass it as `before` to continue; undefined at the end. */
  readonly next: string | undefined;
}

export interface AnalysisRepository {
  /**
   * Replaces the document of the same call, profile and version, and marks the call as analysed.
   * @throws StoreRecordError when the call is not in the store, or was erased
   */
  put(analysis: NewAnalysis): Promise<void>;
  /** @param profile `default` when absent */
  get(tenantId: string, callId: string, version: number, profile?: string): Promise<Analysis | undefined>;
  /** All of a call, newest version first. */
  list(tenantId: string, callId: string): Promise<readonly Analysis[]>;
  /** All of a tenant, for exports. @param query.limit 1 to 200 */
  page(
    tenantId: string,
    query: { readonly limit: number; readonly before?: string | undefined; readonly profile?: string | undefined },
  ): Promise<AnalysisPage>;
}

/** Locations of a call's files, for removal. */
export interface ErasedCall extends CallRef {
  /** Undefined for an unknown call. */
  readonly startedAtMs: number | undefined;
  readonly recordingPath: string | undefined;
  readonly recordingSidecarPath: string | undefined;
  readonly recordingObject: string | undefined;
}

/** Gives and destroys keys. Every method is idempotent. */
export interface PrivacyRepository {
  /**
   * The key of a call's sound, 32 bytes; `make` creates a missing one.
   * @returns undefined when it was destroyed
   */
  audioKey(tenantId: string, callId: string, make: boolean): Promise<Uint8Array | undefined>;
  /** Whether the tenant has or had this call or attempt: erased ones stay known. */
  knows(tenantId: string, callId: string): Promise<boolean>;
  /** Unerased calls of the person with this number. */
  callsOf(tenantId: string, number: string): Promise<readonly string[]>;
  /** Unerased attempts to call this number, including those whose words have expired. */
  attemptsOf(tenantId: string, number: string): Promise<readonly string[]>;
  /**
   * Erases the number from lists, consents and campaign contacts. Do-not-call entries stay in force by the number's hash; consents are withdrawn and
   * anonymous, as are entries in the log of decisions; contacts are not called any longer.
   * @returns how many of each had the number
   */
  eraseNumber(
    tenantId: string,
    number: string,
    atMs: number,
  ): Promise<{ readonly suppressions: number; readonly consents: number; readonly contacts: number }>;
  /**
   * Destroys both keys of a call and everything sealed under them; dates, bot and latencies stay. A call not in the store yet will never be written.
   * Its attempt loses personal data too; a waiting one is cancelled.
   * @returns `held` under a legal hold, `live` while the carrier may be dialling
   */
  erase(tenantId: string, callId: string, atMs: number): Promise<ErasedCall | 'held' | 'live'>;
  /**
   * Destroys one kind: `audio`, or `text` with numbers and analyses. Attempts still count for their number's caps.
   * @returns `held` under a legal hold
   */
  eraseKind(tenantId: string, callId: string, kind: 'audio' | 'text', atMs: number): Promise<ErasedCall | 'held'>;
  /**
   * All tenants' calls, and attempts without a call, that still have this kind of data, ended before a time, and have no legal hold.
   * @param query.botNames only these bots' calls; with `except`, all but these
   */
  expired(query: {
    readonly kind: 'audio' | 'text';
    readonly endedBeforeMs: number;
    readonly botNames: readonly string[];
    readonly except: boolean;
    readonly limit: number;
  }): Promise<readonly CallRef[]>;
}

/** A delivery of one event to one endpoint. */
export interface WebhookDelivery {
  readonly tenantId: string;
  /** The `webhook-id`, the same for every try. */
  readonly id: string;
  readonly callId: string;
  /** Its name in the settings. */
  readonly endpoint: string;
  readonly type: string;
  readonly state: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  /** The last answer's status, and why it was no success. */
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** JSON, sent as it stands. */
  readonly body: unknown;
}

export interface WebhookPage {
  /** Newest first. */
  readonly deliveries: readonly WebhookDelivery[];
  /** Pass it as `before` to continue; undefined at the end. */
  readonly next: string | undefined;
}

/** Names one delivery. */
export interface DeliveryRef {
  readonly tenantId: string;
  readonly id: string;
}

export interface WebhookRepository {
  /**
   * Stores a delivery; a known id changes nothing.
   * @returns false for an erased call, about which nothing is sent
   */
  add(
    delivery: Pick<WebhookDelivery, 'tenantId' | 'id' | 'callId' | 'endpoint' | 'type' | 'body' | 'createdAtMs'>,
  ): Promise<boolean>;
  get(tenantId: string, id: string): Promise<WebhookDelivery | undefined>;
  /** Records a try and its result. */
  tried(
    delivery: DeliveryRef,
    outcome: Pick<WebhookDelivery, 'state' | 'status' | 'reason'> & { readonly atMs: number },
  ): Promise<void>;
  /** Resets a delivery to be sent again. @returns false for an unknown one */
  replay(tenantId: string, id: string, atMs: number): Promise<boolean>;
  /** @param query.limit 1 to 200 */
  page(
    tenantId: string,
    query: {
      readonly limit: number;
      readonly before?: string | undefined;
      readonly callId?: string | undefined;
      readonly endpoint?: string | undefined;
      readonly state?: WebhookDelivery['state'] | undefined;
    },
  ): Promise<WebhookPage>;
  /** All tenants' deliveries that are undelivered and untouched since then, oldest first. */
  pending(options: { readonly untouchedSinceMs: number; readonly limit: number }): Promise<readonly DeliveryRef[]>;
}

/** A key of the API. */
export interface StoredApiKey {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly scopes: readonly string[];
  /** SHA-256 of the key in hex. */
  readonly hash: string;
  readonly createdAtMs: number;
}

/** Keys of the API of several machines, of all tenants. */
export interface ApiKeyRepository {
  /** Oldest first. */
  list(): Promise<readonly StoredApiKey[]>;
  /** Existing ones stay unchanged. */
  insert(keys: readonly StoredApiKey[]): Promise<void>;
  /** @returns false where there is no such key */
  remove(id: string): Promise<boolean>;
}

/**
 * The store of calls, analyses, submissions, deliveries and dials. Every method can throw StoreUnavailableError (retryable): nothing was
 * written then, or everything was.
 */
export interface Store extends AsyncDisposable {
  readonly calls: CallRepository;
  readonly recordings: RecordingRepository;
  readonly analyses: AnalysisRepository;
  readonly privacy: PrivacyRepository;
  readonly webhooks: WebhookRepository;
  readonly submissions: SubmissionRepository;
  readonly idempotency: IdempotencyRepository;
  readonly campaigns: CampaignRepository;
  readonly contacts: ContactRepository;
  readonly suppressions: SuppressionRepository;
  readonly consents: ConsentRepository;
  readonly attempts: AttemptRepository;
  readonly statistics: StatisticsRepository;
  readonly reviews: ReviewRepository;
  readonly apiKeys: ApiKeyRepository;
  readonly members: MemberRepository;
  close(): Promise<void>;
}
