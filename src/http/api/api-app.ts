import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyContextConfig, FastifyInstance, FastifySchema, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { AlertWatch } from '../../alerts/alert-watch.ts';
import type { LiveCalls } from '../../call/admission/live-calls.ts';
import type { CallDialler } from '../../outbound/dialler.ts';
import type { BotChats } from '../../rehearsal/chat/bot-chats.ts';
import type { EvalRuns } from '../../rehearsal/evals/eval-runs.ts';
import type { Bot } from '../../config/bots.ts';
import type { PlacingMeans } from '../../config/tenants.ts';
import type { Settings } from '../../config/schema.ts';
import type { PriceList } from '../../config/prices.ts';
import type { Problem } from '../../config/problem.ts';
import type { BotOutline } from '../../dialog/bot-dialog.ts';
import type { CampaignControl } from '../../outbound/campaign-control.ts';
import type { AnalysisProfiles } from '../../records/analysis/analysis-profiles.ts';
import type { JobQueue } from '../../records/queue/port.ts';
import type { Eraser } from '../../records/retention/eraser.ts';
import type { AuditLog } from '../../records/retention/audit-log.ts';
import type { LegalHolds } from '../../records/retention/retention.ts';
import type { WebhookDispatcher } from '../../records/webhooks/webhook-dispatcher.ts';
import type { DialLists } from '../../outbound/dial-lists.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { SharedRates } from '../../hosts/shared-state/port.ts';
import type { ListenGrant } from '../../carriers/stream-token.ts';
import type { Logger } from '../../observability/logger.ts';
import type { RecordingPeaks, VoicemailSounds } from '../../records/objects/recording-extracts.ts';
import type { LiveAudio } from '../live-audio.ts';
import type { Recordings, Uploads } from '../../records/objects/recordings.ts';
import type { CampaignRepository, ContactRepository } from '../../records/campaigns.ts';
import type { AttemptRepository } from '../../records/dialling.ts';
import type { Store } from '../../records/port.ts';
import type { BrowserCalls } from '../browser-calls.ts';
import type { BotEditing, BotEvalOrders } from './bots/bot-editing.ts';
import type { SettingsOrders } from './settings/settings-orders.ts';
import type { ApiKeyBook, ApiScope, Principal } from './system/api-keys.ts';
import type { PublicAddress } from './system/system-problems.ts';
import type { SystemState } from './system/system-views.ts';
import type { FixtureFacts, ReplayReportView } from './calls/replay-views.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Scope a route of the API requires; every route has one. */
    scope?: ApiScope;
    /** Whether a repeated request may be served again at any time, because it is idempotent by itself. */
    servesAgain?: boolean;
    /** The part of an answer stored for a repeat under the same idempotency key; all of it when absent. */
    stored?: (answer: unknown) => unknown;
  }
  interface FastifyRequest {
    /** The authenticated client. Only set once the API's gate has admitted the request. */
    principal: Principal;
    /** The JSON body as sent, or a form's fields and its file's hash: identifies equal requests. */
    sent: readonly unknown[];
  }
}

/** An application for API routes: their zod schemas give the types of handlers. */
export type ApiApp = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger, ZodTypeProvider>;

/** Writes what somebody did over the API into the audit log, where one is kept. */
export function noting(audit: ApiDeps['audit']) {
  return async ({ id: by, tenantId }: Principal, action: string, subject: string): Promise<void> =>
    audit?.add({ by, tenantId, action, subject, outcome: 'done' });
}

/**
 * What a route of the API declares.
 * @param config its scope, or further settings with it
 * @param summary for the API's description: what it does
 * @param schema zod schemas of its parts, which give the handler its types
 */
export function about<const Schema extends FastifySchema>(
  config: ApiScope | (FastifyContextConfig & { readonly scope: ApiScope }),
  summary: string,
  schema: Schema,
): { readonly config: FastifyContextConfig; readonly schema: Schema & { readonly summary: string } } {
  return { config: typeof config === 'string' ? { scope: config } : config, schema: { ...schema, summary } };
}

