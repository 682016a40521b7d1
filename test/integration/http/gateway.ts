import { once } from 'node:events';
import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js';
import { WebSocket } from 'ws';
import type { Carrier, CarrierParts, DialledReport } from '../../../src/carriers/carrier.ts';
import type { OpenCarrier } from '../../../src/carriers/open-carriers.ts';
import type { Attachment, InboundCall, MediaEvent } from '../../../src/carriers/port.ts';
import { twilio } from '../../../src/carriers/twilio/carrier.ts';
import { type LoadedConfig, loadConfig } from '../../../src/config/load.ts';
import { Secret } from '../../../src/config/secrets.ts';
import type { AdapterConfigs } from '../../../src/config/setting.ts';
import type { CallAnswer } from '../../../src/call/admission/call-door.ts';
import type { CarrierCall } from '../../../src/call/live-session.ts';
import { type CallIntake, ExpectedMedia } from '../../../src/http/intake.ts';
import type { Readiness } from '../../../src/http/routes-health.ts';
import { type HttpServerDeps, createHttpServer } from '../../../src/http/server.ts';
import { configuredAddress } from '../../../src/http/public-addresses.ts';
import { StreamAddresses } from '../../../src/http/stream-addresses.ts';
import { createEvents } from '../../../src/observability/events.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { hangs } from '../../support/patience.ts';

export const authToken = 'the-token-of-the-account';

/** Notes what carriers' routes ask of the calls; one call for each carrier id, a new attachment for each answer. */
export class IntakeNotes implements CallIntake {
  readonly answered: InboundCall[] = [];
  readonly keys: string[] = [];
  readonly attachments: { callId: string; attachment: Attachment; events: MediaEvent[] }[] = [];
  readonly abandoned: { callId: string; attachmentId: string; reason: string }[] = [];
  readonly statuses: string[] = [];
  readonly reported: (DialledReport & { callId: string })[] = [];
  refusal: CallAnswer | Error | undefined;
  /** What a carrier gets that asks what comes behind a stream; `over` when absent. */
  next: CallAnswer | undefined;
  /** Held back until it resolves. */
  delay: Promise<void> | undefined;
  onEvent: ((event: MediaEvent) => void) | undefined;
  #attachments = 0;

  async answer(inbound: InboundCall): Promise<CallAnswer> {
    this.answered.push(inbound);
    await this.delay;
    if (this.refusal instanceof Error) throw this.refusal;
    // Streams of these tests end with their calls.
    if (inbound.next !== undefined) return this.next ?? { kind: 'over' };
    return (
      this.refusal ?? { kind: 'accept', callId: `call_${inbound.carrierCallId}`, attachmentId: `att_${++this.#attachments}` }
    );
  }

  attach(callId: string, attachment: Attachment): void {
    const events: MediaEvent[] = [];
    this.attachments.push({ callId, attachment, events });
    attachment.listen((event) => {
      this.onEvent?.(event);
      events.push(event.type === 'audio' ? { ...event, pcm: event.pcm.slice() } : event);
    });
  }

  abandon(callId: string, attachmentId: string, reason: string): void {
    this.abandoned.push({ callId, attachmentId, reason });
  }

  carrierStatus({ carrierCallId }: CarrierCall, status: string, terminal: boolean): void {
    this.statuses.push(`${carrierCallId} ${status} ${terminal}`);
  }

  keyReported({ carrierCallId }: CarrierCall, digit: string): void {
    this.keys.push(`${carrierCallId} ${digit}`);
  }

  dialReported(callId: string, report: DialledReport): void {
    this.reported.push({ callId, ...report });
  }
}

export interface GatewayOptions {
  readonly env?: Record<string, string>;
  readonly tokens?: readonly string[];
  readonly loopbackOnly?: boolean;
  /** Carriers beside Twilio, each with the secrets that the environment has for it, else with the same. */
  readonly others?: readonly Carrier[];
  readonly readiness?: Readiness | Promise<Readiness>;
  readonly board?: HttpServerDeps['board'];
  readonly media?: HttpServerDeps['media'];
  readonly api?: HttpServerDeps['api'];
  readonly console?: Omit<NonNullable<HttpServerDeps['console']>, 'settings'>;
}

/** By what they were read of: to read one takes a fifth of a test. */
const configs = new Map<string, LoadedConfig>();

function configOf(env: Readonly<Record<string, string>>): LoadedConfig {
  const key = JSON.stringify(env);
  const config = configs.get(key) ?? loadConfig({ env, files: [] });
  configs.set(key, config);
  return config;
}

