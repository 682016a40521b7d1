import { z } from 'zod';
import { documentUrl } from '../carrier.ts';
import { foundAmong, type ListedCall, tokenOf, utcTime, wholeSeconds, withoutPlus } from '../dialling.ts';
import type { DialCapabilities, Dialling, DialOrder, DialProgress, FoundDial, SoughtDial } from '../port.ts';
import { callPath, type PlivoAccount } from './account.ts';
import { callProgress, endOf } from './webhook.ts';

/** The carrier's limit on a call. */
const MOST_CALL_S = 86_400;
/** Page size of a list; a pair of numbers has far fewer calls within the searched minutes. */
const LISTED_CALLS = 20;

/** An unanswered call has no time; it counts as ours for as long as ours may wait and ring. */
const WAITS_MS = 5 * 60_000;

const uuid = z.string().min(1).max(128);
/** An array for several numbers. Both carriers say that it is the call's own id (plivo-python#44, docs.vobiz.ai/call/retrieve-queued-call). */
const created = z.object({ request_uuid: z.union([uuid, z.tuple([uuid]).transform(([only]) => only)]) });
const word = z.string().nullish().catch(undefined);
const code = z.union([z.string(), z.number()]).nullish().catch(undefined);

/** An entry of the log of ended calls. The family has two names for some fields. */
const logged = z.object({
  call_uuid: uuid,
  call_state: word,
  call_status: word,
  status: word,
  call_direction: word,
  direction: word,
  from_number: word,
  from: word,
  to_number: word,
  to: word,
  initiation_time: word,
  created_at: word,
  answer_time: word,
  hangup_cause_code: code,
});
const log = z.object({ objects: z.array(logged) });
/** A call that is up, waiting, ringing or being dialled. */
const live = z.object({ call_uuid: uuid, call_status: z.string(), from: word, to: word, direction: word, session_start: word });
const liveList = z.object({ calls: z.array(uuid) });

export interface PlivoDiallingSettings {
  readonly carrier: string;
  readonly gatewayUrl: () => string;
  readonly callsPerSecond: number;
}

/**
 * Places calls over `POST /Call/`. An order names its document's address, which includes the stream's token, so that any process can answer the
 * fetch. Orders beyond the account's rate wait at the carrier for an unknown time.
 */
export class PlivoDialling implements Dialling {
  readonly capabilities: DialCapabilities;
  readonly #account: PlivoAccount;
  readonly #settings: PlivoDiallingSettings;

  constructor(account: PlivoAccount, settings: PlivoDiallingSettings) {
    this.capabilities = { callsPerSecond: settings.callsPerSecond, detectsMachines: true, canFind: true };
    this.#account = account;
    this.#settings = settings;
  }

  async dial(order: DialOrder, signal: AbortSignal): Promise<{ readonly carrierCallId: string }> {
    const { carrier, gatewayUrl } = this.#settings;
    const { callId, statusUrl } = order;
    const value = tokenOf(order.streamUrl);
    const request = this.#account.request('POST', '/Call/', {
      from: withoutPlus(order.from),
      to: withoutPlus(order.to),
      answer_url: documentUrl(gatewayUrl(), carrier, { kind: 'stream', value, callId }),
      answer_method: 'POST',
      ring_url: statusUrl,
      ring_method: 'POST',
      hangup_url: statusUrl,
      hangup_method: 'POST',
      ring_timeout: wholeSeconds(order.ringTimeoutMs),
      time_limit: Math.min(MOST_CALL_S, wholeSeconds(order.maxDurationMs)),
      // With an address of its own, detection runs while the document is obeyed.
      ...(order.detectMachine
        ? { machine_detection: 'true', machine_detection_url: statusUrl, machine_detection_method: 'POST' }
        : {}),
    });
    const { request_uuid: carrierCallId } = await this.#account.rest.dial(request, created, signal);
    return { carrierCallId };
  }

  /**
   * The carrier stores none of our ids, so a call is found by its two numbers and its time (`foundAmong`): among live calls, waiting ones (which have
   * no time), and the log of ended ones.
   */
  async find({ from, to }: Pick<SoughtDial, 'from' | 'to'>, askedAtMs: number, signal: AbortSignal): Promise<FoundDial> {
    const { rest, clock } = this.#account;
    const numbers = { from_number: withoutPlus(from), to_number: withoutPlus(to) };
    const isOurs = (call: { from?: string | null | undefined; to?: string | null | undefined }, direction: unknown): boolean =>
      direction === 'outbound' &&
      withoutPlus(call.from ?? '') === numbers.from_number &&
      withoutPlus(call.to ?? '') === numbers.to_number;
    const found = new Map<string, ListedCall>();
    for (const status of ['queued', 'live']) {
      const query = new URLSearchParams({ status, ...numbers, call_direction: 'outbound' });
      const list = await rest.read(this.#account.request('GET', `/Call/?${query.toString()}`), liveList, signal);
      if (list === undefined) continue;
      const askedMs = askedAtMs + list.atWallMs - clock.wallMs();
      const isYoung = list.atWallMs - askedMs <= WAITS_MS;
      for (const id of list.value.calls.slice(0, LISTED_CALLS)) {
        const call = await rest.read(this.#account.request('GET', `${callPath(id)}?status=${status}`), live, signal);
        if (call === undefined || !isOurs(call.value, call.value.direction)) continue;
        const progress = callProgress(call.value.call_status) ?? { state: 'queued' };
        const createdAtMs = status === 'queued' && isYoung ? askedMs : utcTime(call.value.session_start);
        found.set(id, { carrierCallId: id, createdAtMs, progress });
      }
    }
    const query = new URLSearchParams({ ...numbers, call_direction: 'outbound', limit: String(LISTED_CALLS) });
    const over = await rest.read(this.#account.request('GET', `/Call/?${query.toString()}`), log, signal);
    if (over === undefined) return { found: 'unknown' };
    for (const call of over.value.objects) {
      const ends = { from: call.from_number ?? call.from, to: call.to_number ?? call.to };
      if (!isOurs(ends, call.call_direction ?? call.direction ?? 'outbound')) continue;
      const createdAtMs = utcTime(call.initiation_time ?? call.created_at);
      found.set(call.call_uuid, { carrierCallId: call.call_uuid, createdAtMs, progress: progressOfLogged(call) });
    }
    return foundAmong([...found.values()], askedAtMs, { ours: clock.wallMs(), carriers: over.atWallMs });
  }

  async progressOf(carrierCallId: string, signal: AbortSignal): Promise<DialProgress | undefined> {
    const { rest } = this.#account;
    const path = callPath(carrierCallId);
    for (const status of ['live', 'queued']) {
      const call = await rest.read(this.#account.request('GET', `${path}?status=${status}`), live, signal);
      if (call !== undefined) return callProgress(call.value.call_status);
    }
    const over = await rest.read(this.#account.request('GET', path), logged, signal);
    return over === undefined ? undefined : progressOfLogged(over.value);
  }
}

/** A call in the log is over. */
function progressOfLogged(call: z.output<typeof logged>): DialProgress {
  const status = call.call_state ?? call.call_status ?? call.status;
  const told = status === null || status === undefined ? undefined : callProgress(status.toLowerCase(), call.hangup_cause_code);
  if (told !== undefined) return told;
  const isAnswered = typeof call.answer_time === 'string' && call.answer_time !== '';
  return endOf(isAnswered ? 'completed' : 'failed', call.hangup_cause_code);
}
