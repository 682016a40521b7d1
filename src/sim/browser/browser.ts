import { randomUUID } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import { StreamCall } from '../carrier-call.ts';
import { CarrierLine, type LineOptions } from '../carrier-line.ts';
import { type CarrierWire, openWebSocket, reachedAddress } from '../carrier-wire.ts';
import { CallRefused } from '../errors.ts';
import type { PlaceOptions, SimulatedCarrier } from '../simulated-carrier.ts';

/*
 * A visitor's browser, with a page of a customer's site that has the button of `embed.js`: asks for a call at `/embed/calls` with the origin of that site, and opens
 * the media socket that it is answered with (docs/carriers/browser.md).
 */

const ORIGIN = 'https://www.shop.example';
const PCM_16K = { encoding: 'pcm16', rateHz: 16_000 } as const;
const FRAME_BYTES = 640;

class SimulatedPage extends CarrierLine {
  /** Why the gateway hung up, in its words. */
  stopReason: string | undefined;

  constructor(wire: CarrierWire, clock: Clock, options: LineOptions) {
    super(wire, clock, { from: PCM_16K, to: PCM_16K }, options);
    this.tell({ type: 'start', rateHz: PCM_16K.rateHz });
    this.begin();
  }

  protected override sendDigit(digit: string): void {
    this.tell({ type: 'digit', digit });
  }

  protected override markPlayed(name: string): void {
    this.tell({ type: 'mark', name });
  }

  protected override goodbye(): 'close' {
    this.tell({ type: 'stop' });
    return 'close';
  }

  protected override received(message: Buffer, isBinary: boolean): void {
    if (isBinary) {
      if (message.length === 0 || message.length % FRAME_BYTES !== 0)
        this.complain(`${message.length} bytes are no whole frames`);
      this.play(message);
      return;
    }
    const told = JSON.parse(message.toString('utf8')) as { type: string; name?: string; reason?: string };
    if (told.type === 'mark') this.mark(told.name ?? '');
    else if (told.type === 'clear') this.clear();
    else if (told.type === 'stop') this.stopReason = told.reason;
    else this.complain(`unknown message ${told.type}`);
  }
}

async function place(options: PlaceOptions): Promise<StreamCall> {
  const { url, connectTo, clock, carrierCallId = randomUUID(), stream = {} } = options;
  const response = await fetch(reachedAddress(new URL('/embed/calls', url).href, { url, connectTo }), {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: ORIGIN },
    // Without a bot: visitors of this site call the default one.
    body: JSON.stringify({ id: carrierCallId }),
    signal: AbortSignal.timeout(15_000),
  });
  const text = await response.text();
  if (response.status !== 201) throw new CallRefused(`the gateway answered ${response.status}: ${text}`, []);
  const { streamUrl } = JSON.parse(text) as { streamUrl: string };
  let wire: CarrierWire;
  try {
    wire = await openWebSocket(reachedAddress(streamUrl, { url, connectTo }));
  } catch (cause) {
    throw new CallRefused('the gateway does not open the media socket', [], cause);
  }
  return new StreamCall(carrierCallId, new SimulatedPage(wire, clock, stream));
}

export const simulatedBrowser: SimulatedCarrier = {
  name: 'browser',
  open: () =>
    Promise.resolve({
      env: {
        OFFHOOK_CONSOLE__EMBED__ORIGINS: ORIGIN,
        OFFHOOK_CONSOLE__EMBED__MAXIMUM: '100',
        OFFHOOK_CONSOLE__EMBED__CALLS_PER_MINUTE: '1000',
      },
      place,
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
};
