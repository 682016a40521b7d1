import type { z } from 'zod';
import type { AudioFormat } from '../audio/format.ts';
import type { Secret } from '../config/secrets.ts';
import { type AdapterConfig, millis, minute } from '../config/setting.ts';
import type { Clock } from '../kernel/clock.ts';
import type { MediaCodec } from './media-codec.ts';
import type { TcpFraming } from './tcp-connection.ts';
import type { CallControl, CarrierCapabilities, CarrierWitness, DialProgress, InboundCall } from './port.ts';

/** A request of a carrier, as far as its proof and its facts go. */
export interface CarrierRequest {
  /** Addresses the carrier may have been given for it, in full, with their query. Never built from what its headers claim. */
  readonly urls: readonly string[];
  /** By lower-case names; one that came twice is one text. */
  readonly headers: Readonly<Record<string, string>>;
  /** Who sends it: the address of the connection, which behind a proxy is the proxy's. */
  readonly address: string;
}

export interface SignedBody {
  /** As it came. */
  readonly raw: string;
  /** As parsed: the fields of a form, a repeated one as a list, or a JSON value. */
  readonly parsed: unknown;
}

/** A call status callback, or one about the call's stream on the same address. */
export interface CarrierStatus {
  readonly carrierCallId: string;
  readonly status: string;
  /** The call is over; nothing but an end follows. */
  readonly terminal: boolean;
  readonly streamError: string | undefined;
  /** How far a dialled call has come, where the report says so. */
  readonly progress?: DialProgress | undefined;
  /** Who answered, as the carrier's detection has it. */
  readonly witness?: CarrierWitness | undefined;
  /** A key that was pressed, where the carrier's stream has none: 0-9, *, #, A-D. */
  readonly digit?: string | undefined;
  /** An answer document in place of nothing, where the carrier asks what the caller is to hear now. */
  readonly document?: { readonly contentType: string; readonly text: string };
}

export interface StreamAnswer {
  /** `wss` address, or `ws` on loopback; without a query. */
  readonly url: string;
  /** Where the status callback is. */
  readonly statusUrl: string;
  readonly callId: string;
  /** Undefined where the call is still to be placed. */
  readonly carrierCallId: string | undefined;
}

/** Signed reports on calls, at `/carriers/<name>/status/<our call id>`. */
export interface ReportDoor {
  readonly body: 'form' | 'json';
  /** The header that proves who sends, as messages name it; or, with `inQuery`, a parameter of ours in the address that the carrier was given. */
  readonly header: string;
  /** The carrier signs nothing and sends no header of ours. */
  readonly inQuery?: true;
  /** The carrier sends its credentials only to a request that was refused with 401 and this `WWW-Authenticate` (RFC 7235). */
  readonly challenge?: string;
  /** What that header carries, where it has the form of a proof at all: looked at before the body is read. */
  isProof(header: string): boolean;
  /** Whether the carrier sent this. */
  isSigned(request: CarrierRequest, body: SignedBody): boolean | Promise<boolean>;
  /** What a signed request holds that the carrier uses once (a nonce): another request with the same is refused as replayed. */
  nonceOf?(request: CarrierRequest): string | undefined;
  /** Undefined when it names no call or no status. */
  readStatus(body: unknown): CarrierStatus | undefined;
  /** What a webhook that cannot be read lacks, for whoever sent it. */
  readonly needs: { readonly call: string; readonly status: string };
}

/** Calls come by a signed webhook, whose answer document has the carrier open a media socket at an address with a single-use token. */
export interface WebhookDoor extends ReportDoor {
  readonly kind: 'webhook';
  /** Life of the token in the stream's address. */
  readonly streamTokenMs: number;
  /** Unless it is told otherwise, the carrier asks by GET, with everything in an address that it does not sign. */
  readonly getsByDefault?: true;
  /** All events come to one address: what names no call at the voice webhook's address is read as a report. */
  readonly oneAddress?: true;
  /** The voice webhook in our words; undefined when it names no call, and the stream token of a call that we dialled where it brings that. */
  readCall(body: unknown, botName: string | undefined): InboundCall | { readonly token: string } | undefined;
  readonly answers: AnswerDocuments | AnswerRequests;
  /** Where the media comes over TCP in place of a WebSocket. */
  readonly tcp?: TcpMedia;
  /** Where the carrier signs the upgrade of the media socket too. */
  readonly upgrade?: {
    /** Refuse a socket without a right signature, whatever its token. */
    readonly required: boolean;
    check(request: CarrierRequest): 'good' | 'missing' | 'wrong';
  };
}

