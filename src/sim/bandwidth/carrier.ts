import { randomUUID } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import { errorText } from '../../kernel/errors.ts';
import type { AudioFormat } from '../../audio/format.ts';
import { readAnswerXml, type XmlElement } from '../answer-xml.ts';
import type { LineOptions } from '../carrier-line.ts';
import { type CarrierWire, openWebSocket, reachedAddress } from '../carrier-wire.ts';
import { basicOf } from '../dialling-carrier.ts';
import { CallRefused } from '../errors.ts';
import { base64, type Fields, fieldsOf, JsonLine } from '../json-line.ts';
import { type CallOptions, CarrierCall } from '../carrier-call.ts';

/*
 * Bandwidth's voice platform from its own side, written from its documents: JSON webhooks that bring credentials only where they are asked for, BXML
 * whose verbs are executed one after the other, streams that run beside them.
 */

/** Forms that `playAudio` takes. */
const PLAYED: Readonly<Record<string, AudioFormat>> = {
  'audio/pcmu': { encoding: 'mulaw', rateHz: 8_000 },
  ...Object.fromEntries(
    [8_000, 16_000, 24_000].map((rateHz) => [
      `audio/pcm;rate=${rateHz};channels=1;bit-depth=16;endian=little;encoding=signed`,
      { encoding: 'pcm16', rateHz } as const,
    ]),
  ),
};

export class SimulatedBandwidthStream extends JsonLine {
  readonly streamId = `s-${randomUUID()}`;
  #sequence = 1;

  private constructor(wire: CarrierWire, callId: string, to: AudioFormat, clock: Clock, options: LineOptions) {
    super(wire, clock, { from: { encoding: 'mulaw', rateHz: 8_000 }, to }, options);
    const metadata = {
      accountId: '55555555',
      callId,
      streamId: this.streamId,
      streamName: 'a stream',
      tracks: [{ name: 'inbound' }],
    };
    this.tell({ eventType: 'start', metadata, streamParams: {} });
    this.begin();
  }

  /** @param to what the gateway is expected to send @throws when the gateway refuses the socket */
  static async open(url: string, callId: string, to: AudioFormat, clock: Clock, options: LineOptions = {}) {
    return new SimulatedBandwidthStream(await openWebSocket(url), callId, to, clock, options);
  }

  protected override sendAudio(payload: Uint8Array): void {
    const media = { track: 'inbound', sequenceNumber: this.#sequence++, payload: base64(payload) };
    this.tell({ eventType: 'media', ...media });
  }

  /** Keys never come over the stream. */
  onDigit: (digit: string) => void = () => undefined;

  protected sendDigit(digit: string): void {
    this.onDigit(digit);
  }

  protected override goodbye(): 'close' {
    this.tell({ eventType: 'stop' });
    return 'close';
  }

  protected override told({ eventType, media }: Fields): void {
    if (eventType === 'clear') {
      // Nothing says that it was done.
      this.clear();
      return;
    }
    if (eventType !== 'playAudio') return this.complain(`a message that is none: ${String(eventType).slice(0, 40)}`);
    const { contentType, payload } = fieldsOf(media);
    const format = PLAYED[String(contentType)];
    const { to } = this.formats;
    if (format?.encoding !== to.encoding || format.rateHz !== to.rateHz) return this.complain(`audio as ${String(contentType)}`);
    if (typeof payload !== 'string' || !/^[\w+/]+={0,2}$/u.test(payload)) return this.complain('audio without base64');
    this.play(Buffer.from(payload, 'base64'));
  }
}

export interface BandwidthCallOptions extends CallOptions {
  /** What the application, or the order, gives its webhooks. */
  readonly user: string;
  readonly password: string;
  readonly direction?: 'inbound' | 'outbound';
  /** What the gateway is expected to send; mu-law when absent. */
  readonly hears?: AudioFormat;
}

export class SimulatedBandwidthCall extends CarrierCall<SimulatedBandwidthStream, BandwidthCallOptions> {
  /** The call that it was bridged with. */
  bridged: string | undefined;
  /** Streams of this call by their names. */
  readonly #named = new Map<string, SimulatedBandwidthStream>();
  /** Of the document that is executed; another one takes its place. */
  #document = 0;
  #answeredAt: string | undefined;
  /** Where keys are reported, once a document has asked for them. */
  #dtmfUrl: string | undefined;

  constructor(options: BandwidthCallOptions) {
    super(options, `c-${randomUUID()}`);
  }

  /** When the call was answered, if it was: ISO 8601. */
  get answerTime(): string | undefined {
    return this.#answeredAt;
  }

  /** A call comes in. @throws CallRefused when no stream opens; the call is over then */
  connect(): Promise<SimulatedBandwidthStream> {
    return this.fetch(this.voicePath('bandwidth'), { eventType: 'initiate' });
  }

  /** Fetches a document and executes it until it waits. @throws CallRefused when it opens no stream */
  fetch(address: string, event: object): Promise<SimulatedBandwidthStream> {
    this.#answeredAt ??= new Date(this.options.clock.wallMs()).toISOString();
    return this.begin(async () => {
      const answer = await this.post(address, event);
      if (answer.status !== 200) throw new CallRefused(`the webhook was answered with ${answer.status}`, this.said);
      await this.#execute(readAnswerXml(answer.body));
    });
  }

