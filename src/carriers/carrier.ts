import type { z } from 'zod';
import type { AudioFormat } from '../audio/format.ts';
import type { Secret } from '../config/secrets.ts';
import { type AdapterConfig, millis, minute } from '../config/setting.ts';
import type { Clock } from '../kernel/clock.ts';
import type { MediaCodec } from './media-codec.ts';
import type { TcpFraming } from './tcp-connection.ts';
import type { CallControl, CarrierCapabilities, CarrierWitness, DialProgress, InboundCall } from './port.ts';

/** A carrier's request: the parts that prove it. */
export interface CarrierRequest {
  /** Full addresses, with query, under which the carrier may know the request. Never derived from its headers. */
  readonly urls: readonly string[];
  /** Header values by lower-case name; repeated ones joined. */
  readonly headers: Readonly<Record<string, string>>;
  /** The connection's remote address; behind a proxy, the proxy's. */
  readonly address: string;
}

export interface SignedBody {
  readonly raw: string;
  /** Parsed body: form fields, a repeated one as a list, or a JSON value. */
  readonly parsed: unknown;
}

/** A call status callback, or an event of the call's stream at the same address. */
export interface CarrierStatus {
  readonly carrierCallId: string;
  readonly status: string;
  /** The call is over; only an end may follow. */
  readonly terminal: boolean;
  readonly streamError: string | undefined;
  /** Progress of a dialled call, where the report has it. */
  readonly progress?: DialProgress | undefined;
  /** The carrier's answer detection. */
  readonly witness?: CarrierWitness | undefined;
  /** A pressed key, for carriers whose stream has none: 0-9, *, #, A-D. */
  readonly digit?: string | undefined;
  /** A document to answer with, where the carrier asks what the caller hears next. */
  readonly document?: { readonly contentType: string; readonly text: string };
}

export interface StreamAnswer {
  /** `wss` address, or `ws` on loopback; without a query. */
  readonly url: string;
  /** Where the status callback is. */
  readonly statusUrl: string;
  readonly callId: string;
  /** Undefined before the call is placed. */
  readonly carrierCallId: string | undefined;
}

/** Signed reports on calls, at `/carriers/<name>/status/<our call id>`. */
export interface ReportDoor {
  readonly body: 'form' | 'json';
  /** Header with the proof, as named in messages; with `inQuery`, a query parameter of the address given to the carrier. */
  readonly header: string;
  /** The proof is in the query: the carrier signs nothing and sends no header of ours. */
  readonly inQuery?: true;
  /** The carrier sends credentials only after a 401 with this `WWW-Authenticate` (RFC 7235). */
  readonly challenge?: string;
  /** Whether the header has the form of a proof; checked before the body is read. */
  isProof(header: string): boolean;
  /** Whether the carrier's proof is valid. */
  isSigned(request: CarrierRequest, body: SignedBody): boolean | Promise<boolean>;
  /** A single-use value of a signed request (a nonce): a second request with it is refused as a replay. */
  nonceOf?(request: CarrierRequest): string | undefined;
  /** Undefined without a call or a status. */
  readStatus(body: unknown): CarrierStatus | undefined;
  /** What an unreadable webhook lacks, for the error message. */
  readonly needs: { readonly call: string; readonly status: string };
}

/** Calls come by a signed webhook, answered with a document that makes the carrier open a media socket at an address with a single-use token. */
export interface WebhookDoor extends ReportDoor {
  readonly kind: 'webhook';
  /** Life of the token in the stream's address. */
  readonly streamTokenMs: number;
  /** By default the carrier asks by GET, with all data in an unsigned address. */
  readonly getsByDefault?: true;
  /** All events come to one address: without a call, a request to the voice webhook is read as a report. */
  readonly oneAddress?: true;
  /** The voice webhook in our terms; undefined without a call. Includes the stream token of a dialled call, where it brings one. */
  readCall(body: unknown, botName: string | undefined): InboundCall | { readonly token: string } | undefined;
  readonly answers: AnswerDocuments | AnswerRequests;
  /** Media over TCP instead of a WebSocket. */
  readonly tcp?: TcpMedia;
  /** Set where the carrier also signs the media socket's upgrade. */
  readonly upgrade?: {
    /** Refuses a socket without a valid signature, whatever its token. */
    readonly required: boolean;
    check(request: CarrierRequest): 'good' | 'missing' | 'wrong';
  };
}

