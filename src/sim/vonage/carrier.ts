import { createHash, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Clock } from '../../kernel/clock.ts';
import { errorText } from '../../kernel/errors.ts';
import { type CallEnd, type CallOptions, CarrierCall } from '../carrier-call.ts';
import { CarrierLine, type LineOptions } from '../carrier-line.ts';
import { type CarrierWire, openWebSocket, reachedAddress } from '../carrier-wire.ts';
import { CallRefused } from '../errors.ts';
import { isFields } from '../json-line.ts';

/*
 * Vonage's Voice API from its own side, written from its documents: a signed answer webhook, the NCCO, its socket of binary frames
 * with JSON beside them, and events of the call.
 */

export type WebsocketEndpoint = {
  readonly type: 'websocket';
  readonly uri: string;
  readonly 'content-type': string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly authorization?: { readonly type: 'vonage' } | { readonly type: 'custom'; readonly value: string };
};

const FRAME_MS = 20;
/** Messages that may wait to be played. */
const MOST_WAITING = 3_072;

/** Vonage's media socket: binary frames of 20 ms both ways, and JSON beside them. */
export class SimulatedVonageStream extends CarrierLine {
  readonly texts: string[] = [];

  private constructor(wire: CarrierWire, endpoint: WebsocketEndpoint, rateHz: number, clock: Clock, options: LineOptions) {
    super(wire, clock, { from: { encoding: 'pcm16', rateHz }, to: { encoding: 'pcm16', rateHz } }, options);
    this.tell({ event: 'websocket:connected', 'content-type': endpoint['content-type'], ...endpoint.headers });
    this.begin();
  }

  /** @throws when the gateway does not upgrade the socket */
  static async open(endpoint: WebsocketEndpoint, clock: Clock, options: LineOptions = {}): Promise<SimulatedVonageStream> {
    const { uri, 'content-type': contentType, headers = {}, authorization } = endpoint;
    const rateHz = Number(/^audio\/l16;rate=(8000|16000|24000)$/u.exec(contentType)?.[1]);
    if (Number.isNaN(rateHz)) throw new Error(`content-type ${contentType} is none that the endpoint takes`);
    if (JSON.stringify(headers).length > 512) throw new Error('headers of more than 512 bytes');
    const sent: Record<string, string> = authorization?.type === 'custom' ? { authorization: authorization.value } : {};
    return new SimulatedVonageStream(await openWebSocket(uri, { headers: sent }), endpoint, rateHz, clock, options);
  }

  protected override sendDigit(digit: string): void {
    this.tell({ event: 'websocket:dtmf', digit, duration: 260 });
  }

  protected override received(message: Buffer, isBinary: boolean): void {
    if (isBinary) this.#audio(message);
    else this.#command(message.toString('utf8'));
  }

  protected override markPlayed(payload: string): void {
    this.tell({ event: 'websocket:notify', payload: JSON.parse(payload) as unknown });
  }

  #audio(data: Buffer): void {
    const wanted = (this.formats.to.rateHz * FRAME_MS) / 500;
    if (data.length !== wanted) {
      this.complain(`frame size ${data.length / 2}, when required ${wanted / 2}`);
      this.drop();
      return;
    }
    this.play(data);
    if (this.playout.queuedMs / FRAME_MS > MOST_WAITING) this.complain(`more than ${MOST_WAITING} messages wait`);
  }

  #command(text: string): void {
    this.texts.push(text);
    const command: unknown = JSON.parse(text);
    if (!isFields(command)) return;
    const { action, payload } = command;
    if (action === 'clear') {
      // Whether notifications that wait come back is not documented; here they are gone with the audio.
      this.clear();
      this.tell({ event: 'websocket:cleared' });
    } else if (action === 'notify' && isFields(payload)) this.mark(JSON.stringify(payload));
    else this.complain(`unknown command ${text.slice(0, 60)}`);
  }
}

export interface VonageDialOptions extends CallOptions {
  readonly signatureSecret: string;
  readonly applicationId?: string | undefined;
}

/** Who is in each room; names are of one application. */
const ROOMS = new Map<string, Set<SimulatedVonageCall>>();

export type NccoAction = { readonly action: string; readonly [field: string]: unknown };

/** One call to a number of an application, as Vonage would deliver it. */
export class SimulatedVonageCall extends CarrierCall<SimulatedVonageStream, VonageDialOptions> {
  readonly conversationUuid = `CON-${randomUUID()}`;
  /** The room that the call is in, or was. */
  room: { readonly name: string; readonly endsOnExit: boolean } | undefined;
  /** Events that the gateway was told, by their status. */
  readonly events: string[] = [];

  constructor(options: VonageDialOptions) {
    super(options, randomUUID());
  }

