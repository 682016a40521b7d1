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
  /** Word errors in percent, on recordings of people; undefined where they were not measured. */
  readonly wordErrorPercent: number | undefined;
  /** Size in memory and processor time, in words. */
  readonly measured: string | undefined;
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
  readonly models?: (() => Promise<readonly ModelFacts[]>) | undefined;
  /** Checks carriers, stores and bots' servers as `offhook doctor` does; absent where it cannot. */
  readonly check?: ((signal: AbortSignal) => Promise<readonly CheckFacts[]>) | undefined;
  /** When this machine last saw an API key. */
  readonly keyUsedAtMs?: ((id: string) => number | undefined) | undefined;
}
