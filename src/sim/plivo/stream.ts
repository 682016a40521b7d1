import { randomUUID } from 'node:crypto';
import type { WireFormat } from '../../audio/format.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { CallerFrame, LineOptions } from '../carrier-line.ts';
import { openWebSocket, type CarrierWire } from '../carrier-wire.ts';
import { base64, type Fields, fieldsOf, JsonLine } from '../json-line.ts';

/*
 * An audio stream of Plivo, or of Vobiz, from the carrier's side: 20 ms messages with counters as numbers and the time as epoch milliseconds in
 * text, a playout queue, checkpoints.
 */

export type PlivoFlavour = 'plivo' | 'vobiz';

export interface PlivoStreamTarget {
  readonly url: string;
  /** The attribute of `<Stream>`. */
  readonly contentType: string;
  readonly callUuid: string;
}

/** What the attribute may say, and what comes then; the byte order of linear samples differs. */
const FORMATS: Readonly<Record<string, { readonly encoding: 'l16' | 'mulaw'; readonly rateHz: number }>> = {
  'audio/x-mulaw;rate=8000': { encoding: 'mulaw', rateHz: 8_000 },
  'audio/x-l16;rate=8000': { encoding: 'l16', rateHz: 8_000 },
  'audio/x-l16;rate=16000': { encoding: 'l16', rateHz: 16_000 },
};

export class SimulatedPlivoStream extends JsonLine {
  readonly streamId = randomUUID();
  readonly #flavour: PlivoFlavour;
  readonly #epochMs: number;
  readonly #keys: string[];
  readonly #codec: string;
  #sequence: number;
  #chunk = 0;
  /** The gateway ended the stream by a message, and not by closing the socket. */
  isStopped = false;

  private constructor(
    wire: CarrierWire,
    clock: Clock,
    about: PlivoStreamTarget & { readonly flavour: PlivoFlavour; readonly keys: string[] },
    options: LineOptions,
  ) {
    const format = FORMATS[about.contentType];
    if (format === undefined) throw new SyntaxError(`<Stream> has no contentType ${about.contentType}`);
    const { rateHz } = format;
    const isLinear = format.encoding === 'l16';
    const from: WireFormat = { encoding: isLinear ? (about.flavour === 'vobiz' ? 'pcm16be' : 'pcm16') : 'mulaw', rateHz };
    super(wire, clock, { from, to: { encoding: isLinear ? 'pcm16' : 'mulaw', rateHz } }, options);
    this.#flavour = about.flavour;
    this.#epochMs = clock.wallMs();
    this.#keys = about.keys;
    this.#codec = isLinear ? 'audio/x-l16' : 'audio/x-mulaw';
    this.#sequence = about.flavour === 'vobiz' ? 0 : 1;
    const mediaFormat = { encoding: this.#codec, sampleRate: rateHz };
    const accountId = about.flavour === 'vobiz' ? '500025' : 'MAXXXXXXXXXXXXXXXXXX';
    const start = { callId: about.callUuid, streamId: this.streamId, accountId, tracks: ['inbound'], mediaFormat };
    this.#count({ event: 'start', start, extra_headers: this.#extraHeaders });
    this.begin();
  }

  /** Opens the socket and sends `start`. @throws when the gateway refuses the socket, or the document asks for what there is not */
  static async open(
    target: PlivoStreamTarget & { readonly flavour: PlivoFlavour; readonly keys: string[] },
    clock: Clock,
    options: LineOptions = {},
  ): Promise<SimulatedPlivoStream> {
    return new SimulatedPlivoStream(await openWebSocket(target.url), clock, target, options);
  }

  protected sendAudio(payload: Uint8Array, { atMs }: CallerFrame): void {
    this.#chunk += 1;
    const timestamp = String(Math.round(this.#epochMs + atMs));
    const media = { track: 'inbound', timestamp, chunk: this.#chunk, payload: base64(payload) };
    this.#count({ streamId: this.streamId, event: 'media', media, extra_headers: this.#extraHeaders });
  }

  protected sendDigit(digit: string): void {
    this.#count({ event: 'dtmf', streamId: this.streamId, dtmf: { track: 'inbound', digit } });
  }

  protected override markPlayed(name: string): void {
    if (this.#flavour === 'vobiz') this.tell({ event: 'playedStream', name });
    else this.#count({ event: 'playedStream', streamId: this.streamId, name });
  }

  protected override told(message: Fields): void {
    const streamId = message['streamId'];
    switch (message['event']) {
      case 'playAudio':
        return this.#playAudio(fieldsOf(message['media']));
      case 'checkpoint':
        if (streamId !== this.streamId || typeof message['name'] !== 'string')
          return this.complain('a checkpoint without its stream or name');
        return this.mark(message['name']);
      case 'clearAudio':
        if (streamId !== this.streamId) return this.complain('clearAudio of another stream');
        // Checkpoints in what is cleared never come back.
        this.clear();
        return this.#flavour === 'vobiz'
          ? this.tell({ event: 'clearedAudio', streamId })
          : this.#count({ event: 'clearedAudio', streamId });
      case 'sendDTMF':
        if (this.#flavour === 'vobiz' || !/^[\d*#]+$/u.test(String(message['dtmf'])))
          return this.complain('keys that it does not press');
        this.#keys.push(String(message['dtmf']));
        return;
      case 'stop':
        if (this.#flavour !== 'vobiz') return this.complain('a stop, which this carrier does not know');
        this.isStopped = true;
        return this.close(1000);
      default:
        return this.complain(`a message that is none: ${String(message['event']).slice(0, 40)}`);
    }
  }

  /** What is not in the right form is heard by nobody, and nothing says so. */
  #playAudio({ contentType, sampleRate, payload }: Fields): void {
    const { rateHz } = this.formats.to;
    if (contentType !== this.#codec || sampleRate !== rateHz)
      return this.complain(`audio as ${String(contentType)} at ${String(sampleRate)}`);
    if (typeof payload !== 'string' || !/^[\w+/]+={0,2}$/u.test(payload)) return this.complain('audio without base64');
    this.play(Buffer.from(payload, 'base64'));
  }

  get #extraHeaders(): string {
    return this.#flavour === 'vobiz' ? '{}' : '';
  }

  #count(message: object): void {
    this.tell({ sequenceNumber: this.#sequence++, ...message });
  }
}
