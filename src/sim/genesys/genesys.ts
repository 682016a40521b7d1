import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import { gatewayPath, StreamCall } from '../carrier-call.ts';
import { CarrierLine, type LineOptions } from '../carrier-line.ts';
import { type CarrierWire, openWebSocket, reachedAddress } from '../carrier-wire.ts';
import { CallRefused } from '../errors.ts';
import type { PlaceAtOptions, PlaceOptions, SimulatedCarrier } from '../simulated-carrier.ts';

/*
 * Genesys Cloud from its own side: an Audio Connector session (or AudioHook Monitor's) after the protocol's types and the audiohook reference implementation.
 */

const API_KEY = 'SGVsbG8sIEkgYW0gdGhlIEFQSSBrZXkh';
const CLIENT_SECRET = 'TXlTdXBlclNlY3JldEtleVRlbGxOby0xITJAMyM0JDU=';
const PCMU = { encoding: 'mulaw', rateHz: 8_000 } as const;
/** Of one message of audio. */
const MOST_BYTES = 64_000;
/** The real limits are not public; a bot that sends large pieces stays far below these. */
const MOST_MESSAGES_A_SECOND = 12;

interface ServerMessage {
  readonly version?: string;
  readonly id?: string;
  readonly type?: string;
  readonly seq?: number;
  readonly clientseq?: number;
  readonly parameters?: Readonly<Record<string, unknown>>;
}

export interface GenesysSession {
  readonly id: string;
  readonly conversationId: string;
  readonly organizationId: string;
  readonly from: string;
  readonly to: string;
  readonly monitor: boolean;
  /** Of the `open`, in place of what it has. */
  readonly opens: Readonly<Record<string, unknown>>;
}

/** One session: strict with sequence numbers, and fed up with too many messages. */
class SimulatedGenesysStream extends CarrierLine {
  /** Resolves when the gateway has opened the session; rejects when it ends before. */
  readonly opened: Promise<void>;
  /** What the gateway said goodbye with. */
  outputVariables: Readonly<Record<string, unknown>> = {};
  /** Why the gateway disconnected, in its words, and in full. */
  disconnected: { readonly reason: string; readonly info?: string } | undefined;
  readonly #session: GenesysSession;
  #seq = 0;
  #serverSeq = 0;
  #isPlaying = false;
  #recent: number[] = [];
  #onOpened: () => void = () => undefined;

