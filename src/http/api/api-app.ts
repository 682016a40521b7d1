import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { LiveCalls } from '../../call/admission/live-calls.ts';
import type { CallDialler } from '../../outbound/dialler.ts';
import type { BotChats } from '../../rehearsal/chat/bot-chats.ts';
import type { Bot } from '../../config/bots.ts';
import type { PlacingMeans } from '../../config/tenants.ts';
import type { Settings } from '../../config/schema.ts';
import type { Problem } from '../../config/problem.ts';
import type { BotOutline } from '../../dialog/bot-outline.ts';
import type { CampaignControl } from '../../outbound/campaign-control.ts';
import type { AnalysisProfiles } from '../../records/analysis/analysis-profiles.ts';
import type { JobQueue } from '../../records/queue/port.ts';
import type { Eraser } from '../../records/retention/eraser.ts';
import type { AuditLog } from '../../records/retention/audit-log.ts';
import type { LegalHolds } from '../../records/retention/legal-hold.ts';
import type { WebhookDispatcher } from '../../records/webhooks/webhook-dispatcher.ts';
import type { DialLists } from '../../outbound/dial-lists.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { SharedRates } from '../../hosts/shared-state/port.ts';
import type { ListenGrant } from '../../carriers/stream-token.ts';
import type { Logger } from '../../observability/logger.ts';
import type { RecordingPeaks } from '../../records/objects/recording-peaks.ts';
import type { VoicemailSounds } from '../../records/objects/voicemail-sound.ts';
import type { LiveAudio } from '../live-audio.ts';
import type { Recordings } from '../../records/objects/recordings.ts';
import type { Uploads } from '../../records/objects/uploads.ts';
import type { CampaignRepository, ContactRepository } from '../../records/campaigns.ts';
import type { AttemptRepository } from '../../records/dialling.ts';
import type { Store } from '../../records/port.ts';
import type { BrowserCalls } from '../browser-calls.ts';
import type { ApiKeyBook, ApiScope, Principal } from './system/api-keys.ts';
import type { PublicAddress } from './system/system-problems.ts';
import type { SystemState } from './system/system-views.ts';
import type { FixtureFacts, ReplayReportView } from './calls/replay-views.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a key needs for a route of the API; every one of its routes names one. */
    scope?: ApiScope;
    /** Whether the same request may be served again under its key at any time, since it does by itself what it did before. */
    servesAgain?: boolean;
    /** What of an answer is stored for a repeat under the same idempotency key; all of it when absent. */
    stored?: (answer: unknown) => unknown;
  }
  interface FastifyRequest {
    /** Who asks. Of requests that the API's gate admitted; no other has one. */
    principal: Principal;
    /** The JSON body as it was sent, or the fields of a form and its file's hash: what makes two requests the same. */
    sent: readonly unknown[];
  }
}

/** Where routes of the API are added: their schemas are zod's, and say what handlers get. */
export type ApiApp = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger, ZodTypeProvider>;

/** What the API serves. */
export interface ApiDeps {
  readonly keys: ApiKeyBook;
  readonly store: Pick<
    Store,
    'calls' | 'statistics' | 'analyses' | 'submissions' | 'idempotency' | 'attempts' | 'suppressions' | 'consents' | 'webhooks'
  >;
  readonly queue: Pick<JobQueue, 'enqueue' | 'failed' | 'retry'>;
  readonly recordings: Pick<Recordings, 'open'>;
  readonly uploads: Pick<Uploads, 'keep' | 'remove'>;
  readonly profiles: Pick<AnalysisProfiles, 'names'>;
  /** Where uploads are while they arrive. */
  readonly uploadFolder: string;
  readonly clock: Clock;
  /** Of all machines; of this process when absent. */
  readonly rates?: SharedRates | undefined;
  /** Absent where there are no live calls. */
  readonly live?: LiveCallOrders;
  /** Absent where no browser is called from. */
  readonly browserCalls?: Pick<BrowserCalls, 'begin'> | undefined;
  /** Absent where no calls are placed. */
  readonly dialling?: DialOrders | undefined;
  /** Absent where no campaigns are run. */
  readonly campaigns?: CampaignOrders | undefined;
  /** Absent where no calls are placed. */
  readonly dialLists?: DialListOrders | undefined;
  /** Absent where there are no bots. */
  readonly bots?: BotOrders | undefined;
  /** Absent where there is no gateway. */
  readonly system?: SystemOrders | undefined;
  /** Where looks at personal values are written, and read from; absent where none are. */
  readonly audit?: Pick<AuditLog, 'add' | 'addAll' | 'page'> | undefined;
  /** Absent where nothing is erased. */
  readonly erasures?: ErasureOrders | undefined;
  /** Absent where no recording is drawn. */
  readonly peaks?: Pick<RecordingPeaks, 'of'> | undefined;
  /** Absent where no message of a caller is played. */
  readonly voicemails?: Pick<VoicemailSounds, 'of'> | undefined;
  /** Absent where no call is replayed. */
  readonly replays?: ReplayOrders | undefined;
  /** Absent where no webhook is sent. */
  readonly dispatcher?: Pick<WebhookDispatcher, 'replay'> | undefined;
}

