import { z } from 'zod';
import { foundAmong, type ListedCall, utcTime, wholeSeconds, withoutPlus } from '../dialling.ts';
import type { DialCapabilities, Dialling, DialOrder, DialProgress, FoundDial, SoughtDial } from '../port.ts';
import { callPath, type VonageAccount } from './account.ts';
import { connectNcco, type MediaSettings } from './answer.ts';
import { dialProgress } from './webhook.ts';

/** The carrier's limits on ringing and calls. */
const MOST_RINGING_S = 120;
const MOST_CALL_S = 7_200;
/** Page size, and pages read: at three calls a second, five minutes of calls. */
const PAGE_CALLS = 100;
const MOST_PAGES = 10;
/** A listed call starts with its answer, up to the ringing time later. */
const STARTED_WITHIN_MS = 60_000 + MOST_RINGING_S * 1000;

const created = z.object({ uuid: z.string().min(1).max(128) });
const phone = z.object({ number: z.string().catch('') });
const end = z.union([phone, z.array(phone).transform((ends) => ends[0] ?? { number: '' })]).catch({ number: '' });
const call = z.object({
  uuid: z.string(),
  status: z.string(),
  direction: z.string().catch(''),
  from: end,
  to: end,
  /** UTC; absent before the answer. */
  start_time: z.string().nullish().catch(undefined),
});
const callPage = z.object({ _embedded: z.object({ calls: z.array(call) }) });

/** Media sockets of dialled calls. */
export interface VonageMedia extends MediaSettings {
  /** Event webhook of the application, where their events go: they name a call of their own, not the dialled one. */
  readonly eventUrl: () => string;
}

/**
 * Places calls over `POST /v1/calls` (developer.vonage.com/api/voice) with the NCCO in the order, so that an answered call opens its socket without
 * another webhook. Orders beyond the account's rate are refused (429).
 */
export class VonageDialling implements Dialling {
  readonly capabilities: DialCapabilities = { callsPerSecond: 3, detectsMachines: true, canFind: true };
  readonly #account: VonageAccount;
  readonly #media: VonageMedia;

  constructor(account: VonageAccount, media: VonageMedia) {
    this.#account = account;
    this.#media = media;
  }

  async dial(order: DialOrder, signal: AbortSignal): Promise<{ readonly carrierCallId: string }> {
    const { callId, streamUrl: url } = order;
    const request = await this.#account.request('POST', '', {
      to: [{ type: 'phone', number: withoutPlus(order.to) }],
      from: { type: 'phone', number: withoutPlus(order.from) },
      ncco: connectNcco({ url, callId, carrierCallId: undefined, statusUrl: this.#media.eventUrl() }, this.#media),
      event_url: [order.statusUrl],
      event_method: 'POST',
      ringing_timer: Math.min(MOST_RINGING_S, wholeSeconds(order.ringTimeoutMs)),
      length_timer: Math.min(MOST_CALL_S, wholeSeconds(order.maxDurationMs)),
      // The detection mode that runs the NCCO meanwhile.
      ...(order.detectMachine ? { advanced_machine_detection: { behavior: 'continue', mode: 'default' } } : {}),
    });
    const { uuid } = await this.#account.rest.dial(request, created, signal);
    return { carrierCallId: uuid };
  }

  /**
   * The carrier stores none of our ids and cannot list by number: the application's newest calls are read back to before the order, and the call is
   * found by its two numbers and its time (`foundAmong`). The listing order of unanswered calls is undocumented; where the list is inconclusive, the
   * call stays unknown.
   */
  async find({ from, to }: Pick<SoughtDial, 'from' | 'to'>, askedAtMs: number, signal: AbortSignal): Promise<FoundDial> {
    const found = new Map<string, ListedCall>();
    const { clock, rest } = this.#account;
    for (let index = 0; index < MOST_PAGES; index += 1) {
      const query = new URLSearchParams({
        order: 'desc',
        page_size: String(PAGE_CALLS),
        record_index: String(index * PAGE_CALLS),
      });
      const page = await rest.read(await this.#account.request('GET', `?${query.toString()}`), callPage, signal);
      if (page === undefined) return { found: 'unknown' };
      const { calls } = page.value._embedded;
      const clocks = { ours: clock.wallMs(), carriers: page.atWallMs };
      const askedMs = askedAtMs + clocks.carriers - clocks.ours;
      for (const each of calls) {
        const isOurs =
          each.direction === 'outbound' && each.from.number === withoutPlus(from) && each.to.number === withoutPlus(to);
        if (isOurs) found.set(each.uuid, listedCall(each, askedMs, clocks.carriers));
      }
      const isLast =
        calls.length < PAGE_CALLS || calls.some(({ start_time: start }) => utcTime(start) < askedMs - STARTED_WITHIN_MS);
      if (isLast) return foundAmong([...found.values()], askedAtMs, clocks, STARTED_WITHIN_MS);
    }
    return { found: 'unknown' };
  }

  async progressOf(carrierCallId: string, signal: AbortSignal): Promise<DialProgress | undefined> {
    const request = await this.#account.request('GET', callPath(carrierCallId));
    const found = await this.#account.rest.read(request, call, signal);
    return found === undefined ? undefined : dialProgress(found.value.status);
  }
}

/** A ringing call has no start yet; it counts as ours while ours may ring. */
function listedCall({ uuid, status, start_time: start }: z.output<typeof call>, askedMs: number, nowMs: number): ListedCall {
  const progress = dialProgress(status) ?? { state: 'queued' as const };
  const mayRing = progress.state !== 'ended' && nowMs - askedMs <= STARTED_WITHIN_MS;
  const startedAtMs = utcTime(start);
  return { carrierCallId: uuid, createdAtMs: Number.isNaN(startedAtMs) && mayRing ? askedMs : startedAtMs, progress };
}