  /** `PUT /calls/{id}/bxml`: leaves the document that is executed; streams go on. @throws SyntaxError for what is no BXML */
  update(document: string): void {
    const verbs = readAnswerXml(document, 'Bxml');
    this.#execute(verbs).catch(() => this.finish());
  }

  async #execute(verbs: readonly XmlElement[]): Promise<void> {
    const document = ++this.#document;
    for (const [at, verb] of verbs.entries()) {
      if (await this.#isLast(verb, document, verbs.slice(at + 1))) return;
      if (document !== this.#document || this.isOver) return;
    }
    await this.finish();
  }

  /** Executes one verb. @returns whether the rest is not for now: the call is elsewhere, or what follows is executed later */
  async #isLast(
    { name, attributes, text, children }: XmlElement,
    document: number,
    rest: readonly XmlElement[],
  ): Promise<boolean> {
    switch (name) {
      case 'SpeakSentence':
        this.said.push(text);
        return false;
      case 'SendDtmf':
        this.digits.push(text);
        return false;
      case 'Hangup':
        await this.finish();
        return true;
      case 'Pause':
        return true;
      case 'Redirect': {
        const answer = await this.post(attributes['redirectUrl'] ?? '', { eventType: 'redirect' });
        if (answer.status !== 200) throw new SyntaxError(`the redirect was answered with ${answer.status}`);
        await this.#execute(readAnswerXml(answer.body));
        return true;
      }
      case 'StartGather':
        if (attributes['username'] === this.options.user && attributes['password'] === this.options.password)
          this.#dtmfUrl = attributes['dtmfUrl'];
        return false;
      case 'StopGather':
        this.#dtmfUrl = undefined;
        return false;
      case 'StartStream':
        await this.#start(attributes);
        return false;
      case 'StopStream': {
        const stream = this.#named.get(attributes['name'] ?? '');
        if (attributes['wait'] !== 'true') stream?.stop();
        // The verbs behind it are executed when the gateway has closed the stream's socket.
        else if (stream !== undefined) {
          const goOn = (): Promise<void> => this.#execute(rest).catch(() => this.finish());
          void stream.ended.then(() => (document === this.#document && !this.isOver ? goOn() : undefined));
          return true;
        }
        return false;
      }
      case 'Transfer':
        this.dialled = children[0]?.text;
        this.passOn();
        return true;
      case 'Bridge':
        this.bridged = text;
        this.passOn();
        return true;
      default:
        throw new SyntaxError(`there is no verb <${name}>`);
    }
  }

  async #start(attributes: Readonly<Record<string, string>>): Promise<void> {
    const { clock, hears = { encoding: 'mulaw', rateHz: 8_000 }, stream: options } = this.options;
    const { name = '', mode, destination = '', streamEventUrl, username, password } = attributes;
    if (mode !== 'bidirectional') throw new SyntaxError('the stream is not bidirectional');
    const isProven = username === this.options.user && password === this.options.password;
    const tell = async (event: object): Promise<void> => {
      if (streamEventUrl !== undefined && isProven) await this.post(streamEventUrl, event).catch(() => undefined);
    };
    let stream: SimulatedBandwidthStream;
    try {
      stream = await SimulatedBandwidthStream.open(
        reachedAddress(destination, this.options),
        this.carrierCallId,
        hears,
        clock,
        options,
      );
    } catch (error) {
      await tell({ eventType: 'mediaStreamRejected', errorMessage: errorText(error) });
      throw new CallRefused(`the media stream was refused: ${errorText(error)}`, this.said, error);
    }
    this.#named.set(name, stream);
    stream.onDigit = (digit) => {
      if (this.#dtmfUrl !== undefined) void this.post(this.#dtmfUrl, { eventType: 'dtmf', digit }).catch(() => undefined);
    };
    this.opened(stream);
    void tell({ eventType: 'mediaStreamStarted' });
    void stream.ended.then(() => tell({ eventType: 'mediaStreamStopped', cause: 'closed' }));
  }

  protected override tellEnd(): Promise<unknown> {
    return this.post('/carriers/bandwidth/status', { eventType: 'disconnect', cause: 'hangup' });
  }

  /** A webhook: without credentials first, and with them where the gateway asks for them. @param address in full, or below the gateway's */
  async post(address: string, event: object): Promise<{ readonly status: number; readonly body: string }> {
    const { url, user, password, from = '+15550100001', to = '+15550100002', direction = 'inbound' } = this.options;
    const about = { accountId: '55555555', from, to, direction, callId: this.carrierCallId };
    const answered = this.#answeredAt === undefined ? {} : { answerTime: this.#answeredAt };
    const body = JSON.stringify({ ...about, ...answered, ...event });
    const ask = (headers: Readonly<Record<string, string>>): Promise<Response> =>
      fetch(reachedAddress(new URL(address, url).href, this.options), {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
        signal: AbortSignal.timeout(15_000),
      });
    const first = await ask({});
    const challenge = first.headers.get('www-authenticate') ?? '';
    if (first.status !== 401 || !challenge.startsWith('Basic ')) return { status: first.status, body: await first.text() };
    await first.arrayBuffer();
    const second = await ask({ authorization: basicOf(user, password) });
    return { status: second.status, body: await second.text() };
  }
}