/** The HTTP application on a free loopback port, with its own clock and a log that can be read. */
export async function startGateway(options: GatewayOptions = {}) {
  const { settings, carriers, problems } = configOf(options.env ?? {});
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  const lines: string[] = [];
  const clock = new ManualClock();
  const intake = new IntakeNotes();
  const metrics = createMetrics();
  const logger = createLogger({ level: 'debug', stream: { write: (line) => void lines.push(line) } });
  const baseUrl = (): string => configuredAddress(settings.publicUrl) ?? url;
  const open = openTwilio(options, carriers, { clock, gatewayUrl: baseUrl });
  const expected = new ExpectedMedia(clock, intake);
  const streams = new StreamAddresses({
    baseUrl,
    carriers: open,
    media: expected,
    clock,
  });
  const app = createHttpServer({
    settings,
    clock,
    logger,
    events: createEvents(logger, metrics, clock),
    metrics,
    intake,
    carriers: open,
    ...(options.media === undefined ? { expected, streams } : {}),
    board: options.board,
    ...(options.api === undefined ? {} : { api: options.api }),
    console: options.console && { settings: settings.console, ...options.console },
    ...(options.media === undefined ? {} : { media: options.media }),
    redeem: (secret, token) => (secret === 'bot-secret' && token === 'tok' ? '4111111111111111' : undefined),
    ready: async () => options.readiness ?? { ready: true, parts: { platform: 'ok' } },
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return { url, app, streams, clock, intake, metrics, lines, [Symbol.asyncDispose]: () => app.close() };
}

/** Twilio with these tokens, and whatever other carriers a test brings. */
function openTwilio(
  { tokens = [authToken], loopbackOnly = false, others = [] }: GatewayOptions,
  configs: AdapterConfigs,
  parts: CarrierParts,
) {
  const open = (carrier: Carrier, proofs: readonly Secret[], only: boolean): [string, OpenCarrier] => {
    const config = configs.get(carrier.name) ?? { settings: {}, secrets: {} };
    const given = config.secrets[carrier.proof?.secret ?? ''] ?? [];
    const opened = {
      carrier,
      route: `/carriers/${carrier.name}`,
      publicUrl: undefined,
      door: carrier.door(config, given.length > 0 ? given : proofs, parts),
      loopbackOnly: only,
      startTimeoutMs: carrier.startTimeoutMs(config),
      codec: () => carrier.codec(config),
      control: carrier.control(config, parts),
      speechFormat: carrier.speechFormat,
    };
    return [carrier.name, opened];
  };
  const secrets = tokens.map((token) => new Secret(token));
  return new Map([open(twilio, secrets, loopbackOnly), ...others.map((carrier) => open(carrier, secrets, false))]);
}

export type Gateway = Awaited<ReturnType<typeof startGateway>>;

export interface Webhook {
  readonly path?: string;
  readonly fields?: Record<string, string>;
  readonly token?: string;
  /** The address that is signed, when it is not the one posted to. */
  readonly signedUrl?: string;
  readonly headers?: Record<string, string>;
  readonly unsigned?: true;
}

export const callFields = { CallSid: `CA${'2'.repeat(32)}`, From: '+15550100', To: '+15550200', Direction: 'inbound' };

/** Posts a signed form, as the carrier does. */
export function post(gateway: Gateway, webhook: Webhook = {}): Promise<Response> {
  const url = gateway.url + (webhook.path ?? '/carriers/twilio/voice');
  const fields = webhook.fields ?? callFields;
  const signature = getExpectedTwilioSignature(webhook.token ?? authToken, webhook.signedUrl ?? url, fields);
  const signed: Record<string, string> = webhook.unsigned === true ? {} : { 'x-twilio-signature': signature };
  return fetch(url, { method: 'POST', headers: { ...signed, ...webhook.headers }, body: new URLSearchParams(fields) });
}

/** The stream address in an answer document. */
export function streamUrlOf(twiml: string): string {
  const url = /<Stream url="([^"]+)">/.exec(twiml)?.[1];
  if (url === undefined) throw new Error(`no stream in ${twiml}`);
  return url;
}

export async function answer(gateway: Gateway, webhook: Webhook = {}): Promise<string> {
  return streamUrlOf(await (await post(gateway, webhook)).text());
}

export const upgradeHeader = (url: string, token = authToken) => ({
  'x-twilio-signature': getExpectedTwilioSignature(token, url, {}),
});

/** Opens a media socket, or gives the status it was refused with. */
export async function openStream(url: string, headers: Record<string, string> = upgradeHeader(url)): Promise<WebSocket | number> {
  const socket = new WebSocket(url, { headers });
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(socket));
    socket.once('unexpected-response', (request, response) => {
      request.destroy();
      resolve(response.statusCode ?? 0);
    });
    socket.on('error', reject);
  });
}

export async function openSocket(url: string, headers?: Record<string, string>): Promise<WebSocket> {
  const opened = await openStream(url, headers);
  if (typeof opened === 'number') throw new Error(`refused with ${opened}`);
  return opened;
}

export async function closeOf(socket: WebSocket): Promise<{ code: number; reason: string }> {
  const [code, reason] = (await once(socket, 'close', { signal: hangs() })) as [number, Buffer];
  return { code, reason: reason.toString('utf8') };
}
