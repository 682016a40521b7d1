import { randomUUID } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import { documentUrl } from '../carrier.ts';
import { CarrierControlError } from '../errors.ts';
import { joinOneByOne } from '../join-calls.ts';
import type { CallControl, Dialling } from '../port.ts';
import { contentTypeOf, type StreamAudio } from './dialect.ts';
import { callPath, PlivoAccount, type PlivoAccountSettings } from './account.ts';
import { PlivoDialling } from './dialling.ts';

export interface PlivoControlSettings extends PlivoAccountSettings {
  /** Name of the carrier. */
  readonly carrier: string;
  /** Base address of the gateway, as the carrier reaches it. */
  readonly gatewayUrl: () => string;
  readonly callsPerSecond: number;
  /** Requested format of a call's copy. */
  readonly audio: StreamAudio;
}

/**
 * Acts on calls over `/Call/{uuid}/` (plivo.com/docs/voice/api/calls, docs.vobiz.ai/call): a transfer names another document's address, which the
 * carrier fetches with a signed request.
 */
export class PlivoControl implements CallControl {
  readonly dialling: Dialling;
  readonly #account: PlivoAccount;
  readonly #addressOf: (kind: string, value: string) => string;
  readonly #audio: StreamAudio;

  constructor({ carrier, gatewayUrl, callsPerSecond, audio, ...account }: PlivoControlSettings, clock: Clock) {
    this.#audio = audio;
    this.#account = new PlivoAccount(account, clock);
    this.#addressOf = (kind, value) => documentUrl(gatewayUrl(), carrier, { kind, value, callId: undefined });
    this.dialling = new PlivoDialling(this.#account, { carrier, gatewayUrl, callsPerSecond });
  }

  /** A waiting or ringing call is known by its request, which has the same id. */
  async hangUp(carrierCallId: string, signal: AbortSignal): Promise<void> {
    const { rest } = this.#account;
    try {
      await rest.repeat(this.#account.request('DELETE', callPath(carrierCallId)), signal);
    } catch (error) {
      if (!isUnknownCall(error)) throw error;
      await rest.end(this.#account.request('DELETE', `/Request/${encodeURIComponent(carrierCallId)}/`), signal);
    }
  }

  async transfer(carrierCallId: string, to: string, signal: AbortSignal): Promise<void> {
    await this.#fetchAnew(carrierCallId, this.#addressOf('dial', to), signal);
  }

  async sendDigits(carrierCallId: string, digits: string, signal: AbortSignal): Promise<void> {
    await this.#account.rest.once(this.#account.request('POST', `${callPath(carrierCallId)}DTMF/`, { digits }), signal);
  }

  /** Both calls join a conference room with a random name. */
  async join(carrierCallId: string, otherCarrierCallId: string, signal: AbortSignal): Promise<void> {
    const room = this.#addressOf('join', `offhook-${randomUUID()}`);
    await joinOneByOne(this, [carrierCallId, otherCarrierCallId], (id) => this.#fetchAnew(id, room, signal), signal);
  }

  /** The Stream resource below the call (plivo.com/docs/voice/api/audio-streams, docs.vobiz.ai/audio-streams/start-audio-stream). */
  async fork(carrierCallId: string, streamUrl: string, signal: AbortSignal): Promise<void> {
    const fields = {
      service_url: streamUrl,
      // Both tracks are only sent one way.
      bidirectional: false,
      audio_track: 'both',
      content_type: contentTypeOf(this.#audio),
    };
    await this.#account.rest.once(this.#account.request('POST', `${callPath(carrierCallId)}Stream/`, fields), signal);
  }

  async #fetchAnew(carrierCallId: string, address: string, signal: AbortSignal): Promise<void> {
    const fields = { legs: 'aleg', aleg_url: address, aleg_method: 'POST' };
    await this.#account.rest.repeat(this.#account.request('POST', callPath(carrierCallId), fields), signal);
  }
}

function isUnknownCall(error: unknown): boolean {
  return error instanceof CarrierControlError && error.facts['status'] === 404;
}
