import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { foundAmong, type ListedCall, wholeSeconds } from '../dialling.ts';
import { CarrierControlError } from '../errors.ts';
import type { CallControl, Dialling } from '../port.ts';
import { callPath, command, NOTHING_NEXT, readClientState, type TelnyxAccount, writeClientState } from './account.ts';
import { dialProgress } from './webhook.ts';

export interface TelnyxControlSettings {
  /** Undefined without an application: no calls are placed then. */
  readonly dialling: TelnyxDialSettings | undefined;
  /** The webhook's address, for reports on a transfer's leg. */
  readonly webhookUrl: () => string;
  /** Fields of `streaming_start` for a copy of both sides of a call. */
  readonly forkFields: (streamUrl: string) => object;
}

/** Acts on calls by commands, `POST /v2/calls/{call}/actions/…` (developers.telnyx.com/api-reference/call-commands). */
export class TelnyxControl implements CallControl {
  readonly outlivesStream = true;
  readonly dialling: Dialling | undefined;
  readonly #account: TelnyxAccount;
  readonly #webhookUrl: () => string;
  readonly #forkFields: TelnyxControlSettings['forkFields'];

  constructor(account: TelnyxAccount, { dialling, webhookUrl, forkFields }: TelnyxControlSettings) {
    this.#account = account;
    this.#webhookUrl = webhookUrl;
    this.#forkFields = forkFields;
    this.dialling = dialling && telnyxDialling(account, dialling);
  }

  hangUp(carrierCallId: string, signal: AbortSignal): Promise<void> {
    return this.#account.hangUp(carrierCallId, signal);
  }

