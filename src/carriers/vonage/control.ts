import { randomUUID } from 'node:crypto';
import { sleep } from '../../kernel/waiting.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { CallControl, Dialling } from '../port.ts';
import { callPath, VonageAccount, type VonageAccountSettings } from './account.ts';
import { conversationNcco, dialNcco, type Ncco } from './answer.ts';
import { VonageDialling, type VonageMedia } from './dialling.ts';

export type VonageControlSettings = VonageAccountSettings & VonageMedia;

/** A `w` among keys. */
const WAIT_MS = 500;

/** Acts on calls over `PUT /v1/calls/{uuid}` (developer.vonage.com/api/voice); a new NCCO ends the old one's media socket. */
export class VonageControl implements CallControl {
  readonly dialling: Dialling;
  readonly #account: VonageAccount;

  /** @throws for an invalid private key */
  constructor({ eventUrl, rateHz, proofKey, ...account }: VonageControlSettings, clock: Clock) {
    this.#account = new VonageAccount(account, clock);
    this.dialling = new VonageDialling(this.#account, { eventUrl, rateHz, proofKey });
  }

  async check(signal: AbortSignal): Promise<{ carrierWallMs: number }> {
    const { atWallMs } = await this.#account.rest.repeat(await this.#account.request('GET', '?page_size=1'), signal);
    return { carrierWallMs: atWallMs };
  }

  async hangUp(carrierCallId: string, signal: AbortSignal): Promise<void> {
    await this.#account.rest.end(await this.#put(carrierCallId, '', { action: 'hangup' }), signal);
  }

  async transfer(carrierCallId: string, to: string, signal: AbortSignal): Promise<void> {
    await this.#goOnWith(carrierCallId, dialNcco(to), signal);
  }

  async sendDigits(carrierCallId: string, digits: string, signal: AbortSignal): Promise<void> {
    for (const part of digits.split(/(w)/u).filter((piece) => piece !== '')) {
      if (part === 'w') await sleep(this.#account.clock, WAIT_MS, signal);
      else await this.#account.rest.once(await this.#put(carrierCallId, '/dtmf', { digits: part }), signal);
    }
  }

  /** The other call moves first: if it cannot, nothing has changed. If the first one then cannot, the other is hung up, as it would wait alone. */
  async join(carrierCallId: string, otherCarrierCallId: string, signal: AbortSignal): Promise<void> {
    const ncco = conversationNcco(`offhook-${randomUUID()}`);
    await this.#goOnWith(otherCarrierCallId, ncco, signal);
    try {
      await this.#goOnWith(carrierCallId, ncco, signal);
    } catch (error) {
      await this.hangUp(otherCarrierCallId, signal).catch(() => undefined);
      throw error;
    }
  }

  async #goOnWith(carrierCallId: string, ncco: Ncco, signal: AbortSignal): Promise<void> {
    const body = { action: 'transfer', destination: { type: 'ncco', ncco } };
    await this.#account.rest.repeat(await this.#put(carrierCallId, '', body), signal);
  }

  #put(carrierCallId: string, below: string, body: object) {
    return this.#account.request('PUT', callPath(carrierCallId) + below, body);
  }
}
