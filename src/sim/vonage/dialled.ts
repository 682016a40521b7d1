import type { Clock } from '../../kernel/clock.ts';
import type { CarrierSide, Detection, DialledNews, DialledState, SimulatedOrder } from '../caller/callee.ts';
import type { CallerLine } from '../caller/caller.ts';
import { type NccoAction, SimulatedVonageCall } from './carrier.ts';

export interface VonageDialledOptions {
  readonly clock: Clock;
  readonly applicationId: string;
  readonly signatureSecret: string;
  readonly order: SimulatedOrder;
  readonly ncco: readonly NccoAction[];
}

export const STATUSES: Readonly<Record<DialledState, string>> = {
  queued: 'started',
  ringing: 'ringing',
  answered: 'answered',
  completed: 'completed',
  busy: 'busy',
  'no-answer': 'timeout',
  rejected: 'rejected',
  failed: 'failed',
  cancelled: 'cancelled',
};
const DETAILS: Partial<Record<DialledState, string>> = { rejected: 'declined', failed: 'cannot_route' };
const DETECTED: Partial<Record<Detection, { readonly status: string; readonly sub_state?: string }>> = {
  person: { status: 'human' },
  machine: { status: 'machine' },
  'machine-done': { status: 'machine', sub_state: 'beep_start' },
};

/** What Vonage does for a call that it dialled: signed events, the media socket of the NCCO, updates of the live call. */
export class VonageDialled implements CarrierSide {
  readonly call: SimulatedVonageCall;
  readonly ended: Promise<unknown>;
  readonly #options: VonageDialledOptions;
  readonly #stream = { light: true };

  constructor(options: VonageDialledOptions) {
    this.#options = options;
    const { clock, applicationId, signatureSecret, order } = options;
    this.call = new SimulatedVonageCall({
      url: new URL(order.statusUrl).origin,
      signatureSecret,
      applicationId,
      clock,
      uuid: order.carrierCallId,
      stream: this.#stream,
      // The phone reports the end, with whatever came before it.
      tellEnd: () => Promise.resolve(),
    });
    this.ended = this.call.ended;
  }

  async report(news: DialledNews): Promise<void> {
    const { clock, order } = this.#options;
    const leg = {
      from: order.from.slice(1),
      to: order.to.slice(1),
      conversation_uuid: this.call.conversationUuid,
      direction: 'outbound',
      timestamp: new Date(clock.wallMs()).toISOString(),
    };
    if ('detected' in news) {
      const detected = DETECTED[news.detected];
      // Events of detection name their call by another field.
      if (detected !== undefined) await this.call.post(order.statusUrl, { ...leg, call_uuid: order.carrierCallId, ...detected });
      return;
    }
    const detail = news.code ?? DETAILS[news.state];
    const body = { ...leg, uuid: order.carrierCallId, status: STATUSES[news.state], detail, sip_code: news.sip };
    await this.call.post(order.statusUrl, body);
  }

  open(fullMedia: boolean): Promise<CallerLine> {
    this.#stream.light = !fullMedia;
    return this.call.answer(this.#options.ncco);
  }

  hangUp(): Promise<void> {
    return this.call.hangUp();
  }
}
