import { randomUUID } from 'node:crypto';
import type { CallControl, Dialling } from '../port.ts';
import type { TelnyxAccount } from './account.ts';
import { NOTHING_NEXT, writeClientState } from './client-state.ts';
import { TelnyxDialling, type TelnyxDialSettings } from './dialling.ts';

export interface TelnyxControlSettings {
  /** Undefined without an application: no calls are placed then. */
  readonly dialling: TelnyxDialSettings | undefined;
  /** The webhook's address, for reports on a transfer's leg. */
  readonly webhookUrl: () => string;
  /** Fields of `streaming_start` for a copy of both sides of a call. */
  readonly forkFields: (streamUrl: string) => object;
}

/** Acts on calls by commands, `POST /v2/calls/{call}/actions/…` (developers.telnyx.com/api-reference/call-commands). */
export class TelnyxControl implements CallControl {
  readonly outlivesStream = true;
  readonly dialling: Dialling | undefined;
  readonly #account: TelnyxAccount;
  readonly #webhookUrl: () => string;
  readonly #forkFields: TelnyxControlSettings['forkFields'];

  constructor(account: TelnyxAccount, { dialling, webhookUrl, forkFields }: TelnyxControlSettings) {
    this.#account = account;
    this.#webhookUrl = webhookUrl;
    this.#forkFields = forkFields;
    this.dialling = dialling && new TelnyxDialling(account, dialling);
  }

  hangUp(carrierCallId: string, signal: AbortSignal): Promise<void> {
    return this.#account.hangUp(carrierCallId, signal);
  }

  /**
   * After a failed transfer the caller would stay in silence, so their call ends with that leg. A retry has the same `command_id`, which Telnyx
   * ignores the second time.
   */
  async transfer(carrierCallId: string, to: string, signal: AbortSignal): Promise<void> {
    const account = this.#account;
    const state = writeClientState({ next: 'hang-up-caller', call: carrierCallId });
    const webhook = { webhook_url: this.#webhookUrl(), webhook_url_method: 'POST' };
    const body = { to, client_state: NOTHING_NEXT, target_leg_client_state: state, ...webhook, command_id: randomUUID() };
    await account.rest.repeat(account.command(carrierCallId, 'transfer', body), signal);
    await this.#stopStream(carrierCallId, signal);
  }

  async sendDigits(carrierCallId: string, digits: string, signal: AbortSignal): Promise<void> {
    await this.#account.rest.once(this.#account.command(carrierCallId, 'send_dtmf', { digits }), signal);
  }

  async join(carrierCallId: string, otherCarrierCallId: string, signal: AbortSignal): Promise<void> {
    const body = { call_control_id: otherCarrierCallId, client_state: NOTHING_NEXT };
    await this.#account.rest.once(this.#account.command(carrierCallId, 'bridge', body), signal);
    await Promise.all([this.#stopStream(carrierCallId, signal), this.#stopStream(otherCarrierCallId, signal)]);
  }

  async fork(carrierCallId: string, streamUrl: string, signal: AbortSignal): Promise<void> {
    await this.#account.rest.once(this.#account.command(carrierCallId, 'streaming_start', this.#forkFields(streamUrl)), signal);
  }

  /** The bot leaves a continuing call. A refusal means that the stream or the call has ended. */
  async #stopStream(carrierCallId: string, signal: AbortSignal): Promise<void> {
    const body = { client_state: NOTHING_NEXT };
    await this.#account.rest.repeat(this.#account.command(carrierCallId, 'streaming_stop', body), signal).catch(() => undefined);
  }
}
