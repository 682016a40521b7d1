import { randomBytes, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '../../kernel/json.ts';
import type { Clock } from '../../kernel/clock.ts';
import { type CallerFrame, CarrierLine, type LineOptions } from '../carrier-line.ts';
import { type CarrierWire, openWebSocket } from '../carrier-wire.ts';
import { DelayedLine } from '../caller/delayed-line.ts';
import { type Fields, isFields } from '../json-line.ts';

export interface StreamOptions extends LineOptions {
  /** Delay of a mark's return after it was reached; called for each. Order is kept. */
  readonly markDelayMs?: () => number;
  readonly marks?: boolean;
  readonly clear?: boolean;
  /** The law of the leg, both ways; mu-law when absent, as Twilio has it. */
  readonly law?: 'mulaw' | 'alaw';
  /** The stream is SignalWire's: version 0.2.0, other codecs, ids and the name of the stream in its start alone, keys in both directions. */
  readonly signalwire?: boolean;
}

/** Something on the carrier's sample clock, in ms since the stream began. */
export interface StreamNote {
  readonly type: 'mark' | 'clear';
  readonly atMs: number;
  readonly name: string;
}

/** A `<Stream>` of an answer document. */
interface StreamTarget {
  readonly url: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly attributes?: Readonly<Record<string, string>>;
}

/** SignalWire plays keys into the call. */
const keyMessage = z.strictObject({
  event: z.literal('dtmf'),
  streamSid: z.string(),
  dtmf: z.strictObject({ digit: z.string().regex(/^[0-9*#A-D]$/u) }),
});

interface CallIds {
  readonly callSid: string;
  readonly accountSid: string;
}

/** Twilio's first timestamps are not 0 (seen in recorded sessions). */
const FIRST_TIMESTAMP_MS = 102;

/** One bidirectional media stream of Twilio: JSON with base64 inside. */
export class SimulatedStream extends CarrierLine {
  readonly streamSid: string;
  /** Keys that the gateway pressed. */
  readonly digits: string[] = [];
  readonly notes: StreamNote[] = [];
  readonly #options: StreamOptions;
  readonly #ids: CallIds;
  readonly #markReturns: DelayedLine;
  #sequence = 1;
  /** The last payload in base64: silence in `light` mode is one and the same. */
  #encoded: { readonly payload: Uint8Array; readonly base64: string } = { payload: new Uint8Array(), base64: '' };

  private constructor(
    wire: CarrierWire,
    ids: CallIds,
    { parameters: customParameters, attributes = {} }: StreamTarget,
    clock: Clock,
    options: StreamOptions,
  ) {
    const { law = 'mulaw' } = options;
    const isSignalwire = options.signalwire === true;
    const rateHz = Number(/^L16@(16000|24000)h$/u.exec(attributes['codec'] ?? '')?.[1] ?? 8_000);
    const format = rateHz === 8_000 ? { encoding: law, rateHz } : { encoding: 'pcm16' as const, rateHz };
    super(wire, clock, { from: format, to: format }, options);
    this.streamSid = isSignalwire ? randomUUID() : `MZ${randomBytes(16).toString('hex')}`;
    this.#options = options;
    this.#ids = ids;
    this.#markReturns = new DelayedLine(clock, options.markDelayMs);
    void this.ended.then(() => this.#markReturns.cut());
    const mediaFormat = { encoding: `audio/x-${rateHz === 8_000 ? law : 'L16'}`, sampleRate: rateHz, channels: 1 };
    const { streamSid } = this;
    this.tell({ event: 'connected', protocol: 'Call', version: isSignalwire ? '0.2.0' : '1.0.0' });
    this.tell({
      event: 'start',
      sequenceNumber: this.#next(),
      start: { ...ids, streamSid, tracks: ['inbound'], mediaFormat, customParameters },
      ...this.#name,
    });
    this.begin();
  }

  /** Opens the socket and sends `connected` and `start`. @throws when the gateway does not upgrade it */
  static async open(
    target: StreamTarget,
    ids: CallIds,
    clock: Clock,
    signature: string,
    options: StreamOptions = {},
  ): Promise<SimulatedStream> {
    // SignalWire signs no upgrade, as far as its documents say.
    const headers: Record<string, string> = options.signalwire === true ? {} : { 'x-twilio-signature': signature };
    return new SimulatedStream(await openWebSocket(target.url, { headers }), ids, target, clock, options);
  }

  protected override sendAudio(payload: Uint8Array, { index, atMs }: CallerFrame): void {
    if (payload !== this.#encoded.payload) this.#encoded = { payload, base64: Buffer.from(payload).toString('base64') };
    const media = {
      track: 'inbound',
      chunk: String(index + 1),
      timestamp: String(FIRST_TIMESTAMP_MS + atMs),
      payload: this.#encoded.base64,
    };
    this.tell({ event: 'media', sequenceNumber: this.#next(), media, ...this.#name });
  }

  protected override sendDigit(digit: string): void {
    const { streamSid } = this;
    const dtmf = this.#options.signalwire === true ? { digit, duration: 2000 } : { track: 'inbound_track', digit };
    this.tell({ event: 'dtmf', streamSid, sequenceNumber: this.#next(), dtmf });
  }

  protected override goodbye(): 'close' {
    const { accountSid, callSid } = this.#ids;
    const stop = this.#options.signalwire === true ? {} : { stop: { accountSid, callSid } };
    this.tell({ event: 'stop', sequenceNumber: this.#next(), ...stop, ...this.#name });
    return 'close';
  }

  protected override markPlayed(name: string): void {
    if (this.#options.marks === false) return;
    this.#markReturns.pass(() => {
      this.notes.push({ type: 'mark', atMs: this.nowMs, name });
      this.tell({ event: 'mark', sequenceNumber: this.#next(), streamSid: this.streamSid, mark: { name } });
    });
  }

  protected override received(message: Buffer, isBinary: boolean): void {
    if (isBinary) {
      this.complain('31950: binary frame');
      return;
    }
    const text = message.toString('utf8');
    const key = this.#options.signalwire === true ? keyMessage.safeParse(parseJson(text)).data : undefined;
    if (key?.streamSid === this.streamSid) {
      this.digits.push(key.dtmf.digit);
      return;
    }
    const judged = judgeMessage(text, this.streamSid);
    if ('warning' in judged) this.complain(judged.warning);
    else this.#obey(judged.message);
  }

  #obey(message: GatewayMessage): void {
    switch (message.event) {
      case 'media':
        if (!this.play(message.payload)) this.complain('31931: more than ten minutes of audio queued');
        return;
      case 'mark':
        this.mark(message.name);
        return;
      case 'clear':
        if (this.#options.clear === false) return;
        this.notes.push({ type: 'clear', atMs: this.nowMs, name: '' });
        for (const name of this.clear()) this.markPlayed(name);
    }
  }

  /** What most messages of Twilio name their stream by. */
  get #name(): { readonly streamSid?: string } {
    return this.#options.signalwire === true ? {} : { streamSid: this.streamSid };
  }

  #next(): string {
    return String(this.#sequence++);
  }
}

/** A message from the gateway, judged as strictly as Twilio does: exactly its own fields, or warning 31951. */
export type GatewayMessage =
  | { readonly event: 'media'; readonly payload: Uint8Array }
  | { readonly event: 'mark'; readonly name: string }
  | { readonly event: 'clear' };

export type Judged = { readonly message: GatewayMessage } | { readonly warning: string };

export function judgeMessage(text: string, streamSid: string): Judged {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { warning: '31951: not JSON' };
  }
  if (!isFields(value)) return { warning: '31951: not an object' };
  if (value['streamSid'] !== streamSid) return { warning: `31951: streamSid is ${String(value['streamSid'])}` };
  switch (value['event']) {
    case 'media': {
      const { media } = value;
      if (!hasExactly(value, ['event', 'streamSid', 'media']) || !isFields(media) || !hasExactly(media, ['payload']))
        return extra('media');
      const payload = media['payload'];
      if (typeof payload !== 'string' || payload.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/u.test(payload))
        return { warning: '31951: payload is not base64' };
      return { message: { event: 'media', payload: Buffer.from(payload, 'base64') } };
    }
    case 'mark': {
      const { mark } = value;
      if (!hasExactly(value, ['event', 'streamSid', 'mark']) || !isFields(mark) || !hasExactly(mark, ['name']))
        return extra('mark');
      return typeof mark['name'] === 'string'
        ? { message: { event: 'mark', name: mark['name'] } }
        : { warning: '31951: mark without name' };
    }
    case 'clear':
      return hasExactly(value, ['event', 'streamSid']) ? { message: { event: 'clear' } } : extra('clear');
    default:
      return { warning: `31951: unknown event ${String(value['event'])}` };
  }
}

function extra(event: string): Judged {
  return { warning: `31951: ${event} with missing or extra fields` };
}

function hasExactly(value: Fields, keys: readonly string[]): boolean {
  const found = Object.keys(value);
  return found.length === keys.length && keys.every((key) => found.includes(key));
}
