import type { Clock } from '../../kernel/clock.ts';
import { CarrierLine, type LineOptions } from '../carrier-line.ts';
import { type CarrierWire, openWebSocket } from '../carrier-wire.ts';

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
    this.#tell({ event: 'websocket:connected', 'content-type': endpoint['content-type'], ...endpoint.headers });
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

  protected override sendAudio(payload: Uint8Array): void {
    this.send(payload);
  }

  protected override sendDigit(digit: string): void {
    this.#tell({ event: 'websocket:dtmf', digit, duration: 260 });
  }

  protected override received(message: Buffer, isBinary: boolean): void {
    if (isBinary) this.#audio(message);
    else this.#command(message.toString('utf8'));
  }

  protected override markPlayed(payload: string): void {
    this.#tell({ event: 'websocket:notify', payload: JSON.parse(payload) as unknown });
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
    if (!isObject(command)) return;
    const { action, payload } = command;
    if (action === 'clear') {
      // Whether notifications that wait come back is not documented; here they are gone with the audio.
      this.clear();
      this.#tell({ event: 'websocket:cleared' });
    } else if (action === 'notify' && isObject(payload)) this.mark(JSON.stringify(payload));
    else this.complain(`unknown command ${text.slice(0, 60)}`);
  }

  #tell(message: object): void {
    this.send(JSON.stringify(message));
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
