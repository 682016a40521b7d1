import { z } from 'zod';
import { errorText } from '../../kernel/errors.ts';
import { foundAmong, MOST_QUEUED_MS, wholeSeconds } from '../dialling.ts';
import { CarrierControlError, DialUnknownError } from '../errors.ts';
import type { DialCapabilities, Dialling, DialOrder, DialProgress, FoundDial, SoughtDial } from '../port.ts';
import { callPath, type TwilioAccount } from './account.ts';
import { streamAnswer } from './answer.ts';
import { dialProgress } from './webhook.ts';

/** The carrier's limits on ringing and calls. */
const MOST_RINGING_S = 600;
const MOST_CALL_S = 86_400;
/** Far more calls than a pair of numbers has within the searched minute. */
const LISTED_CALLS = 50;

/** Reported events; by default only the end is. */
const EVENTS = ['initiated', 'ringing', 'answered', 'completed'];

const created = z.object({
  sid: z.string().min(1).max(128),
  /** Ms the order waits in the queue, as text. */
  queue_time: z.coerce.number().catch(0),
});
const call = z.object({
  sid: z.string(),
  status: z.string(),
  direction: z.string().catch(''),
  /** RFC 2822. */
  date_created: z.string().catch(''),
});
const callList = z.object({ calls: z.array(call) });

export interface TwilioDialParts {
  /** Fields of an order that hold its document. */
  readonly documentFields: (order: DialOrder) => [string, string][];
}

const inline: TwilioDialParts['documentFields'] = ({ streamUrl: url, callId }) => [
  ['Twiml', streamAnswer({ url, parameters: { callId } })],
];

/**
 * Places calls over the carrier's Call resource: `POST /2010-04-01/Accounts/{sid}/Calls.json` with the answer document in the order, so that an
 * answered call opens its stream without another webhook.
 */
export class TwilioDialling implements Dialling {
  readonly capabilities: DialCapabilities = { callsPerSecond: 1, detectsMachines: true, canFind: true };
  readonly #account: TwilioAccount;
  readonly #documentFields: TwilioDialParts['documentFields'];

  constructor(account: TwilioAccount, documentFields: TwilioDialParts['documentFields'] = inline) {
    this.#account = account;
    this.#documentFields = documentFields;
  }

  /** An order beyond the account's rate is queued. One that would wait longer than its stream token is valid is cancelled, and counts as refused. */
  async dial(order: DialOrder, signal: AbortSignal): Promise<{ readonly carrierCallId: string }> {
    const request = this.#account.request('POST', '/Calls.json', orderFields(order, this.#documentFields(order)));
    const { sid, queue_time: queuedMs } = await this.#account.rest.dial(request, created, signal);
    if (queuedMs <= MOST_QUEUED_MS) return { carrierCallId: sid };
    const waits = `the carrier would place the call only in ${Math.round(queuedMs / 1000)} s`;
    const facts = { carrierCode: 'queued', queuedMs };
    try {
      await this.#account.rest.end(this.#account.request('POST', callPath(sid), { Status: 'completed' }), signal);
    } catch (cause) {
      throw new DialUnknownError(`${waits}, and taking it back failed: ${errorText(cause)}`, { cause, facts });
    }
    throw new CarrierControlError(`${waits}: it was taken back`, { retryable: true, surelyNotDone: true, facts });
  }

  /**
   * The carrier stores none of our ids, so a call is found by its two numbers, direction and creation time (`foundAmong`). The list is not filtered
   * by start time, which a call lacks before it is dialled.
   */
  async find({ from, to }: Pick<SoughtDial, 'from' | 'to'>, askedAtMs: number, signal: AbortSignal): Promise<FoundDial> {
    const query = new URLSearchParams({ From: from, To: to, PageSize: String(LISTED_CALLS) });
    const list = await this.#account.rest.read(this.#account.request('GET', `/Calls.json?${query.toString()}`), callList, signal);
    if (list === undefined) return { found: 'unknown' };
    const candidates = list.value.calls
      .filter(({ direction }) => direction === 'outbound-api')
      .map(({ sid, status, date_created: date }) => ({
        carrierCallId: sid,
        createdAtMs: Date.parse(date),
        progress: dialProgress(status) ?? { state: 'queued' as const },
      }));
    const clocks = { ours: this.#account.clock.wallMs(), carriers: list.atWallMs };
    return foundAmong(candidates, askedAtMs, clocks);
  }

  async progressOf(carrierCallId: string, signal: AbortSignal): Promise<DialProgress | undefined> {
    const found = await this.#account.rest.read(this.#account.request('GET', callPath(carrierCallId)), call, signal);
    return found === undefined ? undefined : dialProgress(found.value.status);
  }
}

function orderFields(order: DialOrder, document: [string, string][]): [string, string][] {
  const { statusUrl } = order;
  return [
    ['To', order.to],
    ['From', order.from],
    ...document,
    ['Timeout', String(Math.min(MOST_RINGING_S, wholeSeconds(order.ringTimeoutMs)))],
    ['TimeLimit', String(Math.min(MOST_CALL_S, wholeSeconds(order.maxDurationMs)))],
    ['StatusCallback', statusUrl],
    ['StatusCallbackMethod', 'POST'],
    ...EVENTS.map((event): [string, string] => ['StatusCallbackEvent', event]),
    ...(order.detectMachine ? detectionFields(statusUrl) : []),
  ];
}

/** The document is obeyed at once; who answered is reported later. */
function detectionFields(statusUrl: string): [string, string][] {
  return [
    ['MachineDetection', 'Enable'],
    ['AsyncAmd', 'true'],
    ['AsyncAmdStatusCallback', statusUrl],
    ['AsyncAmdStatusCallbackMethod', 'POST'],
  ];
}