export interface ApiDeps {
  readonly keys: ApiKeyBook;
  readonly store: Pick<
    Store,
    | 'calls'
    | 'statistics'
    | 'reviews'
    | 'analyses'
    | 'submissions'
    | 'idempotency'
    | 'attempts'
    | 'suppressions'
    | 'consents'
    | 'webhooks'
  >;
  readonly queue: Pick<JobQueue, 'enqueue' | 'failed' | 'retry'>;
  readonly recordings: Pick<Recordings, 'open'>;
  readonly uploads: Pick<Uploads, 'keep' | 'remove'>;
  readonly profiles: Pick<AnalysisProfiles, 'names'>;
  /** Folder of uploads in progress. */
  readonly uploadFolder: string;
  readonly clock: Clock;
  /** Shared by all machines; this process only when absent. */
  readonly rates?: SharedRates | undefined;
  /** Absent without live calls. */
  readonly live?: LiveCallOrders;
  /** Absent without calls from browsers. */
  readonly browserCalls?: Pick<BrowserCalls, 'begin'> | undefined;
  /** Absent without outbound calls. */
  readonly dialling?: DialOrders | undefined;
  /** Absent without campaigns. */
  readonly campaigns?: CampaignOrders | undefined;
  /** Absent without outbound calls. */
  readonly dialLists?: DialListOrders | undefined;
  /** Absent without bots. */
  readonly bots?: BotOrders | undefined;
  /** Absent without a gateway. */
  readonly system?: SystemOrders | undefined;
  /** The audit log of access to personal values; absent where it is not kept. */
  readonly audit?: Pick<AuditLog, 'add' | 'addAll' | 'page'> | undefined;
  /** Absent without erasure. */
  readonly erasures?: ErasureOrders | undefined;
  /** Absent without waveforms. */
  readonly peaks?: Pick<RecordingPeaks, 'of'> | undefined;
  /** Absent without voicemail playback. */
  readonly voicemails?: Pick<VoicemailSounds, 'of'> | undefined;
  /** Absent without replays. */
  readonly replays?: ReplayOrders | undefined;
  /** Absent without a gateway. */
  readonly alerts?: AlertWatch | undefined;
  /** Absent where costs are not served. */
  readonly prices?: PriceList | undefined;
  /** Runs of `offhook eval` in the data folder; absent without one. */
  readonly evals?: Pick<EvalRuns, 'list' | 'read' | 'sound'> | undefined;
  /** What the settings pages show and change; absent without a gateway. */
  readonly settings?: SettingsOrders | undefined;
  /** Absent without webhooks. */
  readonly dispatcher?: Pick<WebhookDispatcher, 'replay'> | undefined;
}

/** Replays of calls. Methods throw OffhookErrors with the codes of fixtures and replays; see docs/errors.md. */
export interface ReplayOrders {
  readonly fixtures: {
    /** Whether a bot's calls are saved from now on. */
    readonly keeps: (botName: string) => boolean;
    /** Undefined for a call that was not saved. */
    readonly facts: (tenantId: string, callId: string, signal: AbortSignal) => Promise<FixtureFacts | undefined>;
    readonly file: (tenantId: string, callId: string) => Promise<Uint8Array | undefined>;
    readonly replay: (
      tenantId: string,
      callId: string,
      settings: readonly { readonly name: string; readonly value: unknown }[],
      signal: AbortSignal,
    ) => Promise<ReplayReportView | undefined>;
  };
  readonly audit: Pick<AuditLog, 'add'>;
}

/** State of the gateway. */
export interface SystemOrders {
  readonly publicUrl: PublicAddress;
  /** The current state, possibly cached for some seconds. */
  readonly look: () => Promise<SystemState>;
  readonly callDrain: DrainOrders;
}

/** Whether a gateway takes new calls; `drained` has no calls left. */
export type DrainState = 'taking-calls' | 'draining' | 'drained';

