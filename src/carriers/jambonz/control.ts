import { randomUUID } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import { sleep } from '../../kernel/waiting.ts';
import { joinOneByOne } from '../join-calls.ts';
import type { CallControl, Dialling } from '../port.ts';
import type { RestRequest } from '../rest.ts';
import { callPath, JambonzAccount, type JambonzAccountSettings } from './account.ts';
import { type Redirection, redirectionUrl } from './answer.ts';
import { JambonzDialling, type SpeechNames } from './dialling.ts';

export interface JambonzControlSettings extends JambonzAccountSettings {
  readonly speech: SpeechNames;
  /** The gateway's base address, whose documents redirected calls fetch. */
  readonly gatewayUrl: () => string;
}

const KEY_MS = 250;
/** A `w` among keys. */
const WAIT_MS = 500;

/** Acts on live calls by `PUT /Accounts/{account}/Calls/{call}`, one action a request. For a transfer, jambonz fetches other verbs from us. */
export class JambonzControl implements CallControl {
  readonly dialling: Dialling;
  readonly #account: JambonzAccount;
  readonly #gatewayUrl: () => string;

  constructor({ gatewayUrl, speech, ...account }: JambonzControlSettings, clock: Clock) {
    this.#account = new JambonzAccount(account, clock);
    this.#gatewayUrl = gatewayUrl;
    this.dialling = new JambonzDialling(this.#account, speech, gatewayUrl);
  }

  /** `no-answer` cancels a ringing call only, `completed` ends an answered call only. */
  async hangUp(carrierCallId: string, signal: AbortSignal): Promise<void> {
    for (const status of ['no-answer', 'completed'])
      await this.#account.rest.end(this.#update(carrierCallId, { call_status: status }), signal);
  }

  async transfer(carrierCallId: string, to: string, signal: AbortSignal): Promise<void> {
    await this.#account.rest.repeat(this.#redirect(carrierCallId, { kind: 'dial', to }), signal);
  }

  /** Sent by SIP INFO, one key a request. */
  async sendDigits(carrierCallId: string, digits: string, signal: AbortSignal): Promise<void> {
    for (const digit of digits) {
      if (digit === 'w') await sleep(this.#account.clock, WAIT_MS, signal);
      else await this.#account.rest.once(this.#update(carrierCallId, { dtmf: { digit, duration: KEY_MS } }), signal);
    }
  }

  /** Both calls join a new conference. */
  async join(carrierCallId: string, otherCarrierCallId: string, signal: AbortSignal): Promise<void> {
    const conference = { kind: 'conference', name: `offhook-${randomUUID()}` } as const;
    const move = async (id: string): Promise<void> => {
      await this.#account.rest.repeat(this.#redirect(id, conference), signal);
    };
    await joinOneByOne(this, [carrierCallId, otherCarrierCallId], move, signal);
  }

  #redirect(carrierCallId: string, redirection: Redirection): RestRequest {
    const url = redirectionUrl(this.#gatewayUrl(), redirection);
    return this.#update(carrierCallId, { call_hook: { url, method: 'POST' } });
  }

  #update(carrierCallId: string, body: object): RestRequest {
    return this.#account.request('PUT', callPath(carrierCallId), body);
  }
}