/** Media over TCP connections from the carrier; the first message of each names its call. */
export interface TcpMedia {
  readonly framing: TcpFraming;
  /** Listening address; undefined for none. Port 0 takes a free one. */
  readonly listen: { readonly host: string; readonly port: number } | undefined;
  /** Spends the first message's proof and returns its stream token; undefined for an unknown one. */
  tokenOf(first: Buffer): string | undefined;
}

/** The carrier obeys the document in the webhook's answer. */
export interface AnswerDocuments {
  readonly by: 'document';
  readonly contentType: string;
  /** Connects the call to a bidirectional media stream; the call ends with the stream, unless the carrier then asks what comes next. */
  stream(answer: StreamAnswer): string;
  /** Ends an over call, for a carrier that asks at `nextUrl`. */
  over?(): string;
  /** Speaks one sentence with the carrier's own voice and hangs up. @param language of the bot */
  say(text: string, language: string): string;
  /**
   * The document at an address named in our request (`documentUrl`), for carriers whose requests cannot contain one. The signed fetch is also a
   * report; only answered calls get a document. Undefined for an unknown kind.
   */
  fetched?(wanted: WantedDocument): string | undefined;
}

export interface WantedDocument {
  readonly kind: string;
  readonly value: string;
  /** Our own id of a dialled call. */
  readonly callId: string | undefined;
}

/** Address of a document for the carrier to fetch; encoded so that proxies keep it and logs do not show it. */
export function documentUrl(gatewayUrl: string, carrier: string, { kind, value, callId }: WantedDocument): string {
  const path = [kind, Buffer.from(value).toString('base64url'), ...(callId === undefined ? [] : [encodeURIComponent(callId)])];
  return `${gatewayUrl}/carriers/${carrier}/document/${path.join('/')}`;
}

/** Address where a carrier asks what comes after a stream. @param callId our own id */
export function nextUrl(gatewayUrl: string, carrier: string, callId: string): string {
  return `${gatewayUrl}/carriers/${carrier}/next/${encodeURIComponent(callId)}`;
}

/** A media stream's address. @param token single-use */
export function streamUrl(gatewayUrl: string, carrier: string, token: string): string {
  return `${gatewayUrl.replace(/^http/iu, 'ws')}/carriers/${carrier}/stream/${encodeURIComponent(token)}`;
}

/** The carrier waits for our requests; its webhook gets an empty answer. */
export interface AnswerRequests {
  readonly by: 'request';
  /** Answers the call and connects it to a bidirectional media stream. @throws CarrierControlError */
  stream(answer: StreamAnswer, signal: AbortSignal): Promise<void>;
  /** Speaks one sentence with the carrier's own voice and hangs up. @throws CarrierControlError */
  say(carrierCallId: string, text: string, language: string, signal: AbortSignal): Promise<void>;
  /**
   * The next step a report calls for, where ending a call takes several requests (speak once answered, hang up once spoken). Its webhooks carry the
   * needed state, since any process may get them. @throws CarrierControlError
   */
  followUp?(report: unknown, signal: AbortSignal): Promise<void>;
  /** Set where a call outlives its stream at the carrier, and a report says so. */
  readonly next?: NextRequests;
}

