import { createHmac, randomInt, randomUUID } from 'node:crypto';
import type { WireFormat } from '../../audio/format.ts';
import type { Clock } from '../../kernel/clock.ts';
import { errorText } from '../../kernel/errors.ts';
import { readAnswerXml, type XmlElement } from '../answer-xml.ts';
import { type CallOptions, CarrierCall } from '../carrier-call.ts';
import type { CallerFrame, LineOptions } from '../carrier-line.ts';
import { type CarrierWire, openWebSocket, reachedAddress } from '../carrier-wire.ts';
import { CallRefused } from '../errors.ts';
import { base64, type Fields, fieldsOf, JsonLine } from '../json-line.ts';

/*
 * Plivo, and Vobiz, from their own side, written from their documents: signed form webhooks, answer XML, audio streams, the report of a call's end.
 */

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
  readonly flavour: PlivoFlavour;
  /** Takes the keys that the gateway presses. */
  readonly keys: string[];
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

  private constructor(wire: CarrierWire, clock: Clock, about: PlivoStreamTarget, options: LineOptions) {
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
  static async open(target: PlivoStreamTarget, clock: Clock, options: LineOptions = {}): Promise<SimulatedPlivoStream> {
    return new SimulatedPlivoStream(await openWebSocket(target.url), clock, target, options);
  }

  protected override sendAudio(payload: Uint8Array, { atMs }: CallerFrame): void {
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

export interface PlivoCallOptions extends CallOptions {
  readonly flavour: PlivoFlavour;
  readonly authToken: string;
  readonly direction?: 'inbound' | 'outbound';
}

/** One call to a number of an account, as the carrier would deliver it. */
export class SimulatedPlivoCall extends CarrierCall<SimulatedPlivoStream, PlivoCallOptions> {
  /** The conference room that it was put into. */
  room: string | undefined;

  constructor(options: PlivoCallOptions) {
    super(options, randomUUID());
  }

  /** Asks the answer URL and obeys it. @throws CallRefused when no stream opens; the call is over then */
  connect(): Promise<SimulatedPlivoStream> {
    return this.fetch(this.voicePath(this.options.flavour), { CallStatus: 'ringing', Event: 'StartApp' });
  }

  /** Fetches a document and obeys it. @throws CallRefused when it opens no stream */
  fetch(address: string, fields: Readonly<Record<string, string>>): Promise<SimulatedPlivoStream> {
    return this.begin(async () => {
      const answer = await this.post(address, fields);
      if (answer.status !== 200) throw new CallRefused(`the answer URL answered ${answer.status}`, this.said);
      await this.#obey(readAnswerXml(answer.body));
    });
  }

  /** `POST /Call/{uuid}/` with another address: the document of the old one is left, and its stream ends. Never rejects. */
  async transfer(address: string): Promise<void> {
    this.streams.at(-1)?.stop();
    await this.fetch(address, { CallStatus: 'in-progress', Event: 'Transfer' }).catch(() => undefined);
  }

  async #obey([element, ...rest]: readonly XmlElement[]): Promise<void> {
    switch (element?.name) {
      case undefined:
      case 'Hangup':
        return this.finish();
      case 'Speak':
        this.said.push(element.text);
        return this.#obey(rest);
      case 'Stream':
        return this.#open(element, rest);
      case 'Redirect': {
        const answer = await this.post(element.text, { CallStatus: 'in-progress', Event: 'Redirect' });
        if (answer.status !== 200) throw new SyntaxError(`the redirect was answered with ${answer.status}`);
        return this.#obey(readAnswerXml(answer.body));
      }
      case 'Dial': {
        const [callee] = element.children;
        if (callee === undefined || !['Number', 'User'].includes(callee.name)) throw new SyntaxError('<Dial> calls nobody');
        this.dialled = callee.text;
        // The call goes on with somebody else.
        return this.passOn();
      }
      case 'Conference':
        this.room = element.text;
        return this.passOn();
      default:
        throw new SyntaxError(`there is no element <${element?.name}>`);
    }
  }

  async #open({ attributes, text }: XmlElement, rest: readonly XmlElement[]): Promise<void> {
    const { clock, flavour, stream: options = {} } = this.options;
    const {
      bidirectional,
      keepCallAlive,
      audioTrack = 'inbound',
      contentType = 'audio/x-l16;rate=8000',
      statusCallbackUrl,
    } = attributes;
    if (bidirectional !== 'true' || audioTrack !== 'inbound') throw new SyntaxError('<Stream> is not bidirectional');
    const tell = (Event: string) =>
      statusCallbackUrl === undefined
        ? undefined
        : this.post(statusCallbackUrl, { Event, StreamID: randomUUID(), CallStatus: 'in-progress' });
    let stream: SimulatedPlivoStream;
    try {
      const target = {
        url: reachedAddress(text, this.options),
        contentType,
        callUuid: this.carrierCallId,
        flavour,
        keys: this.digits,
      };
      stream = await SimulatedPlivoStream.open(target, clock, options);
    } catch (error) {
      await tell('DroppedStream');
      throw new CallRefused(`the media stream was refused: ${errorText(error)}`, this.said, error);
    }
    this.opened(stream);
    void tell('StartStream')?.catch(() => undefined);
    // Without `keepCallAlive` the document goes on at once, and the call with it.
    if (keepCallAlive !== 'true') return this.#obey(rest);
    // A socket that breaks ends the stream as one that the gateway closes.
    void stream.ended.then(({ byGateway }) =>
      byGateway || stream.isStopped ? this.#obey(rest).catch(() => this.finish()) : undefined,
    );
  }

  protected override tellEnd(): Promise<unknown> {
    const told = { CallStatus: 'completed', Event: 'Hangup', HangupCauseCode: '4000', HangupCauseName: 'Normal Hangup' };
    return this.post(`/carriers/${this.options.flavour}/status`, told);
  }

  /** A signed form. @param address in full, or below the gateway's */
  post(address: string, more: Readonly<Record<string, string>>): Promise<{ readonly status: number; readonly body: string }> {
    const { url, authToken, flavour, from = '+15550100001', to = '+15550100002', direction = 'inbound' } = this.options;
    const full = new URL(address, url).href;
    const ids =
      direction === 'outbound'
        ? { RequestUUID: this.carrierCallId, ALegUUID: this.carrierCallId, ALegRequestUUID: this.carrierCallId }
        : {};
    const numbers = { From: from.replace('+', ''), To: to.replace('+', '') };
    const fields = { CallUUID: this.carrierCallId, ...ids, ...numbers, Direction: direction, BillRate: '0.0085', ...more };
    return this.ask(address, signedPlivoForm(flavour, full, authToken, fields));
  }
}

/** A form as the carrier posts it: V3 of Plivo is over the address, its sorted query, the sorted fields and a nonce; that of Vobiz leaves query and fields out. */
export function signedPlivoForm(
  flavour: PlivoFlavour,
  address: string,
  authToken: string,
  fields: Readonly<Record<string, string>>,
  nonce = String(randomInt(1e12)).padStart(20, '7'),
): { readonly method: 'POST'; readonly headers: Record<string, string>; readonly body: URLSearchParams } {
  const { origin, pathname, searchParams } = new URL(address);
  const query = Array.from(searchParams, ([name, value]) => `${name}=${value}`)
    .toSorted()
    .join('&');
  const form = Object.keys(fields)
    .toSorted()
    .map((name) => `${name}${fields[name]}`)
    .join('');
  const signed = flavour === 'vobiz' || query + form === '' ? '' : `?${[query, form].filter((part) => part !== '').join('.')}`;
  const signature = createHmac('sha256', authToken).update(`${origin}${pathname}${signed}.${nonce}`).digest('base64');
  const header = `x-${flavour}-signature-v3`;
  return {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', [header]: signature, [`${header}-nonce`]: nonce },
    body: new URLSearchParams(fields),
  };
}
