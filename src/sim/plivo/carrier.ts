import { createHmac, randomInt, randomUUID } from 'node:crypto';
import { errorText } from '../../kernel/errors.ts';
import { readAnswerXml, type XmlElement } from '../answer-xml.ts';
import { reachedAddress } from '../carrier-wire.ts';
import { CallRefused } from '../errors.ts';
import { type CallOptions, CarrierCall } from '../carrier-call.ts';
import { type PlivoFlavour, SimulatedPlivoStream } from './stream.ts';

/*
 * Plivo, and Vobiz, from their own side, written from their documents: signed form webhooks, answer XML, audio streams, the report of a call's end.
 */

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
