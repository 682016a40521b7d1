import type { Clock } from '../../kernel/clock.ts';
import { joinOneByOne } from '../join-calls.ts';
import type { CallControl, Dialling } from '../port.ts';
import { BandwidthAccount, type BandwidthAccountSettings, callPath } from './account.ts';
import { bridgeBxml, keysBxml, transferBxml, waitBxml } from './bxml.ts';
import { BandwidthDialling, type BandwidthOrders } from './dialling.ts';

export interface BandwidthControlSettings extends BandwidthAccountSettings, BandwidthOrders {}

/** Most keys of one `<SendDtmf>`. */
const MOST_KEYS = 50;
/** How long the other call waits to be bridged. */
const BRIDGED_WITHIN_S = 30;

/** Acts on calls over `POST /calls/{id}` and `PUT /calls/{id}/bxml` (dev.bandwidth.com/apis/voice), which gives a live call another document. */
export class BandwidthControl implements CallControl {
  readonly dialling: Dialling;
  readonly #account: BandwidthAccount;

  constructor({ applicationId, carrier, gatewayUrl, user, password, ...account }: BandwidthControlSettings, clock: Clock) {
    this.#account = new BandwidthAccount(account, clock);
    this.dialling = new BandwidthDialling(this.#account, { applicationId, carrier, gatewayUrl, user, password });
  }

  async hangUp(carrierCallId: string, signal: AbortSignal): Promise<void> {
    const request = await this.#account.request('POST', callPath(carrierCallId), signal, { state: 'completed' });
    await this.#account.rest.end(request, signal);
  }

  async transfer(carrierCallId: string, to: string, signal: AbortSignal): Promise<void> {
    await this.#update(carrierCallId, transferBxml(to), signal);
  }

  async sendDigits(carrierCallId: string, digits: string, signal: AbortSignal): Promise<void> {
    if (digits.length > MOST_KEYS) throw new RangeError(`${digits.length} keys at once; Bandwidth presses at most ${MOST_KEYS}`);
    const request = await this.#account.request('PUT', `${callPath(carrierCallId)}/bxml`, signal, keysBxml(digits));
    await this.#account.rest.once(request, signal);
  }

  async join(carrierCallId: string, otherCarrierCallId: string, signal: AbortSignal): Promise<void> {
    const documentOf = (id: string): string =>
      id === carrierCallId ? bridgeBxml(otherCarrierCallId) : waitBxml(BRIDGED_WITHIN_S);
    await joinOneByOne(this, [carrierCallId, otherCarrierCallId], (id) => this.#update(id, documentOf(id), signal), signal);
  }

  async #update(carrierCallId: string, document: string, signal: AbortSignal): Promise<void> {
    const request = await this.#account.request('PUT', `${callPath(carrierCallId)}/bxml`, signal, document);
    await this.#account.rest.repeat(request, signal);
  }
}