/** What the API needs to replay calls. Its methods throw OffhookErrors with the codes of fixtures and replays, as docs/errors.md has them. */
export interface ReplayOrders {
  readonly fixtures: {
    /** Whether calls of a bot are saved from now on. */
    readonly keeps: (botName: string) => boolean;
    /** These are undefined for a call that was not saved. */
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

/** What the API needs to show how the gateway is. */
export interface SystemOrders {
  readonly publicUrl: PublicAddress;
  /** As it is, or was some seconds ago. */
  readonly look: () => Promise<SystemState>;
  readonly callDrain: DrainOrders;
}

/** Whether a gateway takes new calls; `drained` is one that has no call left. */
export type DrainState = 'taking-calls' | 'draining' | 'drained';

/** What the API needs to drain a gateway. */
export interface DrainOrders {
  readonly state: DrainState;
  /** Calls that hold a place. */
  readonly live: number;
  /** Refuses new calls; resolves when the live ones have ended. */
  readonly drain: () => Promise<void>;
  /** Takes calls again. @returns false where the gateway is stopping: it takes none any more */
  readonly undo: () => boolean;
}

/** What the API needs to show bots. */
export interface BotOrders {
  /** Those that new calls get. */
  readonly bots: () => readonly Bot[];
  readonly outlineOf: (bot: Bot) => Promise<BotOutline>;
  /** Sound bots and problems of the bots' files as they are now, or were some seconds ago. */
  readonly files: () => Promise<{ readonly bots: readonly Bot[]; readonly problems: readonly Problem[] }>;
  /** Absent where nobody chats with them. */
  readonly chats?: Pick<BotChats, 'open' | 'act' | 'end'> | undefined;
  /** With problems, nothing was changed. */
  readonly lastReload: { readonly atMs: number; readonly problems: readonly string[] } | undefined;
}

/** What the API needs to erase people. */
export interface ErasureOrders {
  readonly eraser: Pick<Eraser, 'eraseCall' | 'eraseNumber'>;
  readonly holds: Pick<LegalHolds, 'change'>;
  readonly audit: Pick<AuditLog, 'add'>;
  /** Of numbers that are written without `+`. */
  readonly defaultRegion: string | undefined;
}

/** What the API needs to change who may be called. */
export interface DialListOrders {
  readonly lists: DialLists;
  /** Of numbers that are written without `+`. */
  readonly defaultRegion: string | undefined;
}

/** What the API needs to show live calls and to control them. */
export interface LiveCallOrders {
  readonly calls: LiveCalls;
  readonly audit: Pick<AuditLog, 'add'>;
  /** The journal of a call that another process of this machine is having. */
  readonly elsewhere: (callId: string) => Promise<unknown>;
  readonly logger: Logger;
  /** Where the sound of live calls is heard. */
  readonly audio: LiveAudio;
  /** How calls between people are listened to. */
  readonly listening: ListeningOrders;
}

/** What the API needs to have calls between people listened to. */
export interface ListeningOrders {
  /** Names of the carriers that send a copy of both sides, for a tenant. */
  readonly carriers: (tenantId: string) => readonly string[];
  readonly bots: (tenantId: string) => readonly string[];
  /** @returns the address of one media stream, with its single-use token */
  readonly addressFor: (grant: ListenGrant, lifeMs: number) => Promise<string>;
  /**
   * Has the carrier send a live call there.
   * @throws OrderRefusedError where the carrier, as it is configured, takes no such request; CarrierControlError
   */
  readonly begin: (carrier: string, carrierCallId: string, streamUrl: string) => Promise<void>;
}

/** What the API needs to place single calls. */
export interface DialOrders {
  readonly dialler: Pick<CallDialler, 'check' | 'ask' | 'place' | 'cancel' | 'hasRoom'>;
  readonly bots: (tenantId: string) => readonly string[];
  readonly means: (tenantId: string) => PlacingMeans;
  readonly settings: Pick<Settings['dialling'], 'profile' | 'zoneSource' | 'defaultRegion' | 'ringTimeoutMs'>;
}

/** What the API needs for campaigns. */
export interface CampaignOrders {
  readonly control: CampaignControl;
  readonly campaigns: Pick<CampaignRepository, 'page'>;
  readonly contacts: Pick<ContactRepository, 'page'>;
  readonly attempts: Pick<AttemptRepository, 'page' | 'placed'>;
  readonly audit: Pick<AuditLog, 'add'>;
  /** `defaultRegion` of numbers that are written without `+`. */
  readonly settings: Pick<Settings['dialling'], 'profile' | 'zoneSource' | 'defaultRegion' | 'callsPerSecond' | 'concurrency'>;
}