  /** Asks the answer webhook and obeys what it says. @throws CallRefused when no socket opens; the call is over then */
  async connect(): Promise<SimulatedVonageStream> {
    const { from = '15550100001', to = '15550100002' } = this.options;
    // Vonage's numbers have no plus.
    const numbers = { from: from.replace('+', ''), to: to.replace('+', '') };
    const facts = { ...numbers, uuid: this.carrierCallId, conversation_uuid: this.conversationUuid };
    const answer = await this.post(this.voicePath('vonage'), facts);
    if (answer.status !== 200) throw new CallRefused(`the answer webhook answered ${answer.status}`, this.said);
    return this.answer(JSON.parse(answer.body) as readonly NccoAction[]);
  }

  /** Obeys the NCCO of the answer, or that a dialled call was ordered with. @throws CallRefused when no socket opens; the call is over then */
  answer(ncco: readonly NccoAction[]): Promise<SimulatedVonageStream> {
    return this.begin(async () => {
      await this.#obey(ncco);
      if (this.streams.length === 0) throw new CallRefused('the NCCO opens no socket', this.said);
    });
  }

  /**
   * `PUT /v1/calls/{uuid}` with another NCCO: the socket of the old one is closed. A call that is connected to somebody goes on with
   * them, and is told as completed only when they hang up; one in a room, when it hangs up or the room ends.
   */
  async transfer(ncco: readonly NccoAction[]): Promise<void> {
    this.streams.at(-1)?.stop();
    await this.#obey(ncco);
    if (this.dialled !== undefined) this.passOn();
    else if (this.room === undefined) await this.finish();
  }

  async #obey(ncco: readonly NccoAction[]): Promise<void> {
    for (const action of ncco) {
      if (action.action === 'talk') this.said.push(String(action['text']));
      if (action.action === 'conversation') this.#enter(String(action['name']), action['endOnExit'] === true);
      if (action.action !== 'connect') continue;
      const [endpoint] = action['endpoint'] as readonly { readonly type: string; readonly [field: string]: unknown }[];
      if (endpoint?.type !== 'websocket') this.dialled = String(endpoint?.['number'] ?? endpoint?.['uri']);
      else await this.#join(endpoint as unknown as WebsocketEndpoint, String((action['eventUrl'] as readonly string[])[0]));
    }
  }

  /** Waits in a room in silence, or talks to whoever is in it. */
  #enter(name: string, endsOnExit: boolean): void {
    const inside = ROOMS.get(name) ?? new Set();
    ROOMS.set(name, inside.add(this));
    this.room = { name, endsOnExit };
  }

  /** Whoever leaves may end the room for the others. */
  #leave(): void {
    if (this.room === undefined) return;
    const inside = ROOMS.get(this.room.name);
    inside?.delete(this);
    if (inside?.size === 0) ROOMS.delete(this.room.name);
    if (this.room.endsOnExit) for (const other of inside ?? []) void other.finish();
  }

  async #join(endpoint: WebsocketEndpoint, eventUrl: string): Promise<void> {
    const leg = randomUUID();
    let stream: SimulatedVonageStream;
    try {
      const reached = { ...endpoint, uri: reachedAddress(endpoint.uri, this.options) };
      stream = this.opened(await SimulatedVonageStream.open(reached, this.options.clock, this.options.stream));
    } catch (error) {
      const answer = await this.#event(eventUrl, leg, 'failed', errorText(error));
      if (answer !== '') await this.#obey(JSON.parse(answer) as readonly NccoAction[]);
      return;
    }
    void stream.ended.then(async ({ byGateway }) => {
      if (!byGateway) return;
      const answer = await this.#event(eventUrl, leg, 'disconnected').catch(() => '');
      if (answer !== '') await this.#obey(JSON.parse(answer) as readonly NccoAction[]);
      await this.finish();
    });
  }

  async #event(url: string, uuid: string, status: string, detail?: string): Promise<string> {
    this.events.push(status);
    return (await this.post(url, { uuid, status, detail, conversation_uuid: this.conversationUuid, direction: 'outbound' })).body;
  }

  protected override async finish(end?: CallEnd): Promise<void> {
    if (!this.isOver) this.#leave();
    await super.finish(end);
  }

  protected override tellEnd(): Promise<unknown> {
    return this.#event('/carriers/vonage/status', this.carrierCallId, 'completed');
  }

  /** A webhook as Vonage signs it: a JWT whose `payload_hash` is the SHA-256 of the body. @param more other claims */
  async post(
    path: string,
    body: object,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<{ status: number; body: string }> {
    const { clock, signatureSecret, applicationId = randomUUID() } = this.options;
    const text = JSON.stringify(body);
    const hash = createHash('sha256').update(text).digest('hex');
    const token = await new SignJWT({ api_key: 'a1b2c3d4', application_id: applicationId, payload_hash: hash, ...more })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer('Vonage')
      .setJti(randomUUID())
      .setIssuedAt(Math.floor(clock.wallMs() / 1000))
      .sign(Buffer.from(signatureSecret));
    return this.ask(path, { headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` }, body: text });
  }
}

/** Places a call and waits until its media socket is open. @throws CallRefused */
export async function dialVonage(options: VonageDialOptions): Promise<SimulatedVonageCall> {
  const call = new SimulatedVonageCall(options);
  await call.connect();
  return call;
}
