import { randomBytes } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import type { LineOptions } from '../carrier-line.ts';
import { type CarrierWire, openWebSocket } from '../carrier-wire.ts';
import { base64, type Fields, isFields, JsonLine } from '../json-line.ts';

export interface ExotelStreamTarget {
  /** With its query, and without the credentials that stand before the host. */
  readonly url: string;
  /** `user:password`, where the address has them. */
  readonly credentials?: string | undefined;
  readonly callSid: string;
  readonly accountSid: string;
  readonly from: string;
  readonly to: string;
  /** The documents' snake_case with text for every number, or the camelCase with numbers that some applets send. */
  readonly casing?: 'snake' | 'camel' | undefined;
}

/** A caller's message, as every sample has it. */
const PTIME_MS = 100;
const RATES_HZ = [8_000, 16_000, 24_000];
const UNIT_BYTES = 320;
const MOST_BYTES = 100_000;
/** Behind a chunk that is no multiple of the unit, the platform waits. */
const ODD_GAP_MS = 20;
/** Streams that were sent several seconds at once were seen to stall and to end. */
const FLOOD_MS = 2_000;

/** Exotel's media socket from its own side (AgentStream, Voicebot): chunks of 100 ms from the caller, `clear` without an answer. */
export class SimulatedExotelStream extends JsonLine {
  readonly streamSid = randomBytes(16).toString('hex');
  readonly #target: ExotelStreamTarget;
  #sequence = 0;
  #chunk = 0;

  private constructor(wire: CarrierWire, target: ExotelStreamTarget, rateHz: number, clock: Clock, options: LineOptions) {
    const format = { encoding: 'pcm16', rateHz } as const;
    super(wire, clock, { from: format, to: format, ptimeMs: PTIME_MS }, options);
    this.#target = target;
    this.send('{"event":"connected"}');
    this.#start(rateHz);
    this.begin();
  }

  /** @throws when the gateway does not upgrade the socket */
  static async open(target: ExotelStreamTarget, clock: Clock, options: LineOptions = {}): Promise<SimulatedExotelStream> {
    const asked = Number(new URL(target.url).searchParams.get('sample-rate') ?? 8_000);
    const rateHz = RATES_HZ.includes(asked) ? asked : 8_000;
    const { credentials } = target;
    const headers: Record<string, string> =
      credentials === undefined ? {} : { authorization: `Basic ${base64(Buffer.from(credentials))}` };
    return new SimulatedExotelStream(await openWebSocket(target.url, { headers }), target, rateHz, clock, options);
  }

  protected override sendAudio(payload: Uint8Array, { atMs }: { readonly atMs: number }): void {
    this.#chunk += 1;
    const media = {
      chunk: this.#number(this.#chunk),
      timestamp: this.#number(atMs),
      payload: base64(payload),
    };
    this.#tell('media', { media });
  }

  protected override sendDigit(digit: string): void {
    this.#tell('dtmf', { dtmf: { digit, duration: this.#number(100) } });
  }

  protected override markPlayed(name: string): void {
    this.#tell('mark', { mark: { name } });
  }

  protected override goodbye(): 'close' {
    const { callSid, accountSid } = this.#target;
    const ids = this.#isCamel ? { callSid, accountSid } : { call_sid: callSid, account_sid: accountSid };
    this.#tell('stop', { stop: { ...ids, reason: 'callended' } });
    return 'close';
  }

  protected override told(told: Fields): void {
    const idKey = this.#isCamel ? 'streamSid' : 'stream_sid';
    if (told[idKey] !== this.streamSid) this.complain(`${String(told['event'])} without ${idKey}`);
    const { media, mark } = told;
    switch (told['event']) {
      case 'media':
        return isFields(media) ? this.#audio(media, told) : this.complain('media without media');
      case 'mark':
        return isFields(mark) && typeof mark['name'] === 'string'
          ? this.mark(mark['name'])
          : this.complain('mark without a name');
      case 'clear':
        // Nothing comes back, not for the clear and not for marks in what was dropped.
        this.clear();
        return;
      default:
        this.complain(`unknown event ${String(told['event'])}`);
    }
  }

  #audio(media: Fields, message: Fields): void {
    const sequence = this.#isCamel ? media['sequenceNumber'] : message['sequence_number'];
    for (const [name, value] of [
      ['chunk', media['chunk']],
      ['timestamp', media['timestamp']],
      ['sequence number', sequence],
    ] as const)
      if (typeof value !== 'string' || !/^\d+$/u.test(value)) this.complain(`media whose ${name} is no text of digits`);
    const payload = Buffer.from(typeof media['payload'] === 'string' ? media['payload'] : '', 'base64');
    if (payload.length > MOST_BYTES) {
      this.complain(`chunk of ${payload.length} bytes; at most ${MOST_BYTES} are taken`);
      this.drop();
      return;
    }
    this.play(payload);
    if (payload.length % UNIT_BYTES !== 0) {
      this.complain(`chunk of ${payload.length} bytes, which is no multiple of ${UNIT_BYTES}`);
      this.playout.append(Buffer.alloc((this.formats.to.rateHz / 1000) * ODD_GAP_MS * 2), this.nowMs);
    }
    if (this.playout.queuedMs > FLOOD_MS) this.complain(`${Math.round(this.playout.queuedMs)} ms of audio wait`);
  }

  #start(rateHz: number): void {
    const { callSid, accountSid, from, to } = this.#target;
    if (this.#isCamel) {
      const mediaFormat = { encoding: 'raw', sampleRate: rateHz, bitRate: 16 };
      const ids = { streamSid: this.streamSid, callSid, accountSid };
      return this.#tell('start', { start: { ...ids, from, to, customParameters: {}, mediaFormat } });
    }
    const media_format = { encoding: 'audio/x-raw', sample_rate: String(rateHz), bit_rate: '16' };
    const ids = { stream_sid: this.streamSid, call_sid: callSid, account_sid: accountSid };
    return this.#tell('start', { start: { ...ids, from, to, custom_parameters: {}, media_format } });
  }

  get #isCamel(): boolean {
    return this.#target.casing === 'camel';
  }

  #number(value: number): string | number {
    return this.#isCamel ? value : String(value);
  }

  #tell(event: string, body: object): void {
    this.#sequence += 1;
    const sequence = this.#number(this.#sequence);
    const head = this.#isCamel
      ? { event, sequenceNumber: sequence, streamSid: this.streamSid }
      : { event, sequence_number: sequence, stream_sid: this.streamSid };
    this.tell({ ...head, ...body });
  }
}