/** Media over TCP connections that the carrier opens: the first message of each names its call. */
export interface TcpMedia {
  readonly framing: TcpFraming;
  /** Where connections are taken; undefined for nowhere. Port 0 takes a free one. */
  readonly listen: { readonly host: string; readonly port: number } | undefined;
  /** The stream token that a connection's first message stands for, once; undefined where it stands for none. */
  tokenOf(first: Buffer): string | undefined;
}

/** The carrier obeys what its webhook is answered with. */
export interface AnswerDocuments {
  readonly by: 'document';
  readonly contentType: string;
  /** Connects the call to a media stream in both directions; the call ends when the stream does, where the carrier asks nothing at its end. */
  stream(answer: StreamAnswer): string;
  /** Ends the call: for a carrier that asks at `nextUrl` what comes behind the stream of a call that is over. */
  over?(): string;
  /** Speaks one sentence with the carrier's own voice and hangs up. @param language of the bot */
  say(text: string, language: string): string;
  /**
   * The document at an address that a request of ours named (`documentUrl`), for carriers whose requests carry no document themselves. It is
   * fetched by a signed request that is a report as well; only a call that was answered is given a document. Undefined for an unknown kind.
   */
  fetched?(wanted: WantedDocument): string | undefined;
}

export interface WantedDocument {
  readonly kind: string;
  readonly value: string;
  /** Our own id, where the document is of a call that we dialled. */
  readonly callId: string | undefined;
}

/** The address of a document that the carrier is to fetch; the value is written in a way that no proxy rewrites and no log shows. */
export function documentUrl(gatewayUrl: string, carrier: string, { kind, value, callId }: WantedDocument): string {
  const path = [kind, Buffer.from(value).toString('base64url'), ...(callId === undefined ? [] : [encodeURIComponent(callId)])];
  return `${gatewayUrl}/carriers/${carrier}/document/${path.join('/')}`;
}

/** Where a carrier asks what comes behind the stream of a call. @param callId our own id */
export function nextUrl(gatewayUrl: string, carrier: string, callId: string): string {
  return `${gatewayUrl}/carriers/${carrier}/next/${encodeURIComponent(callId)}`;
}

/** The carrier waits for requests of ours; its webhook is answered with nothing. */
export interface AnswerRequests {
  readonly by: 'request';
  /** Answers the call and connects it to a media stream in both directions. @throws CarrierControlError */
  stream(answer: StreamAnswer, signal: AbortSignal): Promise<void>;
  /** Speaks one sentence with the carrier's own voice and hangs up. @throws CarrierControlError */
  say(carrierCallId: string, text: string, language: string, signal: AbortSignal): Promise<void>;
  /**
   * What a report asks for next, where ending a call takes a request after each of its steps (speak once it is answered, hang up once that was
   * spoken). Its webhooks bring along whatever that needs, as any process may get them. @throws CarrierControlError
   */
  followUp?(report: unknown, signal: AbortSignal): Promise<void>;
  /** Where a call goes on at the carrier when its stream has ended, and a report says so. */
  readonly next?: NextRequests;
}

/** What comes behind the stream of a call that was answered, by requests. */
export interface NextRequests {
  /** The call whose stream has ended; undefined where another thing is reported, or the stream was to end. @returns `callId`, our own id */
  streamEnded(report: unknown): { readonly carrierCallId: string; readonly callId: string } | undefined;
  /** Connects the call to another media stream. @returns false for a call that is over @throws CarrierControlError */
  stream(answer: StreamAnswer, signal: AbortSignal): Promise<boolean>;
  /** Speaks one sentence with the carrier's own voice and hangs up. @throws CarrierControlError */
  say(carrierCallId: string, text: string, language: string, signal: AbortSignal): Promise<void>;
  /** @throws CarrierControlError */
  hangUp(carrierCallId: string, signal: AbortSignal): Promise<void>;
}

/**
 * What the upgrade of a media socket brings.
 * - a call, told by the request
 * - `token`: a stream token that came elsewhere than in the path (a query that the carrier can only append to)
 * - `at-start`: the proof is right, and the start message says which call it is (`StreamStarted.call`). The socket waits for it, upgraded
 *   and counted as pending; nothing is made for it before.
 * - the status that it is refused with: 401 without a right proof, 400 without a call
 */
export type BroughtCall = InboundCall | { readonly token: string } | 'at-start' | 400 | 401;

/** Calls come as a media socket alone, which proves who opens it: it is admitted, or refused, before it is upgraded. */
export interface SocketDoor {
  readonly kind: 'socket';
  readCall(request: CarrierRequest, botName: string | undefined): BroughtCall;
  /** Where the carrier reports on calls as well. */
  readonly reports?: ReportDoor;
  /** Where the carrier may ask for the address of a call's media socket first. */
  readonly lookup?: AddressLookup;
}

