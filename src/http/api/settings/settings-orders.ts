import type { Role } from '../../../config/console-roles.ts';
import type { WebhookEndpoint } from '../../../config/webhook-endpoints.ts';
import type { MemberRepository } from '../../../records/members.ts';
import type { NewEndpoint } from '../../../records/webhooks/webhook-book.ts';
import type { ConsoleUser } from '../../session/console-key.ts';

/** How an endpoint took a test. */
interface TestAnswer {
  /** Undefined without an answer. */
  readonly status: number | undefined;
  /** Why it was no success; undefined when it was one. */
  readonly problem: string | undefined;
}

/** Webhook endpoints: those of the settings, and those that are added here. Methods throw WebhookBookError. */
export interface EndpointOrders {
  /** Why none is added here; undefined where they are. */
  readonly readOnly: string | undefined;
  readonly all: () => readonly WebhookEndpoint[];
  readonly isConfigured: (endpoint: WebhookEndpoint) => boolean;
  /** @returns the signing secret, which is shown once */
  readonly add: (endpoint: NewEndpoint) => string;
  /** @returns false for one that was not added here */
  readonly remove: (tenantId: string, name: string) => boolean;
  /** Sends a signed test event. Never rejects. */
  readonly test: (endpoint: WebhookEndpoint) => Promise<TestAnswer>;
}

/** How people get into the console. */
export interface MemberOrders {
  readonly ways: readonly ('password' | 'openid' | 'link')[];
  readonly openid: { readonly issuer: string; readonly roleClaim: string; readonly roles: ReadonlyMap<string, Role> } | undefined;
  /** People who were added. */
  readonly members: MemberRepository;
  /** Whether the settings make someone an admin, so that members need none. */
  readonly hasOtherAdmin: boolean;
  /** @returns the code of a link that signs in once, and its end */
  readonly invite: (user: ConsoleUser) => Promise<{ code: string; untilMs: number }>;
  /** Signs a person out everywhere. */
  readonly endSessions: (name: string) => Promise<void>;
}

export interface CarrierFacts {
  readonly name: string;
  readonly title: string;
  /** `proven`: with an account's secret; `local`: only from this machine, with a development secret. */
  readonly state: 'proven' | 'local';
  /** Whether calls can be placed and transferred with its account. */
  readonly hasControl: boolean;
  /** Environment names of its secrets. */
  readonly needs: readonly string[];
}

export interface VendorFacts {
  readonly name: string;
  readonly title: string;
  readonly services: readonly string[];
  readonly isConfigured: boolean;
  readonly needs: string;
  readonly prices: readonly { readonly service: string; readonly model: string; readonly price: string; readonly asOf: string }[];
}

export interface ModelFacts {
  readonly name: string;
  readonly title: string;
  readonly role: string;
  readonly languages: readonly string[];
  readonly licence: string;
  readonly bytes: number | undefined;
  readonly isInstalled: boolean;
  /** Languages and roles that it is used for. */
  readonly usedFor: readonly string[];
  /** Where the licence stands. */
  readonly licenceFrom: string;
  readonly note: string | undefined;
  /** Words wrong in streams, on recordings of people at 8 kHz; undefined where they were not measured. */
  readonly wordErrors:
    | { readonly percent: number; readonly recordings: number; readonly words: number; readonly on: string }
    | undefined;
  /** Size in memory and processor time, in words. */
  readonly measured: string | undefined;
}

/** How far the fetching of a model is: bytes of the step. */
export interface ModelProgress {
  /** `begin` before the first news; `library`: its package is installed; `open`: it is opened once. */
  readonly step: 'begin' | 'download' | 'check' | 'unpack' | 'library' | 'open';
  readonly done: number;
  readonly all: number | undefined;
}

/** The catalogue of speech models, and a way to fetch one. */
export interface ModelOrders {
  readonly list: () => Promise<readonly ModelFacts[]>;
  /**
   * Fetches a model of the catalogue, checks it, and has it used from the next start on; absent where it cannot be fetched.
   * @throws Error with one sentence; the signal's reason
   */
  readonly get?: (
    name: string,
    watch: { readonly onProgress: (progress: ModelProgress) => void; readonly signal: AbortSignal },
  ) => Promise<void>;
}

/** A sentence as the synthesizer in use speaks it, and as the recogniser in use hears it. */
export interface SpeechTrial {
  /** A WAV file, mono, 8 kHz. */
  readonly wav: Uint8Array;
  readonly heard: string;
  readonly synthesizer: string;
  readonly recogniser: string;
  /** From the request to the first audio. */
  readonly firstAudioMs: number;
  /** From the end of the audio to the last words; undefined where nothing was heard. */
  readonly finalMs: number | undefined;
}

export interface CheckFacts {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly advice?: string | undefined;
  readonly ms: number;
}

/** What the settings pages show and change. */
export interface SettingsOrders {
  readonly endpoints: EndpointOrders;
  /** Absent without a console. */
  readonly members?: MemberOrders | undefined;
  readonly carriers: () => readonly CarrierFacts[];
  /** First vendor of each service by default. */
  readonly speech: { readonly recogniser: string; readonly synthesizer: string };
  readonly vendors: () => readonly VendorFacts[];
  /** Absent where the catalogue of models is not here. */
  readonly models?: ModelOrders | undefined;
  /** @returns undefined while calls use every recognition slot @throws OffhookError of the speech vendors; the signal's reason */
  readonly trySpeech?:
    | ((asked: { readonly text: string; readonly language: string }, signal: AbortSignal) => Promise<SpeechTrial | undefined>)
    | undefined;
  /** Checks carriers, stores and bots' servers as `offhook doctor` does; absent where it cannot. */
  readonly check?: ((signal: AbortSignal) => Promise<readonly CheckFacts[]>) | undefined;
  /** When this machine last saw an API key. */
  readonly keyUsedAtMs?: ((id: string) => number | undefined) | undefined;
}
