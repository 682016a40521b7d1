import { sleep } from '../../kernel/waiting.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { CallControl, Dialling } from '../port.ts';
import { callPath, VonageAccount, type VonageAccountSettings } from './account.ts';
import { dialNcco } from './answer.ts';
import { VonageDialling, type VonageMedia } from './dialling.ts';

export type VonageControlSettings = VonageAccountSettings & VonageMedia;

/** A `w` among keys. */
const WAIT_MS = 500;

/** Acts on calls over `PUT /v1/calls/{uuid}` (developer.vonage.com/api/voice); a new NCCO ends the media socket of the old one. */
export class VonageControl implements CallControl {
  readonly dialling: Dialling;
  readonly #account: VonageAccount;

  /** @throws when the private key is none */
  constructor({ eventUrl, rateHz, ...account }: VonageControlSettings, clock: Clock) {
    this.#account = new VonageAccount(account, clock);
    this.dialling = new VonageDialling(this.#account, { eventUrl, rateHz });
  }

  async check(signal: AbortSignal): Promise<{ carrierWallMs: number }> {
    const { atWallMs } = await this.#account.rest.repeat(await this.#account.request('GET', '?page_size=1'), signal);
    return { carrierWallMs: atWallMs };
  }

  async hangUp(carrierCallId: string, signal: AbortSignal): Promise<void> {
    await this.#account.rest.end(await this.#put(carrierCallId, '', { action: 'hangup' }), signal);
  }

  async transfer(carrierCallId: string, to: string, signal: AbortSignal): Promise<void> {
    const destination = { type: 'ncco', ncco: dialNcco(to) };
    await this.#account.rest.repeat(await this.#put(carrierCallId, '', { action: 'transfer', destination }), signal);
  }

  async sendDigits(carrierCallId: string, digits: string, signal: AbortSignal): Promise<void> {
    for (const part of digits.split(/(w)/u).filter((piece) => piece !== '')) {
      if (part === 'w') await sleep(this.#account.clock, WAIT_MS, signal);
      else await this.#account.rest.once(await this.#put(carrierCallId, '/dtmf', { digits: part }), signal);
    }
  }

  #put(carrierCallId: string, below: string, body: object) {
    return this.#account.request('PUT', callPath(carrierCallId) + below, body);
  }
}
