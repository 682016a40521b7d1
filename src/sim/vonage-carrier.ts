import { createHash, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { WebSocket } from 'ws';
import { resample } from '../audio/resample.ts';
import type { Clock, Timer } from '../kernel/clock.ts';
import { errorText } from '../kernel/errors.ts';
import type { CallerLine } from './caller.ts';
import { CallRefused } from './errors.ts';
import { PlayoutBuffer } from './playout-buffer.ts';

/*
 * Vonage's Voice API from its own side, written from its documents: a signed answer webhook, the NCCO, its socket of binary frames
 * with JSON beside them, and events of the call.
 */

export interface VonageDialOptions {
  /** The gateway's address. */
  readonly url: string;
  readonly signatureSecret: string;
  readonly clock: Clock;
  readonly applicationId?: string;
  readonly from?: string;
  readonly to?: string;
  readonly bot?: string;
}

type NccoAction = { readonly action: string; readonly [field: string]: unknown };
type WebsocketEndpoint = {
  readonly type: 'websocket';
  readonly uri: string;
  readonly 'content-type': string;
  readonly headers?: Readonly<Record<string, string>>;
};

const FRAME_MS = 20;
/** Messages that may wait to be played. */
const MOST_WAITING = 3_072;
const CALLER_RATE_HZ = 8_000;

/** One media socket, with a buffer of its own and the caller's ear behind it. */
export class SimulatedVonageStream {
  readonly rateHz: number;
  /** What the ear hears, at `rateHz`. */
  readonly buffer: PlayoutBuffer;
  /** What a carrier would complain of: frames of a wrong length, messages it does not know. */
  readonly complaints: string[] = [];
  /** Lengths of binary messages from the gateway, in bytes, and how often each came. */
  readonly frameBytes = new Map<number, number>();
  readonly texts: string[] = [];
  readonly ended: Promise<{ readonly byGateway: boolean; readonly code: number }>;
  readonly #watchers = new Set<() => void>();
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  #waiting: Int16Array;
  #frames = 0;
  #startedMs = 0;
  #timer: Timer | undefined;
  #stopped = false;

  private constructor(socket: WebSocket, rateHz: number, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
    this.rateHz = rateHz;
    this.#waiting = new Int16Array();
    this.buffer = new PlayoutBuffer('pcm16', 0, rateHz);
    this.ended = new Promise((resolve) => {
      socket.once('close', (code) => {
        this.#timer?.cancel();
        for (const watch of this.#watchers) watch();
        resolve({ byGateway: !this.#stopped, code });
      });
    });
    socket.on('error', () => undefined);
    socket.on('message', (data: Buffer, isBinary) => (isBinary ? this.#audio(data) : this.#command(data.toString('utf8'))));
  }

  /** @throws when the gateway does not upgrade the socket */
  static async open(
    { uri, 'content-type': contentType, headers = {} }: WebsocketEndpoint,
    clock: Clock,
  ): Promise<SimulatedVonageStream> {
    const rateHz = Number(/^audio\/l16;rate=(8000|16000|24000)$/u.exec(contentType)?.[1]);
    if (Number.isNaN(rateHz)) throw new Error(`content-type ${contentType} is none that the endpoint takes`);
    if (JSON.stringify(headers).length > 512) throw new Error('headers of more than 512 bytes');
    const socket = new WebSocket(uri, { perMessageDeflate: false, handshakeTimeout: 5_000 });
    const stream = new SimulatedVonageStream(socket, rateHz, clock);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', () => resolve());
      socket.once('error', reject);
    });
    stream.#startedMs = clock.nowMs();
    socket.send(JSON.stringify({ event: 'websocket:connected', 'content-type': contentType, ...headers }));
    stream.#arm();
    return stream;
  }

  get open(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** Ms since the stream began. */
  get nowMs(): number {
    return this.#clock.nowMs() - this.#startedMs;
  }

  get silent(): boolean {
    return this.#waiting.length === 0;
  }

  /** Queues caller audio at 8 kHz, as callers of the public network sound. @returns when it begins, in ms since the stream began */
  say(pcm: Int16Array): number {
    const wide = resample(pcm, CALLER_RATE_HZ, this.rateHz);
    const beginsMs = this.#frames * FRAME_MS + (this.#waiting.length * 1000) / this.rateHz;
    const joined = new Int16Array(this.#waiting.length + wide.length);
    joined.set(this.#waiting);
    joined.set(wide, this.#waiting.length);
    this.#waiting = joined;
    return beginsMs;
  }

  /** Calls back after every 20 ms of the stream and when it ends. @returns a function that stops it */
  watch(listener: () => void): () => void {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  /** The stream as a scripted caller has it. */
  get line(): CallerLine {
    return new ThinnedLine(this);
  }

  press(digit: string): void {
    this.#tell({ event: 'websocket:dtmf', digit, duration: 260 });
  }

  /** The call ends at the carrier: the socket is closed, and nothing is said before. */
  stop(): void {
    this.#stopped = true;
    this.#socket.close(1000);
  }

  #arm(): void {
    const dueMs = (this.#frames + 1) * FRAME_MS;
    this.#timer = this.#clock.after(Math.max(0, dueMs - this.nowMs), () => {
      if (!this.open) return;
      while ((this.#frames + 1) * FRAME_MS <= this.nowMs) this.#sendFrame();
      this.#report(this.buffer.advance(this.nowMs));
      for (const watch of this.#watchers) watch();
      this.#arm();
    });
  }

  #sendFrame(): void {
    const frame = new Int16Array((this.rateHz * FRAME_MS) / 1000);
    frame.set(this.#waiting.subarray(0, frame.length));
    this.#waiting = this.#waiting.slice(frame.length);
    this.#frames += 1;
    const bytes = Buffer.alloc(frame.length * 2);
    for (const [index, sample] of frame.entries()) bytes.writeInt16LE(sample, index * 2);
    this.#socket.send(bytes);
  }

  #audio(data: Buffer): void {
    this.frameBytes.set(data.length, (this.frameBytes.get(data.length) ?? 0) + 1);
    const wanted = (this.rateHz * FRAME_MS) / 500;
    if (data.length !== wanted) {
      this.complaints.push(`frame size ${data.length / 2}, when required ${wanted / 2}`);
      this.#socket.terminate();
      return;
    }
    this.buffer.append(data, this.nowMs);
    if (this.buffer.queuedMs / FRAME_MS > MOST_WAITING) this.complaints.push(`more than ${MOST_WAITING} messages wait`);
  }

  #command(text: string): void {
    this.texts.push(text);
    const command: unknown = JSON.parse(text);
    if (!isObject(command)) return;
    this.#report(this.buffer.advance(this.nowMs));
    const { action, payload } = command;
    if (action === 'clear') {
      // Whether notifications that wait come back is not documented; here they are gone with the audio.
      this.buffer.clear(this.nowMs);
      this.#tell({ event: 'websocket:cleared' });
    } else if (action === 'notify' && isObject(payload)) {
      this.buffer.mark(JSON.stringify(payload), this.nowMs);
      this.#report(this.buffer.advance(this.nowMs));
    } else this.complaints.push(`unknown command ${text.slice(0, 60)}`);
  }

  #report(payloads: readonly string[]): void {
    for (const payload of payloads) this.#tell({ event: 'websocket:notify', payload: JSON.parse(payload) as unknown });
  }

  #tell(message: object): void {
    if (this.open) this.#socket.send(JSON.stringify(message));
  }
}

/** A wideband stream for a caller whose ear is made for 8 kHz and goes by level alone: every so many samples of what is heard. */
class ThinnedLine implements CallerLine {
  readonly buffer: { readonly heard: Int16Array };
  readonly #stream: SimulatedVonageStream;

  constructor(stream: SimulatedVonageStream) {
    this.#stream = stream;
    const step = stream.rateHz / CALLER_RATE_HZ;
    let thinned = new Int16Array();
    this.buffer = {
      get heard() {
        const { heard } = stream.buffer;
        const before = thinned;
        thinned = new Int16Array(Math.floor(heard.length / step));
        thinned.set(before);
        for (let at = before.length; at < thinned.length; at += 1) thinned[at] = heard[at * step] ?? 0;
        return thinned;
      },
    };
  }

  get nowMs(): number {
    return this.#stream.nowMs;
  }

  get open(): boolean {
    return this.#stream.open;
  }

  get silent(): boolean {
    return this.#stream.silent;
  }

  say(pcm: Int16Array): number {
    return this.#stream.say(pcm);
  }

  press(digit: string): void {
    this.#stream.press(digit);
  }

  stop(): void {
    this.#stream.stop();
  }

  watch(listener: () => void): () => void {
    return this.#stream.watch(listener);
  }
}

/** One call to a number of an application, as Vonage would deliver it. */
export class SimulatedVonageCall {
  readonly uuid = randomUUID();
  readonly conversationUuid = `CON-${randomUUID()}`;
  /** What the carrier's own voice said. */
  readonly said: string[] = [];
  /** Whom the call was connected to: a number without its plus, or a SIP address. */
  dialled: string | undefined;
  /** Keys that were sent into the call over REST. */
  readonly digits: string[] = [];
  /** Events that the gateway was told, by their status. */
  readonly events: string[] = [];
  readonly ended: Promise<void>;
  stream: SimulatedVonageStream | undefined;
  readonly #options: VonageDialOptions;
  #end: () => void = () => undefined;
  #over = false;

  constructor(options: VonageDialOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Asks the answer webhook and obeys what it says. @throws CallRefused when no socket opens; the call is over then */
  async connect(): Promise<SimulatedVonageStream> {
    const { bot, from = '15550100001', to = '15550100002' } = this.#options;
    const facts = { from, to, uuid: this.uuid, conversation_uuid: this.conversationUuid };
    const answer = await this.post(`/carriers/vonage/voice${bot === undefined ? '' : `/${bot}`}`, facts);
    if (answer.status !== 200) throw new CallRefused(`the answer webhook answered ${answer.status}`, this.said);
    await this.#obey(JSON.parse(answer.body) as readonly NccoAction[]);
    if (this.stream !== undefined) return this.stream;
    await this.#finish();
    throw new CallRefused('the NCCO opens no socket', this.said);
  }

  /**
   * `PUT /v1/calls/{uuid}` with another NCCO: the socket of the old one is closed. A call that is connected to somebody goes on with
   * them, and is told as completed only when they hang up.
   */
  async transfer(ncco: readonly NccoAction[]): Promise<void> {
    this.stream?.stop();
    await this.#obey(ncco);
    if (this.dialled === undefined) await this.#finish();
    else this.#end();
  }

  /** The caller hangs up, or the call is ended over REST. */
  async hangUp(): Promise<void> {
    this.stream?.stop();
    await this.#finish();
  }

  async #obey(ncco: readonly NccoAction[]): Promise<void> {
    for (const action of ncco) {
      if (action.action === 'talk') this.said.push(String(action['text']));
      if (action.action !== 'connect') continue;
      const [endpoint] = action['endpoint'] as readonly { readonly type: string; readonly [field: string]: unknown }[];
      if (endpoint?.type !== 'websocket') this.dialled = String(endpoint?.['number'] ?? endpoint?.['uri']);
      else await this.#join(endpoint as unknown as WebsocketEndpoint, String((action['eventUrl'] as readonly string[])[0]));
    }
  }

  async #join(endpoint: WebsocketEndpoint, eventUrl: string): Promise<void> {
    const leg = randomUUID();
    try {
      this.stream = await SimulatedVonageStream.open(endpoint, this.#options.clock);
    } catch (error) {
      const answer = await this.#event(eventUrl, leg, 'failed', errorText(error));
      if (answer !== '') await this.#obey(JSON.parse(answer) as readonly NccoAction[]);
      return;
    }
    void this.stream.ended.then(async ({ byGateway }) => {
      if (!byGateway) return;
      const answer = await this.#event(eventUrl, leg, 'disconnected').catch(() => '');
      if (answer !== '') await this.#obey(JSON.parse(answer) as readonly NccoAction[]);
      await this.#finish();
    });
  }

  async #event(url: string, uuid: string, status: string, detail?: string): Promise<string> {
    this.events.push(status);
    return (await this.post(url, { uuid, status, detail, conversation_uuid: this.conversationUuid, direction: 'outbound' })).body;
  }

  async #finish(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    await this.#event('/carriers/vonage/status', this.uuid, 'completed').catch(() => undefined);
    this.#end();
  }

  /** A webhook as Vonage signs it: a JWT whose `payload_hash` is the SHA-256 of the body. @param more other claims */
  async post(
    path: string,
    body: object,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<{ status: number; body: string }> {
    const { url, clock, signatureSecret, applicationId = randomUUID() } = this.#options;
    const text = JSON.stringify(body);
    const hash = createHash('sha256').update(text).digest('hex');
    const token = await new SignJWT({ api_key: 'a1b2c3d4', application_id: applicationId, payload_hash: hash, ...more })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer('Vonage')
      .setJti(randomUUID())
      .setIssuedAt(Math.floor(clock.wallMs() / 1000))
      .sign(Buffer.from(signatureSecret));
    const response = await fetch(new URL(path, url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: text,
      signal: AbortSignal.timeout(15_000),
    });
    return { status: response.status, body: await response.text() };
  }
}

/** Places a call and waits until its media socket is open. @throws CallRefused */
export async function dialVonage(options: VonageDialOptions): Promise<SimulatedVonageCall> {
  const call = new SimulatedVonageCall(options);
  await call.connect();
  return call;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
