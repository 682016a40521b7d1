import { randomBytes, randomInt } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../kernel/clock.ts';
import { parseJson } from '../../kernel/json.ts';
import { mediaAddress, refusedSocket, StreamCall } from '../carrier-call.ts';
import type { LineOptions } from '../carrier-line.ts';
import { type CarrierWire, openWebSocket } from '../carrier-wire.ts';
import { bodyOf, type RestReply, SimulatedRest } from '../dialling-carrier.ts';
import { base64, type Fields, fieldsOf, JsonLine } from '../json-line.ts';
import type { PlaceOptions, SimulatedCarrier } from '../simulated-carrier.ts';

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
const ACCOUNT_SID = '5061';

/** The media socket of Tata Tele Smartflo, Acefone and Astradial from their side: Twilio's messages without version and tracks. */
export class SimulatedSmartfloStream extends JsonLine {
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
    const media = { chunk: String(this.#chunk), timestamp: String(atMs), payload: base64(payload) };
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

  protected override told({ event, streamSid, media, mark }: Fields): void {
    if (streamSid !== this.streamSid) this.complain(`${String(event)} without streamSid`);
    switch (event) {
      case 'media':
        return this.#audio(fieldsOf(media)['payload']);
      case 'mark': {
        const { name } = fieldsOf(mark);
        return typeof name === 'string' ? this.mark(name) : this.complain('mark without a name');
      }
      case 'clear':
        this.clear();
        return;
      case 'end':
        this.hasEnd = true;
        return this.end('Call ended by the bot');
      default:
        this.complain(`unknown event ${String(event)}`);
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
    const ids = { streamSid: this.streamSid, accountSid: ACCOUNT_SID, callSid };
    const start = { ...ids, ...(numbersAtRoot ? {} : numbers), direction, mediaFormat, customParameters: {} };
    this.#tell({ event: 'start', start, ...(numbersAtRoot ? numbers : {}) });
  }

  #stopped(reason: string): void {
    this.#tell({ event: 'stop', stop: { accountSid: ACCOUNT_SID, callSid: this.#target.callSid, reason } });
  }

  #tell(message: object): void {
    this.#sequence += 1;
    this.tell({ ...message, sequenceNumber: String(this.#sequence), streamSid: this.streamSid });
  }
}

const KEY = 'key-of-the-simulated-account';
const TOKEN = 'token-of-the-simulated-account';

/** A static endpoint of a number: the call ends with its media socket. */
async function place(carrier: string, options: PlaceOptions, key: string): Promise<StreamCall<SimulatedSmartfloStream>> {
  const { clock, from = '+919876543210', to = '+918047491899' } = options;
  // As Asterisk makes them.
  const { carrierCallId = `${Math.floor(clock.wallMs() / 1000)}.${randomInt(1e6)}` } = options;
  const url = mediaAddress(carrier, options, `?key=${encodeURIComponent(key)}`);
  const target = { url, callSid: carrierCallId, from, to, numbersAtRoot: carrier === 'astradial' };
  return new StreamCall(carrierCallId, await SimulatedSmartfloStream.open(target, clock, options.stream).catch(refusedSocket));
}

/** @param hasRest whether a REST interface is documented */
function simulated(name: string, hasRest: boolean): SimulatedCarrier {
  const prefix = `OFFHOOK_${name.toUpperCase()}`;
  return {
    name,
    async open({ clock }) {
      const calls = new Map<string, StreamCall<SimulatedSmartfloStream>>();
      const rest = hasRest
        ? await SimulatedRest.start(
            () => clock.wallMs(),
            (request, reply) => serve(calls, request, reply),
          )
        : undefined;
      return {
        env: {
          [`${prefix}_STREAM_KEY`]: KEY,
          ...(rest === undefined ? {} : { [`${prefix}_API_TOKEN`]: TOKEN, [`${prefix}_API_URL`]: rest.url }),
        },
        async place(options) {
          const call = await place(name, options, KEY);
          calls.set(call.carrierCallId, call);
          void call.ended.then(() => calls.delete(call.carrierCallId));
          return call;
        },
        [Symbol.asyncDispose]: async () => rest?.[Symbol.asyncDispose](),
      };
    },
    place: (options) => place(name, options, options.proof),
  };
}

/** `POST /v1/call/hangup` and `/v1/call/options` of live calls. */
async function serve(
  calls: ReadonlyMap<string, StreamCall<SimulatedSmartfloStream>>,
  request: IncomingMessage,
  reply: RestReply,
): Promise<void> {
  if (request.headers.authorization !== `Bearer ${TOKEN}`) return reply(401, { success: false, message: 'Unauthenticated' });
  const asked = (parseJson(await bodyOf(request)) ?? {}) as { call_id?: string; type?: unknown; intercom?: string };
  const call = calls.get(asked.call_id ?? '');
  if (call === undefined) return reply(404, { success: false, message: 'Call not found' });
  if (request.url === '/v1/call/hangup') call.line.end('Call ended over REST');
  else if (request.url !== '/v1/call/options') return reply(404, { success: false, message: 'Not found' });
  else if (Number(asked.type) !== 4 || !/^\d{3,15}$/u.test(asked.intercom ?? ''))
    return reply(200, { success: false, message: 'Invalid intercom' });
  else {
    call.dialled = asked.intercom;
    call.line.end('Call transferred');
  }
  return reply(200, { success: true, message: 'Request accepted' });
}

export const simulatedSmartflo = simulated('smartflo', true);
export const simulatedAcefone = simulated('acefone', true);
export const simulatedAstradial = simulated('astradial', false);
