import type { Clock } from '../../kernel/clock.ts';
import type { CarrierSide, Detection, DialledNews, DialledState, SimulatedOrder } from '../caller/callee.ts';
import type { CallerLine } from '../caller/caller.ts';
import { SimulatedCall } from './carrier.ts';
import type { Verb } from './twiml.ts';
import { signedForm, signedWebhook } from '../voice-webhook.ts';

export interface TwilioDialledOptions {
  readonly clock: Clock;
  readonly accountSid: string;
  readonly authToken: string;
  readonly order: SimulatedOrder;
  /** Or where it is fetched. */
  readonly document: readonly Verb[] | URL;
  readonly isSignalwire?: boolean;
  /** `StatusCallbackEvent`s that the order asks for. */
  readonly events: readonly string[];
  /** Where detection is reported, if it is. */
  readonly detectionUrl: string | undefined;
}

/** `CallStatus`, and the event that asks for it. */
const STATUSES: Readonly<Record<DialledState, readonly [status: string, event: string]>> = {
  queued: ['initiated', 'initiated'],
  ringing: ['ringing', 'ringing'],
  answered: ['in-progress', 'answered'],
  completed: ['completed', 'completed'],
  busy: ['busy', 'completed'],
  'no-answer': ['no-answer', 'completed'],
  // A phone that declines is told from one that is busy by its SIP answer alone.
  rejected: ['busy', 'completed'],
  failed: ['failed', 'completed'],
  cancelled: ['canceled', 'completed'],
};
const DETECTED: Readonly<Record<Detection, string>> = {
  person: 'human',
  machine: 'machine_start',
  'machine-done': 'machine_end_beep',
  fax: 'fax',
  unknown: 'unknown',
};

/** A status as the Call resource has it. */
export function resourceStatus(state: DialledState): string {
  return state === 'queued' ? 'queued' : STATUSES[state][0];
}

/** What Twilio does for a call that it dialled: signed callbacks, the media stream of the document, updates of the live call. */
export class TwilioDialled implements CarrierSide {
  readonly call: SimulatedCall;
  readonly ended: Promise<unknown>;
  readonly #options: TwilioDialledOptions;
  readonly #stream: { light: boolean; signalwire?: boolean } = { light: true };
  readonly #header: string | undefined;
  #sequence = 0;

  constructor(options: TwilioDialledOptions) {
    this.#options = options;
    const { clock, accountSid, authToken, order, isSignalwire = false } = options;
    this.#stream.signalwire = isSignalwire;
    if (isSignalwire) this.#header = 'x-signalwire-signature';
    const { from, to, carrierCallId: callSid, statusUrl } = order;
    this.call = new SimulatedCall({
      url: new URL(statusUrl).origin,
      authToken,
      clock,
      from,
      to,
      callSid,
      accountSid,
      direction: 'outbound-api',
      stream: this.#stream,
      ...(this.#header === undefined ? {} : { header: this.#header, carrier: 'signalwire' }),
      // The phone reports the end, with whatever came before it.
      tellEnd: () => Promise.resolve(),
    });
    this.ended = this.call.ended;
  }

  async report(news: DialledNews): Promise<void> {
    const { authToken, accountSid, order, events, detectionUrl, clock } = this.#options;
    const { from, to, carrierCallId: callSid, statusUrl } = order;
    if ('detected' in news) {
      if (detectionUrl === undefined) return;
      const fields = {
        CallSid: callSid,
        AccountSid: accountSid,
        AnsweredBy: DETECTED[news.detected],
        MachineDetectionDuration: '2400',
      };
      await post(detectionUrl, signedForm(detectionUrl, authToken, fields, this.#header));
      return;
    }
    const [status, event] = STATUSES[news.state];
    if (!events.includes(event)) return;
    const more = {
      Direction: 'outbound-api',
      CallStatus: status,
      CallbackSource: 'call-progress-events',
      SequenceNumber: String(this.#sequence++),
      Timestamp: new Date(clock.wallMs()).toUTCString(),
      ...(news.sip === undefined ? {} : { SipResponseCode: String(news.sip) }),
      ...(news.code === undefined ? {} : { ErrorCode: news.code }),
    };
    await post(statusUrl, signedWebhook(statusUrl, authToken, { callSid, accountSid, from, to }, more, this.#header));
  }

  open(fullMedia: boolean): Promise<CallerLine> {
    this.#stream.light = !fullMedia;
    const { document } = this.#options;
    return document instanceof URL ? this.call.answerFrom(document.href) : this.call.answer(document);
  }

  hangUp(): Promise<void> {
    return this.call.hangUp();
  }
}

async function post(address: string, request: RequestInit): Promise<void> {
  const response = await fetch(address, { ...request, signal: AbortSignal.timeout(15_000) });
  await response.arrayBuffer();
}