/** A carrier asks by GET, at `/carriers/<name>/voice/<bot>`, where the media of a call goes: to an address with a single-use token. */
export interface AddressLookup {
  /** Life of that token. */
  readonly streamTokenMs: number;
  /** The start may name the call by another id than the one that was asked with: the token alone says which call it is. */
  readonly hasOtherIds?: true;
  /** @param query of the address. @returns the call, or the status that the request is refused with: 401 without a right proof, 400 without a call */
  readCall(
    request: CarrierRequest,
    query: Readonly<Record<string, string>>,
    botName: string | undefined,
  ): InboundCall | 400 | 401;
  answer(answer: StreamAnswer): { readonly contentType: string; readonly text: string };
}

/** Calls come from pages of ours, each to an address that this gateway gave out with a single-use token (`http/browser-calls.ts`): nobody else is believed. */
export interface PageDoor {
  readonly kind: 'page';
  /** Life of the token in the stream's address. */
  readonly streamTokenMs: number;
}

export type CarrierDoor = WebhookDoor | SocketDoor | PageDoor;

/** What a carrier's own functions get of the process. */
export interface CarrierParts {
  readonly clock: Clock;
  /** Base address of the gateway, as the carrier reaches it. */
  readonly gatewayUrl: () => string;
  /** Told how far a dialled call has come, by a carrier whose events we listen to: its `control` does that, and no request of its own says it. */
  readonly reported?: (callId: string, report: DialledReport) => void;
}

/** What a carrier reports on a call that we dialled. Reports may be repeated, overtake each other, or never come. */
export interface DialledReport {
  readonly carrier: string;
  readonly carrierCallId: string;
  readonly progress?: DialProgress | undefined;
  readonly witness?: CarrierWitness | undefined;
}

/** What a carrier can do with Offhook, truthfully. What needs its account says so on the carrier's page. */
export interface CarrierOffers {
  /** What comes in and goes out on the wire, as people write it: `mu-law 8 kHz`, `PCM 8, 16, 24 kHz`. */
  readonly audio: { readonly from: string; readonly to: string };
  /** What proves webhooks, and what proves media sockets: `HMAC-SHA1`, `token in the path`, … */
  readonly proof: { readonly webhook: string; readonly socket: string };
  /** Places calls. */
  readonly dials: boolean;
  /** Says who answered. */
  readonly detectsMachines: boolean;
  /** Passes a caller on: by a request, by a message or the end of the stream, or not at all. */
  readonly transfer: 'rest' | 'message' | 'none';
  /** A warm transfer: the carrier joins two calls (`CallControl.join`). */
  readonly joins: boolean;
  /** Sends a copy of both sides of a call between people (`listen`). */
  readonly listens: boolean;
  /** Runs in the operator's own network, so that a private address of the gateway reaches it. */
  readonly ownPremises?: true;
}

/**
 * One carrier, whole: everything else knows carriers by this alone. To be listed in `registry.ts`.
 * @see docs/adding-a-carrier.md
 */
export interface Carrier {
  /** In addresses (`/carriers/<name>/…`), settings and logs; lower case. */
  readonly name: string;
  /** As people write it. */
  readonly title: string;
  readonly capabilities: CarrierCapabilities;
  /** For people: `offhook carriers` and the table in docs/carriers/README.md are made from it. */
  readonly offers: CarrierOffers;
  /** What speech is prepared as before a leg has said what it has. */
  readonly speechFormat: AudioFormat;
  /** The same where a setting decides it. */
  speechFormatOf?(config: AdapterConfig): AudioFormat | undefined;
  /** Below its name, as `settingFacts` describes each. */
  readonly settings: z.ZodObject;
  readonly secrets: z.ZodObject;
  /** Name of the secret without which nobody is believed to be this carrier, and its short environment name; absent with a `PageDoor`. */
  readonly proof?: { readonly secret: string; readonly envName: string };
  /** Environment name of what call control needs beside that; absent where nothing acts on its calls. */
  readonly controlEnvName?: string;
  /** The media protocol of one socket. */
  codec(config: AdapterConfig): MediaCodec;
  /** What is wrong between its settings. */
  problems?(config: AdapterConfig): readonly { readonly setting: string; readonly message: string }[];
  startTimeoutMs(config: AdapterConfig): number;
  /** @param proofs the secrets in force that prove who sends */
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

/** The setting of how long the token in a stream's address lives. */
export const streamTokenMs = () =>
  millis(1000, 10 * minute, 60_000, "Lifetime of the single-use token in a media stream's address");
