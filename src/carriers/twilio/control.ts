import type { Clock } from '../../kernel/clock.ts';
import { joinOneByOne } from '../join-calls.ts';
import type { CallControl, Dialling } from '../port.ts';
import type { RestRequest } from '../rest.ts';
import { callPath, TwilioAccount, type TwilioAccountSettings } from './account.ts';
import { conferenceAnswer, dialAnswer, digitsAnswer } from './answer.ts';
import { TwilioDialling, type TwilioDialParts } from './dialling.ts';

export interface TwilioControlSettings extends TwilioAccountSettings {
  /** Address of the voice webhook, for calls that come back. */
  readonly voiceUrl: () => string;
  /** Fields of a request with a document: the document itself at Twilio. */
  readonly documentFields?: DocumentFields;
  /** The same for a dial's document. */
  readonly dialFields?: TwilioDialParts['documentFields'];
}

/** @param kind of the document, and `value`, its input; `document` is the document itself */
export type DocumentFields = (kind: 'dial' | 'conference', value: string, document: string) => Record<string, string>;

const inline: DocumentFields = (_kind, _value, document) => ({ Twiml: document });

/**
 * Acts on calls over the carrier's REST interface: `POST /2010-04-01/Accounts/{sid}/Calls/{call}.json` with `Status` or `Twiml` (the carrier's page
 * "Call resource", "Update a Call"). A new answer document ends the media stream of the old one.
 */
export class TwilioControl implements CallControl {
  readonly dialling: Dialling;
  readonly #voiceUrl: () => string;
  readonly #documentFields: DocumentFields;
  readonly #account: TwilioAccount;

  constructor({ voiceUrl, documentFields = inline, dialFields, ...account }: TwilioControlSettings, clock: Clock) {
    this.#documentFields = documentFields;
    this.#voiceUrl = voiceUrl;
    this.#account = new TwilioAccount(account, clock);
    this.dialling = new TwilioDialling(this.#account, dialFields);
  }

  async check(signal: AbortSignal): Promise<{ carrierWallMs: number }> {
    const { atWallMs } = await this.#account.rest.repeat(this.#account.request('GET', '/Calls.json?PageSize=1'), signal);
    return { carrierWallMs: atWallMs };
  }

  async hangUp(carrierCallId: string, signal: AbortSignal): Promise<void> {
    await this.#account.rest.end(this.#update(carrierCallId, { Status: 'completed' }), signal);
  }

  async transfer(carrierCallId: string, to: string, signal: AbortSignal): Promise<void> {
    await this.#account.rest.repeat(this.#update(carrierCallId, this.#documentFields('dial', to, dialAnswer(to))), signal);
  }

  async sendDigits(carrierCallId: string, digits: string, signal: AbortSignal): Promise<void> {
    await this.#account.rest.once(this.#update(carrierCallId, { Twiml: digitsAnswer(digits, this.#voiceUrl()) }), signal);
  }

  /** Both calls join one conference. */
  async join(carrierCallId: string, otherCarrierCallId: string, signal: AbortSignal): Promise<void> {
    const room = `offhook-${carrierCallId}`;
    const fields = this.#documentFields('conference', room, conferenceAnswer(room));
    const move = async (id: string): Promise<void> => {
      await this.#account.rest.repeat(this.#update(id, fields), signal);
    };
    await joinOneByOne(this, [carrierCallId, otherCarrierCallId], move, signal);
  }

  /** A fork of the live call: the Stream resource below it (twilio.com/docs/voice/api/stream-resource). */
  async fork(carrierCallId: string, streamUrl: string, signal: AbortSignal): Promise<void> {
    const path = callPath(carrierCallId).replace(/\.json$/u, '/Streams.json');
    await this.#account.rest.once(this.#account.request('POST', path, { Url: streamUrl, Track: 'both_tracks' }), signal);
  }

  #update(carrierCallId: string, fields: Record<string, string>): RestRequest {
    return this.#account.request('POST', callPath(carrierCallId), fields);
  }
}
