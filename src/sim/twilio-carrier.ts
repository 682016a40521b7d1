import { randomBytes } from 'node:crypto';
import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js';
import type { Clock } from '../kernel/clock.ts';
import { CallRefused } from './errors.ts';
import { SimulatedStream, type StreamOptions } from './twilio-stream.ts';
import { readTwiml } from './twiml.ts';

export interface DialOptions {
  /** The gateway's public base address, as the carrier was configured with it. */
  readonly url: string;
  readonly authToken: string;
  readonly clock: Clock;
  readonly from?: string;
  readonly to?: string;
  readonly bot?: string | undefined;
  readonly stream?: StreamOptions;
}

export { CallRefused } from './errors.ts';

/**
 * One phone call as Twilio would deliver it: a signed voice webhook, the answer document, its media stream, a signed
 * status callback at the end. Real sockets, no account.
 */
export class SimulatedCall {
  readonly callSid = `CA${randomBytes(16).toString('hex')}`;
  readonly accountSid = `AC${randomBytes(16).toString('hex')}`;
  readonly #options: DialOptions;
  #stream: SimulatedStream | undefined;
  #reported = false;

  constructor(options: DialOptions) {
    this.#options = options;
  }

  get stream(): SimulatedStream {
    if (this.#stream === undefined) throw new Error('the call has no media stream');
    return this.#stream;
  }

  /** Fetches the answer document and opens its stream; again for the same call when it is redirected or was cut off. */
  async connect(): Promise<SimulatedStream> {
    const { bot, clock, stream } = this.#options;
    const answer = await this.#post(`/carriers/twilio/voice${bot === undefined ? '' : `/${bot}`}`, { CallStatus: 'ringing' });
    if (answer.status !== 200) throw new CallRefused(`the voice webhook answered ${answer.status}`, []);
    const twiml = readTwiml(answer.body);
    if (twiml.stream === undefined) throw new CallRefused('the answer document opens no stream', twiml.say);
    const ids = { callSid: this.callSid, accountSid: this.accountSid };
    this.#stream = await SimulatedStream.open(twiml.stream, ids, clock, this.#signUpgrade(twiml.stream.url), stream);
    // No verb follows <Connect>, so the end of the stream is the end of the call.
    void this.#stream.ended.then(({ byGateway }) => (byGateway ? this.report() : undefined));
    return this.#stream;
  }

  /** The caller hangs up. */
  async hangUp(): Promise<void> {
    this.#stream?.stop();
    await this.report();
  }

  /** Tells the gateway's status callback that the call is over, once. */
  async report(): Promise<void> {
    if (this.#reported) return;
    this.#reported = true;
    await this.#post('/carriers/twilio/status', { CallStatus: 'completed' }).catch(() => undefined);
  }

  #signUpgrade(streamUrl: string): string {
    return getExpectedTwilioSignature(this.#options.authToken, streamUrl, {});
  }

  async #post(path: string, more: Record<string, string>): Promise<{ status: number; body: string }> {
    const { url, authToken, from = '+15550100001', to = '+15550100002' } = this.#options;
    const fields: Record<string, string> = {
      CallSid: this.callSid,
      AccountSid: this.accountSid,
      From: from,
      To: to,
      Direction: 'inbound',
      ApiVersion: '2010-04-01',
      ...more,
    };
    const address = new URL(path, url).href;
    const response = await fetch(address, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-twilio-signature': getExpectedTwilioSignature(authToken, address, fields),
      },
      body: new URLSearchParams(fields),
      signal: AbortSignal.timeout(15_000),
    });
    return { status: response.status, body: await response.text() };
  }
}

/** Places a call and waits until its media stream is open. @throws CallRefused */
export async function dialTwilio(options: DialOptions): Promise<SimulatedCall> {
  const call = new SimulatedCall(options);
  await call.connect();
  return call;
}