/** Requests for what comes after the stream of an answered call. */
export interface NextRequests {
  /** The call whose stream ended; undefined for other reports, or an intended end. @returns `callId`, our own id */
  streamEnded(report: unknown): { readonly carrierCallId: string; readonly callId: string } | undefined;
  /** Connects the call to another media stream. @returns false for an ended call @throws CarrierControlError */
  stream(answer: StreamAnswer, signal: AbortSignal): Promise<boolean>;
  /** Speaks one sentence with the carrier's own voice and hangs up. @throws CarrierControlError */
  say(carrierCallId: string, text: string, language: string, signal: AbortSignal): Promise<void>;
  /** @throws CarrierControlError */
  hangUp(carrierCallId: string, signal: AbortSignal): Promise<void>;
}

/**
 * What a media socket's upgrade brings.
 * - a call, described by the request
 * - `token`: a stream token outside the path (a query that the carrier can only append to)
 * - `at-start`: proven, and the start message will name the call (`StreamStarted.call`); until then the upgraded socket only counts as pending
 * - the refusal status: 401 without valid proof, 400 without a call
 */
export type BroughtCall = InboundCall | { readonly token: string } | 'at-start' | 400 | 401;

/** Calls come as a media socket alone, which carries its own proof; it is admitted or refused before the upgrade. */
export interface SocketDoor {
  readonly kind: 'socket';
  readCall(request: CarrierRequest, botName: string | undefined): BroughtCall;
  /** Set where the carrier also reports on calls. */
  readonly reports?: ReportDoor;
  /** Set where the carrier may first ask for the media socket's address. */
  readonly lookup?: AddressLookup;
}

/** A carrier asks by GET, at `/carriers/<name>/voice/<bot>`, where a call's media goes: to an address with a single-use token. */
export interface AddressLookup {
  readonly streamTokenMs: number;
  /** The start may use a different call id than the lookup: only the token identifies the call. */
  readonly hasOtherIds?: true;
  /** @param query of the address. @returns the call, or the refusal status: 401 without valid proof, 400 without a call */
  readCall(
    request: CarrierRequest,
    query: Readonly<Record<string, string>>,
    botName: string | undefined,
  ): InboundCall | 400 | 401;
  answer(answer: StreamAnswer): { readonly contentType: string; readonly text: string };
}

/**
 * Calls come from our pages, each to an address that this gateway issued with a single-use token (`http/browser-calls.ts`); there is no other proof.
 */
export interface PageDoor {
  readonly kind: 'page';
  /** Life of the token in the stream's address. */
  readonly streamTokenMs: number;
}

export type CarrierDoor = WebhookDoor | SocketDoor | PageDoor;

/** What a carrier's functions get of the process. */
export interface CarrierParts {
  readonly clock: Clock;
  /** Base address of the gateway, as the carrier reaches it. */
  readonly gatewayUrl: () => string;
  /** Reports a dialled call's progress, for a carrier whose events our `control` listens to because it sends no requests. */
  readonly reported?: (callId: string, report: DialledReport) => void;
}

/** A carrier's report on a dialled call. Reports may repeat, overtake each other, or be missing. */
export interface DialledReport {
  readonly carrier: string;
  readonly carrierCallId: string;
  readonly progress?: DialProgress | undefined;
  readonly witness?: CarrierWitness | undefined;
}

/** A carrier's real abilities with Offhook. Those that need its account say so on the carrier's page. */
export interface CarrierOffers {
  /** Audio on the wire, as people write it: `mu-law 8 kHz`, `PCM 8, 16, 24 kHz`. */
  readonly audio: { readonly from: string; readonly to: string };
  /** Proof of webhooks and of media sockets: `HMAC-SHA1`, `token in the path`, … */
  readonly proof: { readonly webhook: string; readonly socket: string };
  /** Places calls. */
  readonly dials: boolean;
  /** Detects who answered. */
  readonly detectsMachines: boolean;
  /** Transfers a caller: by a request, by a message or the end of the stream, or not at all. */
  readonly transfer: 'rest' | 'message' | 'none';
  /** Joins two calls for a warm transfer (`CallControl.join`). */
  readonly joins: boolean;
  /** Sends a copy of both sides of a call between people (`listen`). */
  readonly listens: boolean;
  /** Runs in the operator's own network, so that it can reach a private address of the gateway. */
  readonly ownPremises?: true;
}

