import { z } from 'zod';
import { foundAmong, type ListedCall } from '../dialling.ts';
import type { DialCapabilities, Dialling, DialOrder, DialProgress, FoundDial, SoughtDial } from '../port.ts';
import { redirectionUrl } from './answer.ts';
import { callPath, type JambonzAccount } from './account.ts';
import { dialProgress } from './webhook.ts';

/** Speech services of a jambonz account: required in an order without an application, and used by answer detection. */
export interface SpeechNames {
  readonly vendor: string;
  /** As in `en-US`. */
  readonly language: string;
  readonly voice: string;
}

/** Page size of the records of ended calls. */
const LISTED_RECORDS = 100;
/** Latest start of an attempt after our order. */
const STARTED_WITHIN_MS = 60_000;

const created = z.object({ sid: z.string().min(1).max(128) });
const call = z.object({
  call_sid: z.string(),
  call_status: z.string(),
  sip_status: z.coerce.number().int().optional().catch(undefined),
  direction: z.string().catch(''),
  from: z.string().catch(''),
  to: z.string().catch(''),
});
const records = z.object({
  data: z.array(z.object({ call_sid: z.string().catch(''), attempted_at: z.union([z.string(), z.number()]).catch('') })),
});

/** Places calls over `POST /Accounts/{account}/Calls`. When one is answered, jambonz fetches the order's `call_hook`, which opens the media socket. */
export class JambonzDialling implements Dialling {
  readonly capabilities: DialCapabilities = { callsPerSecond: 5, detectsMachines: true, canFind: true };
  readonly #account: JambonzAccount;
  readonly #speech: SpeechNames;
  readonly #gatewayUrl: () => string;

  constructor(account: JambonzAccount, speech: SpeechNames, gatewayUrl: () => string) {
    this.#account = account;
    this.#speech = speech;
    this.#gatewayUrl = gatewayUrl;
  }

  async dial(order: DialOrder, signal: AbortSignal): Promise<{ readonly carrierCallId: string }> {
    const { statusUrl, streamUrl, callId } = order;
    const { vendor, language, voice } = this.#speech;
    const hook = (url: string) => ({ url, method: 'POST' });
    const request = this.#account.request('POST', '/Calls', {
      from: order.from,
      to: { type: 'phone', number: order.to },
      call_hook: hook(redirectionUrl(this.#gatewayUrl(), { kind: 'stream', url: streamUrl, callId })),
      call_status_hook: hook(statusUrl),
      timeout: seconds(order.ringTimeoutMs),
      timeLimit: seconds(order.maxDurationMs),
      speech_synthesis_vendor: vendor,
      speech_synthesis_language: language,
      speech_synthesis_voice: voice,
      speech_recognizer_vendor: vendor,
      speech_recognizer_language: language,
      ...(order.detectMachine ? { amd: { actionHook: statusUrl } } : {}),
    });
    const { sid } = await this.#account.rest.dial(request, created, signal);
    return { carrierCallId: sid };
  }

  /**
   * jambonz stores none of our ids, and its call list, which includes ended calls of the last hour, has no times. So an ended call is dated by its
   * record, and a live one counts as placed by the order.
   */
  async find({ from, to }: Pick<SoughtDial, 'from' | 'to'>, askedAtMs: number, signal: AbortSignal): Promise<FoundDial> {
    const { clock, rest } = this.#account;
    const query = new URLSearchParams({ direction: 'outbound', to });
    const listed = await rest.read(this.#account.request('GET', `/Calls?${query.toString()}`), z.array(call), signal);
    if (listed === undefined) return { found: 'unknown' };
    const clocks = { ours: clock.wallMs(), carriers: listed.atWallMs };
    const askedMs = askedAtMs + clocks.carriers - clocks.ours;
    const between = listed.value.filter(
      (each) => each.direction === 'outbound' && isSame(each.from, from) && isSame(each.to, to),
    );
    const ended = between.some((each) => dialProgress(each.call_status)?.state === 'ended');
    const attempts = ended ? await this.#attempts(askedMs, signal) : new Map<string, number>();
    const calls = between.map((each): ListedCall => {
      const progress = dialProgress(each.call_status, each.sip_status) ?? { state: 'queued' };
      const createdAtMs = progress.state === 'ended' ? (attempts.get(each.call_sid) ?? Number.NaN) : askedMs;
      return { carrierCallId: each.call_sid, createdAtMs, progress };
    });
    return foundAmong(calls, askedAtMs, clocks, STARTED_WITHIN_MS);
  }

  async progressOf(carrierCallId: string, signal: AbortSignal): Promise<DialProgress | undefined> {
    const found = await this.#account.rest.read(this.#account.request('GET', callPath(carrierCallId)), call, signal);
    return found === undefined ? undefined : dialProgress(found.value.call_status, found.value.sip_status);
  }

  /** Attempt times of calls that ended around that time, by id. */
  async #attempts(sinceMs: number, signal: AbortSignal): Promise<Map<string, number>> {
    const query = new URLSearchParams({
      page: '1',
      count: String(LISTED_RECORDS),
      direction: 'outbound',
      start: new Date(sinceMs - 60 * 60_000).toISOString(),
    });
    const page = await this.#account.rest.read(this.#account.request('GET', `/RecentCalls?${query.toString()}`), records, signal);
    return new Map((page?.value.data ?? []).map((each) => [each.call_sid, new Date(each.attempted_at).getTime()]));
  }
}

function isSame(left: string, right: string): boolean {
  return left.replaceAll(/\D/gu, '') === right.replaceAll(/\D/gu, '');
}

function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
