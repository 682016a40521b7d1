import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import { documentUrl } from '../carrier.ts';
import { foundAmong, tokenOf, utcTime, wholeSeconds } from '../dialling.ts';
import type { DialCapabilities, Dialling, DialOrder, DialProgress, FoundDial, SoughtDial } from '../port.ts';
import { type BandwidthAccount, callPath } from './account.ts';
import { endOf } from './webhook.ts';

/** The carrier's limit on ringing. */
const MOST_RINGING_S = 300;
/** Far more calls than a pair of numbers has within the searched minutes. */
const LISTED_CALLS = 50;
/** How much earlier than its order a call may be dated, as the clocks differ. */
const MARGIN_MS = 60_000;

const created = z.object({ callId: z.string().min(1).max(128) });
const time = z.string().nullish().catch(undefined);
const call = z.object({
  callId: z.string(),
  state: z.string(),
  direction: z.string().catch(''),
  enqueuedTime: time,
  startTime: time,
  answerTime: time,
  disconnectCause: time,
});
const callList = z.array(call);

export interface BandwidthOrders {
  /** Application of the numbers. */
  readonly applicationId: string;
  /** Name of the carrier. */
  readonly carrier: string;
  readonly gatewayUrl: () => string;
  /** Credentials expected on an order's webhooks. */
  readonly user: string;
  readonly password: Secret;
}

/** Places calls over `POST /calls`. The order's document is fetched from an address when the call is answered; ringing is not reported. */
export class BandwidthDialling implements Dialling {
  readonly capabilities: DialCapabilities = { callsPerSecond: 1, detectsMachines: true, canFind: true };
  readonly #account: BandwidthAccount;
  readonly #orders: BandwidthOrders;

  constructor(account: BandwidthAccount, orders: BandwidthOrders) {
    this.#account = account;
    this.#orders = orders;
  }

  async dial(order: DialOrder, signal: AbortSignal): Promise<{ readonly carrierCallId: string }> {
    const { applicationId, carrier, gatewayUrl, user, password } = this.#orders;
    const { from, to, callId, statusUrl } = order;
    const proof = { username: user, password: password.reveal() };
    const wanted = { kind: 'stream', value: tokenOf(order.streamUrl), callId };
    const request = await this.#account.request('POST', '', signal, {
      from,
      to,
      applicationId,
      answerUrl: documentUrl(gatewayUrl(), carrier, wanted),
      answerMethod: 'POST',
      disconnectUrl: statusUrl,
      disconnectMethod: 'POST',
      ...proof,
      callTimeout: Math.min(MOST_RINGING_S, wholeSeconds(order.ringTimeoutMs)),
      ...(order.detectMachine
        ? { machineDetection: { mode: 'async', callbackUrl: statusUrl, callbackMethod: 'POST', ...proof } }
        : {}),
    });
    const { callId: carrierCallId } = await this.#account.rest.dial(request, created, signal);
    return { carrierCallId };
  }

  /** Finds the order by its two numbers and its time (`foundAmong`): our `tag` appears in events, not in the list. */
  async find({ from, to }: Pick<SoughtDial, 'from' | 'to'>, askedAtMs: number, signal: AbortSignal): Promise<FoundDial> {
    const { rest, clock } = this.#account;
    const minStartTime = new Date(askedAtMs - MARGIN_MS).toISOString();
    const query = new URLSearchParams({ from, to, minStartTime, pageSize: String(LISTED_CALLS) });
    const list = await rest.read(await this.#account.request('GET', `?${query.toString()}`, signal), callList, signal);
    if (list === undefined) return { found: 'unknown' };
    const calls = list.value
      .filter(({ direction }) => direction === 'outbound')
      .map((each) => ({
        carrierCallId: each.callId,
        createdAtMs: utcTime(each.enqueuedTime ?? each.startTime),
        progress: progressOf(each) ?? { state: 'queued' as const },
      }));
    return foundAmong(calls, askedAtMs, { ours: clock.wallMs(), carriers: list.atWallMs });
  }

  async progressOf(carrierCallId: string, signal: AbortSignal): Promise<DialProgress | undefined> {
    const request = await this.#account.request('GET', callPath(carrierCallId), signal);
    const found = await this.#account.rest.read(request, call, signal);
    return found === undefined ? undefined : progressOf(found.value);
  }
}

function progressOf({ state, disconnectCause, answerTime }: z.output<typeof call>): DialProgress | undefined {
  switch (state) {
    case 'queued':
    case 'initiated':
      return { state: 'queued' };
    case 'answered':
      return { state: 'answered' };
    case 'disconnected':
      return endOf(disconnectCause, answerTime);
    default:
      return undefined;
  }
}
