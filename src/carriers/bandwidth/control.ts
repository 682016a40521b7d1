import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import { documentUrl } from '../carrier.ts';
import { foundAmong, progressBy, type ProgressWords, tokenOf, utcTime, wholeSeconds } from '../dialling.ts';
import { type CarrierRest, joinOneByOne, type RestRequest } from '../rest.ts';
import type { CallControl, Dialling, DialProgress } from '../port.ts';
import { bandwidthAccount, type BandwidthAccountSettings } from './account.ts';
import { bridgeBxml, keysBxml, transferBxml, waitBxml } from './bxml.ts';
import { endOf } from './webhook.ts';

export interface BandwidthControlSettings extends BandwidthAccountSettings {
  /** Application of the numbers. */
  readonly applicationId: string;
  /** Name of the carrier. */
  readonly carrier: string;
  readonly gatewayUrl: () => string;
  /** Credentials expected on an order's webhooks. */
  readonly user: string;
  readonly password: Secret;
}

/** Most keys of one `<SendDtmf>`. */
const MOST_KEYS = 50;
/** How long the other call waits to be bridged. */
const BRIDGED_WITHIN_S = 30;

/** Acts on calls over `POST /calls/{id}` and `PUT /calls/{id}/bxml` (dev.bandwidth.com/apis/voice), which gives a live call another document. */
export class BandwidthControl implements CallControl {
  readonly dialling: Dialling;
  readonly #rest: CarrierRest;

  constructor(settings: BandwidthControlSettings, clock: Clock) {
    this.#rest = bandwidthAccount(settings, clock);
    this.dialling = bandwidthDialling(this.#rest, settings);
  }

  async hangUp(carrierCallId: string, signal: AbortSignal): Promise<void> {
    await this.#rest.end({ method: 'POST', path: callPath(carrierCallId), body: { state: 'completed' } }, signal);
  }

  async transfer(carrierCallId: string, to: string, signal: AbortSignal): Promise<void> {
    await this.#rest.repeat(update(carrierCallId, transferBxml(to)), signal);
  }

  async sendDigits(carrierCallId: string, digits: string, signal: AbortSignal): Promise<void> {
    if (digits.length > MOST_KEYS) throw new RangeError(`${digits.length} keys at once; Bandwidth presses at most ${MOST_KEYS}`);
    await this.#rest.once(update(carrierCallId, keysBxml(digits)), signal);
  }

  async join(carrierCallId: string, otherCarrierCallId: string, signal: AbortSignal): Promise<void> {
    const documentOf = (id: string): string =>
      id === carrierCallId ? bridgeBxml(otherCarrierCallId) : waitBxml(BRIDGED_WITHIN_S);
    const move = (id: string) => this.#rest.repeat(update(id, documentOf(id)), signal);
    await joinOneByOne(this, [carrierCallId, otherCarrierCallId], move, signal);
  }
}

/** Address of a call below the calls. */
function callPath(carrierCallId: string): string {
  return `/${encodeURIComponent(carrierCallId)}`;
}

function update(carrierCallId: string, document: string): RestRequest {
  return { method: 'PUT', path: `${callPath(carrierCallId)}/bxml`, body: document };
}

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

/** Places calls over `POST /calls`. The order's document is fetched from an address when the call is answered; ringing is not reported. */
function bandwidthDialling(
  rest: CarrierRest,
  { applicationId, carrier, gatewayUrl, user, password }: BandwidthControlSettings,
): Dialling {
  return {
    capabilities: { callsPerSecond: 1, detectsMachines: true, canFind: true },
    async dial({ from, to, callId, statusUrl, streamUrl, ringTimeoutMs, detectMachine }, signal) {
      const proof = { username: user, password: password.reveal() };
      const body = {
        from,
        to,
        applicationId,
        answerUrl: documentUrl(gatewayUrl(), carrier, { kind: 'stream', value: tokenOf(streamUrl), callId }),
        answerMethod: 'POST',
        disconnectUrl: statusUrl,
        disconnectMethod: 'POST',
        ...proof,
        callTimeout: Math.min(MOST_RINGING_S, wholeSeconds(ringTimeoutMs)),
        ...(detectMachine
          ? { machineDetection: { mode: 'async', callbackUrl: statusUrl, callbackMethod: 'POST', ...proof } }
          : {}),
      };
      const { callId: carrierCallId } = await rest.dial({ method: 'POST', path: '', body }, created, signal);
      return { carrierCallId };
    },
    /** Finds the order by its two numbers and its time (`foundAmong`): our `tag` appears in events, not in the list. */
    async find({ from, to }, askedAtMs, signal) {
      const minStartTime = new Date(askedAtMs - MARGIN_MS).toISOString();
      const query = new URLSearchParams({ from, to, minStartTime, pageSize: String(LISTED_CALLS) });
      const list = await rest.read(`?${query.toString()}`, callList, signal);
      if (list === undefined) return { found: 'unknown' };
      const calls = list.value
        .filter(({ direction }) => direction === 'outbound')
        .map((each) => ({
          carrierCallId: each.callId,
          createdAtMs: utcTime(each.enqueuedTime ?? each.startTime),
          progress: progressOf(each) ?? { state: 'queued' as const },
        }));
      return foundAmong(calls, askedAtMs, { ours: rest.clock.wallMs(), carriers: list.atWallMs });
    },
    async progressOf(carrierCallId, signal) {
      const found = await rest.read(callPath(carrierCallId), call, signal);
      return found && progressOf(found.value);
    },
  };
}

const STATES: ProgressWords = { queued: 'queued', initiated: 'queued', answered: 'answered' };

function progressOf({ state, disconnectCause, answerTime }: z.output<typeof call>): DialProgress | undefined {
  return state === 'disconnected' ? endOf(disconnectCause, answerTime) : progressBy(STATES, state);
}