/**
 * A complete carrier; all other code knows carriers only through this. List it in `registry.ts`.
 * @see docs/adding-a-carrier.md
 */
export interface Carrier {
  /** In addresses (`/carriers/<name>/…`), settings and logs; lower case. */
  readonly name: string;
  /** Name for people. */
  readonly title: string;
  readonly capabilities: CarrierCapabilities;
  /** For people: `offhook carriers` and the table in docs/carriers/README.md are generated from it. */
  readonly offers: CarrierOffers;
  /** Format to prepare speech in before a leg has started. */
  readonly speechFormat: AudioFormat;
  /** The same where a setting decides it. */
  speechFormatOf?(config: AdapterConfig): AudioFormat | undefined;
  /** Below its name, as `settingFacts` describes each. */
  readonly settings: z.ZodObject;
  readonly secrets: z.ZodObject;
  /** The secret that proves this carrier, and its short environment name; absent with a `PageDoor`. */
  readonly proof?: { readonly secret: string; readonly envName: string };
  /** Environment name of the further secret for call control; absent where calls cannot be acted on. */
  readonly controlEnvName?: string;
  /** The media protocol of one socket. */
  codec(config: AdapterConfig): MediaCodec;
  /** Contradictions between its settings. */
  problems?(config: AdapterConfig): readonly { readonly setting: string; readonly message: string }[];
  startTimeoutMs(config: AdapterConfig): number;
  /** @param proofs secrets in force that prove the sender */
  door(config: AdapterConfig, proofs: readonly Secret[], parts: CarrierParts): CarrierDoor;
  /** Undefined where its account is not configured. */
  control(config: AdapterConfig, parts: CarrierParts): CallControl | undefined;
}

/** A carrier's configuration as its own schema types it. */
export interface TypedConfig<Settings> extends AdapterConfig {
  readonly settings: Settings & Readonly<Record<string, unknown>>;
}

/** A carrier as its own file describes it: its functions take typed settings. */
interface CarrierDescription<Schema extends z.ZodObject, Config = TypedConfig<z.output<Schema>>> extends Omit<
  Carrier,
  'startTimeoutMs' | 'speechFormatOf' | 'codec' | 'problems' | 'door' | 'control'
> {
  readonly settings: Schema;
  speechFormatOf?(config: Config): AudioFormat;
  codec(config: Config): MediaCodec;
  problems?(config: Config): readonly { readonly setting: string; readonly message: string }[];
  door(config: Config, proofs: readonly Secret[], parts: CarrierParts): CarrierDoor;
  control(config: Config, parts: CarrierParts): CallControl | undefined;
}

/** Parses the settings once for each call of a carrier's functions, so that they read typed settings. */
export function defineCarrier<Schema extends z.ZodObject & z.ZodType<{ startTimeoutMs: number }>>(
  described: CarrierDescription<Schema>,
): Carrier {
  const typed = (config: AdapterConfig) => ({ ...config, settings: described.settings.parse(config.settings) });
  return {
    ...described,
    startTimeoutMs: (config) => typed(config).settings.startTimeoutMs,
    speechFormatOf: (config) => described.speechFormatOf?.(typed(config)),
    codec: (config) => described.codec(typed(config)),
    problems: (config) => described.problems?.(typed(config)) ?? [],
    door: (config, ...rest) => described.door(typed(config), ...rest),
    control: (config, ...rest) => described.control(typed(config), ...rest),
  };
}

/** The setting of how long a media socket may take to say its start. */
export const startTimeoutMs = (byDefault: number, most = minute) =>
  millis(100, most, byDefault, 'Time limit from the upgrade of a media socket to its start message');

/** Setting: life of the token in a stream's address. */
export const streamTokenMs = () =>
  millis(1000, 10 * minute, 60_000, "Lifetime of the single-use token in a media stream's address");
