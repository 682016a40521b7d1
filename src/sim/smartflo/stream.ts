import { randomBytes } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import { CarrierLine, type LineOptions } from '../carrier-line.ts';
import { type CarrierWire, openWebSocket } from '../carrier-wire.ts';

export interface SmartfloStreamTarget {
  /** With its key. */
  readonly url: string;
  readonly callSid: string;
  readonly from: string;
  readonly to: string;
  readonly direction?: 'inbound' | 'outbound';
  /** Astradial's page has the numbers at the root of the start. */
  readonly numbersAtRoot?: boolean;
}

/** Every message of the caller, as the documents say. */
const PTIME_MS = 100;
const UNIT_BYTES = 160;
/** Behind a payload that is no multiple of the unit. */
const ODD_GAP = Buffer.alloc(UNIT_BYTES, 0xff);
const ACCOUNT = '5061';

/** The media socket of Tata Tele Smartflo, Acefone and Astradial from their side: Twilio's messages without version and tracks. */
export class SimulatedSmartfloStream extends CarrierLine {
  readonly streamSid = randomBytes(16).toString('hex');
  /** The gateway ended the call by a message. */
  hasEnd = false;
  readonly #target: SmartfloStreamTarget;
  #sequence = 0;
  #chunk = 0;

  private constructor(wire: CarrierWire, target: SmartfloStreamTarget, clock: Clock, options: LineOptions) {
    const mulaw = { encoding: 'mulaw', rateHz: 8_000 } as const;
    super(wire, clock, { from: mulaw, to: mulaw, ptimeMs: PTIME_MS }, options);
    this.#target = target;
    this.send('{"event":"connected"}');
    this.#start();
    this.begin();
  }

  /** @throws when the gateway does not upgrade the socket */
  static async open(target: SmartfloStreamTarget, clock: Clock, options: LineOptions = {}): Promise<SimulatedSmartfloStream> {
    return new SimulatedSmartfloStream(await openWebSocket(target.url), target, clock, options);
  }

  /** The call ends at the carrier. @param reason as it tells the gateway */
  end(reason: string): void {
    this.#stopped(reason);
    this.close(1000);
  }

  protected override sendAudio(payload: Uint8Array, { atMs }: { readonly atMs: number }): void {
    this.#chunk += 1;
    const media = { chunk: String(this.#chunk), timestamp: String(atMs), payload: Buffer.from(payload).toString('base64') };
    this.#tell({ event: 'media', media });
  }

  protected override sendDigit(digit: string): void {
    this.#tell({ event: 'dtmf', dtmf: { digit } });
  }

  protected override markPlayed(name: string): void {
    this.#tell({ event: 'mark', mark: { name } });
  }

  protected override goodbye(): 'close' {
    this.#stopped('Call ended by the caller');
    return 'close';
  }

  protected override received(message: Buffer, isBinary: boolean): void {
    const told = isBinary ? undefined : fieldsOf(message.toString('utf8'));
    if (told === undefined) return this.complain(isBinary ? 'a binary message' : 'a message that is no JSON object');
    if (told.streamSid !== this.streamSid) this.complain(`${String(told.event)} without streamSid`);
    switch (told.event) {
      case 'media':
        return this.#audio(told.media?.payload);
      case 'mark':
        return typeof told.mark?.name === 'string' ? this.mark(told.mark.name) : this.complain('mark without a name');
      case 'clear':
        this.clear();
        return;
      case 'end':
        this.hasEnd = true;
        return this.end('Call ended by the bot');
      default:
        this.complain(`unknown event ${String(told.event)}`);
    }
  }

  #audio(given: unknown): void {
    if (typeof given !== 'string') return this.complain('media without a payload');
    const payload = Buffer.from(given, 'base64');
    this.play(payload);
    if (payload.length % UNIT_BYTES === 0) return;
    this.complain(`payload of ${payload.length} bytes, which is no multiple of ${UNIT_BYTES}`);
    this.playout.append(ODD_GAP, this.nowMs);
  }

  #start(): void {
    const { callSid, from, to, direction = 'inbound', numbersAtRoot = false } = this.#target;
    const numbers = { from, to };
    const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, bitRate: 64, bitDepth: 8 };
    const ids = { streamSid: this.streamSid, accountSid: ACCOUNT, callSid };
    const start = { ...ids, ...(numbersAtRoot ? {} : numbers), direction, mediaFormat, customParameters: {} };
    this.#tell({ event: 'start', start, ...(numbersAtRoot ? numbers : {}) });
  }

  #stopped(reason: string): void {
    this.#tell({ event: 'stop', stop: { accountSid: ACCOUNT, callSid: this.#target.callSid, reason } });
  }

  #tell(message: object): void {
    this.#sequence += 1;
    this.send(JSON.stringify({ ...message, sequenceNumber: String(this.#sequence), streamSid: this.streamSid }));
  }
}

interface Told {
  readonly event?: unknown;
  readonly streamSid?: unknown;
  readonly media?: { readonly payload?: unknown };
  readonly mark?: { readonly name?: unknown };
}

function fieldsOf(text: string): Told | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