  /**
   * After a failed transfer the caller would stay in silence, so their call ends with that leg. A retry has the same `command_id`, which Telnyx
   * ignores the second time.
   */
  async transfer(carrierCallId: string, to: string, signal: AbortSignal): Promise<void> {
    const state = writeClientState({ next: 'hang-up-caller', call: carrierCallId });
    const webhook = { webhook_url: this.#webhookUrl(), webhook_url_method: 'POST' };
    const body = { to, client_state: NOTHING_NEXT, target_leg_client_state: state, ...webhook, command_id: randomUUID() };
    await this.#account.repeat(command(carrierCallId, 'transfer', body), signal);
    await this.#stopStream(carrierCallId, signal);
  }

  async sendDigits(carrierCallId: string, digits: string, signal: AbortSignal): Promise<void> {
    await this.#account.once(command(carrierCallId, 'send_dtmf', { digits }), signal);
  }

  async join(carrierCallId: string, otherCarrierCallId: string, signal: AbortSignal): Promise<void> {
    const body = { call_control_id: otherCarrierCallId, client_state: NOTHING_NEXT };
    await this.#account.once(command(carrierCallId, 'bridge', body), signal);
    await Promise.all([this.#stopStream(carrierCallId, signal), this.#stopStream(otherCarrierCallId, signal)]);
  }

  async fork(carrierCallId: string, streamUrl: string, signal: AbortSignal): Promise<void> {
    await this.#account.once(command(carrierCallId, 'streaming_start', this.#forkFields(streamUrl)), signal);
  }

  /** The bot leaves a continuing call. A refusal means that the stream or the call has ended. */
  async #stopStream(carrierCallId: string, signal: AbortSignal): Promise<void> {
    const body = { client_state: NOTHING_NEXT };
    await this.#account.repeat(command(carrierCallId, 'streaming_stop', body), signal).catch(() => undefined);
  }
}

/** The carrier's limits on ringing and calls. */
const RINGING_S = { least: 5, most: 600 };
const MOST_CALL_S = 14_400;
/** Most events of a pair of numbers within minutes; each call has about five. */
const PAGE_EVENTS = 100;
/** Allowed difference between our clock and the carrier's. */
const CLOCK_MARGIN_MS = 3_000;

export const MACHINE_DETECTIONS = ['greeting_end', 'detect', 'detect_beep', 'detect_words', 'premium'] as const;

export interface TelnyxDialSettings {
  /** Id of the Call Control application. */
  readonly connectionId: string;
  readonly machineDetection: (typeof MACHINE_DETECTIONS)[number];
  /** The order's `stream_*` fields. @param url of the media socket */
  readonly streamFields: (url: string) => object;
}

const created = z.object({ data: z.object({ call_control_id: z.string().min(1).max(256) }) });
const status = z.object({ data: z.object({ call_leg_id: z.string().min(1).max(128) }) });
const eventPage = z.object({
  data: z.array(
    z.object({
      call_leg_id: z.string(),
      /** UTC, ISO 8601. */
      event_timestamp: z.string().catch(''),
      name: z.string(),
      /** "Includes raw event", at an undocumented place. */
      metadata: z.unknown(),
    }),
  ),
});
const rawPayload = z.object({
  call_control_id: z.string().min(1).max(256),
  client_state: z.string().nullish().catch(undefined),
  hangup_cause: z.string().nullish().catch(undefined),
  sip_hangup_cause: z.coerce.string().nullish().catch(undefined),
});

/**
 * Places calls over `POST /v2/calls` with the media stream in the order, so that an answered call opens its socket without another webhook. The
 * order's `command_id` is our call id: Telnyx ignores a second one with the same.
 */
function telnyxDialling(account: TelnyxAccount, settings: TelnyxDialSettings): Dialling {
  const { connectionId, machineDetection, streamFields } = settings;
  return {
    capabilities: { callsPerSecond: 30, detectsMachines: true, canFind: true },
    async dial(order, signal) {
      const body = {
        connection_id: connectionId,
        to: order.to,
        from: order.from,
        timeout_secs: Math.min(RINGING_S.most, Math.max(RINGING_S.least, wholeSeconds(order.ringTimeoutMs))),
        time_limit_secs: Math.min(MOST_CALL_S, wholeSeconds(order.maxDurationMs)),
        ...streamFields(order.streamUrl),
        send_silence_when_idle: true,
        webhook_url: order.statusUrl,
        webhook_url_method: 'POST',
        client_state: writeClientState({ dial: order.callId }),
        command_id: order.callId,
        ...(order.detectMachine ? { answering_machine_detection: machineDetection } : {}),
      };
      const { data } = await account.dial({ method: 'POST', path: '/calls', body }, created, signal).catch(noChannel);
      return { carrierCallId: data.call_control_id };
    },
    /** Searches the events of calls between the two numbers since the order for our id; a call without it is found by its time. */
    async find({ callId, from, to }, askedAtMs, signal) {
      const since = new Date(askedAtMs - CLOCK_MARGIN_MS).toISOString();
      const answer = await legsOf(account, { from, to, connection_id: connectionId, 'occurred_at][gte': since }, signal);
      if (answer === undefined || answer.isCut) return { found: 'unknown' };
      const ours = answer.legs.find((leg) => leg.dial === callId);
      if (ours !== undefined) return { found: 'placed', carrierCallId: ours.carrierCallId, progress: ours.progress };
      const others = answer.legs.filter((leg) => leg.dial === undefined);
      return foundAmong(others, askedAtMs, { ours: account.clock.wallMs(), carriers: answer.atWallMs });
    },
    /** A call's status only says whether it is alive; its events say the rest. */
    async progressOf(carrierCallId, signal) {
      const found = await account.read(callPath(carrierCallId), status, signal).catch(noSuchCall);
      if (found === undefined) return undefined;
      const answer = await legsOf(account, { leg_id: found.value.data.call_leg_id }, signal);
      return answer?.legs[0]?.progress;
    },
  };
}

/** Calls by their events. @returns undefined where there are no events; `isCut` where there may be more than a page */
async function legsOf(account: TelnyxAccount, filter: Readonly<Record<string, string>>, signal: AbortSignal) {
  const query = new URLSearchParams({ 'filter[type]': 'webhook', 'page[size]': String(PAGE_EVENTS) });
  for (const [name, value] of Object.entries(filter)) query.set(`filter[${name}]`, value);
  const page = await account.read(`/call_events?${query.toString()}`, eventPage, signal);
  if (page === undefined) return undefined;
  const { data } = page.value;
  const byLeg = new Map<string, Event[]>();
  for (const event of data) byLeg.set(event.call_leg_id, [...(byLeg.get(event.call_leg_id) ?? []), event]);
  return {
    legs: [...byLeg.values()].map(listedLeg).filter((leg) => leg.carrierCallId !== ''),
    isCut: data.length >= PAGE_EVENTS,
    atWallMs: page.atWallMs,
  };
}

type Event = z.output<typeof eventPage>['data'][number];

/** One leg from its events, in any order. */
function listedLeg(events: readonly Event[]): ListedCall & { readonly dial: string | undefined } {
  const payloads = events.map(({ metadata }) => rawPayload.safeParse(rawEvent(metadata)).data);
  const dials = payloads.map((payload) => readClientState(payload?.client_state));
  const steps = events.map(({ name }, index) =>
    dialProgress(name, { cause: payloads[index]?.hangup_cause, sip: payloads[index]?.sip_hangup_cause }),
  );
  const furthest = (['ended', 'answered', 'queued'] as const).map((state) => steps.find((step) => step?.state === state));
  return {
    carrierCallId: payloads.find((payload) => payload !== undefined)?.call_control_id ?? '',
    createdAtMs: Math.min(...events.map(({ event_timestamp: at }) => Date.parse(at))),
    progress: furthest.find((step) => step !== undefined) ?? { state: 'queued' },
    dial: dials.flatMap((state) => (state !== undefined && 'dial' in state ? state.dial : []))[0],
  };
}

/** The part of an event's metadata that names the call. */
function rawEvent(metadata: unknown, depth = 4): unknown {
  if (typeof metadata !== 'object' || metadata === null || depth === 0) return undefined;
  if ('call_control_id' in metadata) return metadata;
  for (const value of Object.values(metadata)) {
    const found = rawEvent(value, depth - 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Telnyx says "User channel limit exceeded" with code D1 when the account's limit of calls is reached. */
function noChannel(error: unknown): never {
  const isFull =
    error instanceof CarrierControlError && error.facts['status'] === 403 && /channel limit|\bD1\b/iu.test(error.message);
  if (!isFull) throw error;
  throw new CarrierControlError(
    'Telnyx has no free channel for this call (D1): the account has as many calls as its channel limit allows; raise the limit at Telnyx, or call fewer people at once',
    { retryable: true, surelyNotDone: true, cause: error, facts: { ...error.facts, carrierCode: 'D1' } },
  );
}

/** An unknown call, or one whose status has expired. */
function noSuchCall(error: unknown): undefined {
  if (!(error instanceof CarrierControlError && error.facts['status'] === 422)) throw error;
}