/** Draining of a gateway. */
export interface DrainOrders {
  readonly state: DrainState;
  /** Calls that hold a place. */
  readonly live: number;
  /** Refuses new calls; resolves when the live ones have ended. */
  readonly drain: () => Promise<void>;
  /** Takes calls again. @returns false where the gateway is stopping */
  readonly undo: () => boolean;
}

/** Bots of the gateway. */
export interface BotOrders {
  /** The bots that new calls get. */
  readonly bots: () => readonly Bot[];
  readonly outlineOf: (bot: Bot) => Promise<BotOutline>;
  /** Valid bots and file problems now, possibly cached for some seconds. */
  readonly files: () => Promise<{ readonly bots: readonly Bot[]; readonly problems: readonly Problem[] }>;
  /** Absent where the bots' files cannot be read again. */
  readonly editing?: BotEditing | undefined;
  /** Absent where no suites are run. */
  readonly evals?: BotEvalOrders | undefined;
  /** Absent without chats. */
  readonly chats?: Pick<BotChats, 'open' | 'act' | 'end'> | undefined;
  /** With problems, the reload changed nothing. */
  readonly lastReload: { readonly atMs: number; readonly problems: readonly string[] } | undefined;
}

/** Erasure of people. */
export interface ErasureOrders {
  readonly eraser: Pick<Eraser, 'eraseCall' | 'eraseNumber'>;
  readonly holds: Pick<LegalHolds, 'change'>;
  readonly audit: Pick<AuditLog, 'add'>;
  /** Region of numbers written without `+`. */
  readonly defaultRegion: string | undefined;
}

/** Changes to do-not-call lists and consents. */
export interface DialListOrders {
  readonly lists: DialLists;
  /** Region of numbers written without `+`. */
  readonly defaultRegion: string | undefined;
}

/** Live calls: viewing and control. */
export interface LiveCallOrders {
  readonly calls: LiveCalls;
  readonly audit: Pick<AuditLog, 'add'>;
  /** The journal of a call in another process of this machine. */
  readonly elsewhere: (callId: string) => Promise<unknown>;
  readonly logger: Logger;
  /** Audio of live calls. */
  readonly audio: LiveAudio;
  /** Listening to calls between people. */
  readonly listening: ListeningOrders;
}

/** Listening to calls between people. */
export interface ListeningOrders {
  /** Carriers of a tenant that can send a copy of both sides. */
  readonly carriers: (tenantId: string) => readonly string[];
  readonly bots: (tenantId: string) => readonly string[];
  /** @returns the address of a media stream, with its single-use token */
  readonly addressFor: (grant: ListenGrant, lifeMs: number) => Promise<string>;
  /**
   * Has the carrier send a live call there.
   * @throws OrderRefusedError where the carrier's configuration does not allow it; CarrierControlError
   */
  readonly begin: (carrier: string, carrierCallId: string, streamUrl: string) => Promise<void>;
}

/** Single outbound calls. */
export interface DialOrders {
  readonly dialler: Pick<CallDialler, 'check' | 'ask' | 'place' | 'cancel' | 'hasRoom'>;
  readonly bots: (tenantId: string) => readonly string[];
  readonly means: (tenantId: string) => PlacingMeans;
  readonly settings: Pick<Settings['dialling'], 'profile' | 'zoneSource' | 'defaultRegion' | 'ringTimeoutMs'>;
}

export interface CampaignOrders {
  readonly control: CampaignControl;
  readonly campaigns: Pick<CampaignRepository, 'page'>;
  readonly contacts: Pick<ContactRepository, 'page'>;
  readonly attempts: Pick<AttemptRepository, 'page' | 'placed'>;
  readonly audit: Pick<AuditLog, 'add'>;
  /** `defaultRegion`: region of numbers written without `+`. */
  readonly settings: Pick<Settings['dialling'], 'profile' | 'zoneSource' | 'defaultRegion' | 'callsPerSecond' | 'concurrency'>;
}