  constructor(wire: CarrierWire, clock: Clock, session: GenesysSession, line: LineOptions) {
    super(wire, clock, { from: PCMU, to: PCMU, ...(session.monitor ? { sides: 'stereo' } : {}) }, line);
    this.#session = session;
    this.opened = new Promise((resolve, reject) => {
      this.#onOpened = resolve;
      void this.ended.then(() => reject(new Error('the session ended before it was opened')));
    });
    const media = (channels: readonly string[]) => ({ type: 'audio', format: 'PCMU', channels, rate: 8000 });
    this.#tell('open', {
      organizationId: session.organizationId,
      conversationId: session.conversationId,
      participant: { id: randomUUID(), ani: session.from, aniName: 'Caller', dnis: session.to },
      media: session.monitor
        ? [media(['external', 'internal']), media(['external']), media(['internal'])]
        : [media(['external'])],
      language: 'en-US',
      ...session.opens,
    });
    this.watch(() => this.#played());
  }

  protected override sendDigit(digit: string): void {
    this.#tell('dtmf', { digit });
  }

  protected override goodbye(): 'wait' {
    this.#tell('close', { reason: 'end' });
    return 'wait';
  }

  protected override received(message: Buffer, isBinary: boolean): void {
    const nowMs = this.clock.nowMs();
    this.#recent = [...this.#recent.filter((atMs) => nowMs - atMs < 1_000), nowMs];
    if (this.#recent.length > MOST_MESSAGES_A_SECOND) {
      this.complain('429: too many messages');
      this.#tell('error', { code: 429, message: 'Rate limit exceeded', retryAfter: 'PT3S' });
      return;
    }
    if (isBinary) return this.#audio(message);
    const told = JSON.parse(message.toString('utf8')) as ServerMessage;
    const { version, id, seq, clientseq = 0 } = told;
    if (version !== '2' || id !== this.#session.id) return this.#violated('another session');
    if (seq !== this.#serverSeq + 1) return this.#violated(`seq ${String(seq)} after ${this.#serverSeq}`);
    if (clientseq > this.#seq) return this.#violated(`clientseq ${clientseq}, and ${this.#seq} was sent`);
    this.#serverSeq = seq;
    this.#message(told);
  }

  #message({ type = '', parameters = {} }: ServerMessage): void {
    switch (type) {
      case 'opened': {
        const media = parameters['media'];
        if (!Array.isArray(media) || media.length !== 1) return this.#violated('opened has to choose one of the media');
        this.#onOpened();
        this.begin();
        this.#tell('ping', { rtt: 'PT0.02S' });
        return;
      }
      case 'event': {
        const [entity] = parameters['entities'] as readonly { readonly type: string }[];
        if (entity?.type === 'barge_in') this.clear();
        else this.complain(`unknown entity ${String(entity?.type)}`);
        return;
      }
      case 'disconnect':
        this.disconnected = parameters as { readonly reason: string; readonly info?: string };
        this.outputVariables = (parameters['outputVariables'] ?? {}) as Readonly<Record<string, unknown>>;
        this.#tell('close', { reason: 'disconnect' });
        return;
      case 'closed':
        return this.close(1000);
      case 'pong':
      case 'updated':
        return;
      default:
        this.complain(`unknown message ${type}`);
    }
  }

  #audio(message: Buffer): void {
    if (message.length > MOST_BYTES) return this.complain(`413: ${message.length} bytes of audio`);
    if (this.#session.monitor) return this.complain('audio for a session that plays none');
    this.play(message);
    if (this.#isPlaying) return;
    this.#isPlaying = true;
    this.#tell('playback_started', {});
  }

  #played(): void {
    if (!this.#isPlaying || this.playout.queuedMs > 0) return;
    this.#isPlaying = false;
    this.#tell('playback_completed', {});
  }

  #violated(problem: string): void {
    this.complain(problem);
    this.#tell('close', { reason: 'error' });
  }

  #tell(type: string, parameters: object): void {
    this.#seq += 1;
    const position = `PT${(this.nowMs / 1000).toFixed(3)}S`;
    const about = { version: '2', id: this.#session.id, type, seq: this.#seq, serverseq: this.#serverSeq, position };
    this.tell({ ...about, parameters });
  }
}

class SimulatedGenesysCall extends StreamCall<SimulatedGenesysStream> {
  /** Whom the flow transfers the caller to, by its variable. */
  override get dialled(): string | undefined {
    const to = this.line.outputVariables['offhookTransferTo'];
    return typeof to === 'string' ? to : undefined;
  }
}

export interface GenesysPlaceOptions extends PlaceOptions {
  readonly clientSecret: string;
  readonly apiKey?: string;
  /** A copy of a call between people. */
  readonly monitor?: boolean;
  /** Parameters of the `open` in place of the usual ones. */
  readonly opens?: Readonly<Record<string, unknown>>;
}

/** Opens a session as Genesys does. @throws CallRefused, with the reason of a `disconnect` in place of an opened session */
export async function openGenesysSession(options: GenesysPlaceOptions): Promise<SimulatedGenesysCall> {
  const { url, connectTo, clock, clientSecret, apiKey = API_KEY, stream = {}, monitor = false, opens = {} } = options;
  const { from = '+15550100001', to = '+15550100002', carrierCallId: conversationId = randomUUID() } = options;
  const session = { id: randomUUID(), conversationId, organizationId: randomUUID(), from, to, monitor, opens };
  const address = new URL(gatewayPath('genesys', 'media', options), url);
  const headers = signedHeaders(session, address, { clientSecret, apiKey, wallMs: clock.wallMs() });
  let line: SimulatedGenesysStream | undefined;
  try {
    const wire = await openWebSocket(reachedAddress(address.href.replace(/^http/iu, 'ws'), { url, connectTo }), { headers });
    line = new SimulatedGenesysStream(wire, clock, session, stream);
    await line.opened;
    return new SimulatedGenesysCall(conversationId, line);
  } catch {
    const { reason, info } = line?.disconnected ?? {};
    throw new CallRefused('the gateway does not open the session', reason === undefined ? [] : [`${reason}: ${info ?? ''}`]);
  }
}

function signedHeaders(
  session: GenesysSession,
  address: URL,
  { clientSecret, apiKey, wallMs }: { readonly clientSecret: string; readonly apiKey: string; readonly wallMs: number },
): Record<string, string> {
  const headers: Record<string, string> = {
    'audiohook-organization-id': session.organizationId,
    'audiohook-session-id': session.id,
    'audiohook-correlation-id': randomUUID(),
    'x-api-key': apiKey,
  };
  const covered = ['@request-target', '@authority', ...Object.keys(headers)];
  const created = Math.floor(wallMs / 1000);
  const nonce = randomBytes(16).toString('base64');
  const list = `(${covered.map((name) => `"${name}"`).join(' ')})`;
  const params = `${list};keyid="${apiKey}";nonce="${nonce}";alg="hmac-sha256";created=${created};expires=${created + 10}`;
  const values = { '@request-target': address.pathname + address.search, '@authority': address.host, ...headers };
  const lines = Object.entries(values).map(([name, value]) => `"${name}": ${value}`);
  const base = [...lines, `"@signature-params": ${params}`].join('\n');
  const signature = createHmac('sha256', Buffer.from(clientSecret, 'base64')).update(base).digest('base64');
  return { ...headers, 'signature-input': `sig1=${params}`, signature: `sig1=:${signature}:` };
}

export const simulatedGenesys: SimulatedCarrier = {
  name: 'genesys',
  open: () =>
    Promise.resolve({
      env: { OFFHOOK_GENESYS_CLIENT_SECRET: CLIENT_SECRET, OFFHOOK_GENESYS_API_KEY: API_KEY },
      place: (options) => openGenesysSession({ ...options, clientSecret: CLIENT_SECRET }),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
  place: (options: PlaceAtOptions) => openGenesysSession({ ...options, clientSecret: options.proof }),
};
