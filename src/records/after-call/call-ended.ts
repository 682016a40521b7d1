import { NO_PRICES, type PriceList } from '../../config/prices.ts';
import { costOf } from '../../costs/cost.ts';
import { carriedMinutes } from '../../costs/usage.ts';
import { z } from 'zod';
import type { RefusedCalls } from '../../call/control/refusals.ts';
import { partiesOf } from '../../kernel/call-parties.ts';
import { type CallRecord, callRecord, IMPORTED, type NewCallRecord, storable } from '../record.ts';
import type { Recordings } from '../objects/recordings.ts';
import { JobSubjectError } from '../errors.ts';
import type { Outbox, OutboxEntry } from '../outbox/outbox.ts';
import type { Deliver, OutboxPump } from '../outbox/outbox-pump.ts';
import { type JobQueue, type JsonValue, CALL_BACKS, POST_CALL } from '../queue/port.ts';
import type { Store } from '../port.ts';
import { postCallJobId } from './analyse-call.ts';
import {
  callEnded,
  callStarted,
  turnCompleted,
  voicemailsLeft,
  type WebhookEvent,
  webhookEvent,
} from '../webhooks/webhook-event.ts';
import type { WebhookDispatcher } from '../webhooks/webhook-dispatcher.ts';

const ENDED = 'call-ended';
const EVENT = 'webhook-event';
const OPT_OUT = 'opt-out';
/** The tenant's own list. */
const OWN_LIST = 'own';

/** End reason of such a call: see `FailOver`. */
const CALL_BACK_PROMISED = 'callback-promised';
/** End reason of a call whose process died: see `endOrphans`. */
export const PROCESS_DIED = 'process-died';
/** Delay of a call-back after the caller hung up. */
const CALL_BACK_AFTER_MS = 60_000;

const jsonValue: z.ZodType<JsonValue> = z.json();

/**
 * Saves an ended call's record before anything else is done with it.
 * @throws OutboxFullError, OutboxWriteError: the record was not written, and the caller still holds it
 */
export async function keepEndedCall(
  outbox: Pick<Outbox, 'append'>,
  pump: Pick<OutboxPump, 'wake'> | undefined,
  record: NewCallRecord,
): Promise<void> {
  await outbox.append(ENDED, jsonValue.parse(JSON.parse(JSON.stringify(record))));
  pump?.wake();
}

/** Keeps something that happened during a call until its webhooks are queued. @throws OutboxFullError, OutboxWriteError */
export async function keepEvent(
  outbox: Pick<Outbox, 'append'>,
  pump: Pick<OutboxPump, 'wake'> | undefined,
  event: WebhookEvent,
): Promise<void> {
  await outbox.append(EVENT, jsonValue.parse(JSON.parse(JSON.stringify(event))));
  pump?.wake();
}

/**
 * An opt-out waiting to be listed. It names its call by a different field than the entries erased with a call: an opt-out outlives the erasure of its
 * call.
 */
const optOutEntry = z.object({
  tenantId: z.string().min(1),
  number: z.e164(),
  kind: z.enum(['opt-out', 'wrong-number']),
  heardIn: z.string().min(1),
  atMs: z.number(),
});

/** Whether a number can be listed; a withheld number cannot. */
export function canBeListed(number: string): boolean {
  return z.e164().safeParse(number).success;
}

/**
 * Saves an opt-out; durable once the promise is returned.
 * @throws OutboxWriteError
 */
export async function keepOptOut(
  outbox: Pick<Outbox, 'appendAtOnce'>,
  pump: Pick<OutboxPump, 'wake'> | undefined,
  { tenantId, number, kind, callId: heardIn, atWallMs: atMs }: RefusedCalls,
): Promise<void> {
  await outbox.appendAtOnce(OPT_OUT, { tenantId, number, kind, heardIn, atMs: Math.round(atMs) });
  pump?.wake();
}

export interface DeliverEndedParts {
  readonly store: Store;
  readonly queue: JobQueue;
  /** Prices of what the calls used; their costs are unknown when absent. */
  readonly prices?: PriceList | undefined;
  /** Sends webhooks; not sent when absent. */
  readonly dispatcher?: WebhookDispatcher | undefined;
  /** Takes over a recording that is to be sealed before the call is analysed; absent where recordings stay plain files. */
  readonly sealLater?: ((record: CallRecord) => Promise<void>) | undefined;
  /**
   * Called for each ended outbound call once its record is stored and all else is done, possibly repeatedly; when it throws, the entry is retried.
   */
  readonly onStored?: ((record: CallRecord) => Promise<void>) | undefined;
  /** Whether to call back the caller of a crashed call that its carrier did not bring back; off when absent. */
  readonly callsBack?: ((record: CallRecord) => boolean) | undefined;
}

/**
 * Stores ended calls, announces them, enqueues their analysis, then reports outbound ones; announces events of live calls. Every step may be
 * repeated.
 */
export function deliverEndedCalls({
  store,
  queue,
  prices = NO_PRICES,
  dispatcher,
  sealLater,
  onStored,
  callsBack,
}: DeliverEndedParts): Deliver {
  const tellStored = async (record: CallRecord): Promise<void> => {
    const { id: callId, tenantId, endReason, direction } = record;
    const isOwed = endReason === CALL_BACK_PROMISED || (endReason === PROCESS_DIED && callsBack?.(record) === true);
    if (isOwed && direction === 'inbound')
      await queue.enqueue(CALL_BACKS, callId, { tenantId, callId }, { delayMs: CALL_BACK_AFTER_MS });
    if (record.outbound !== undefined && record.endedAtMs !== undefined) await onStored?.(record);
  };
  const one = async (entry: OutboxEntry): Promise<void> => {
    if (entry.kind === OPT_OUT) {
      const optOut = optOutEntry.safeParse(entry.body);
      if (!optOut.success) throw new JobSubjectError('not an opt-out', false, {});
      return suppress(store, optOut.data);
    }
    if (entry.kind === EVENT) {
      const event = webhookEvent.safeParse(storable(entry.body));
      if (!event.success) throw new JobSubjectError('not an event', false, {});
      await dispatcher?.announce(event.data);
      return;
    }
    const record = withCost(recordOf(entry), prices);
    await suppressPersonOf(store, record);
    await store.calls.upsert(record);
    if (dispatcher !== undefined) await tellAll(dispatcher, record);
    if (sealLater !== undefined && record.recordingPath !== undefined) await sealLater(record);
    else await askForAnalysis(queue, record.tenantId, record.id);
    await tellStored(record);
  };
  /** Only records: mixed with events, the order of announcements could change. */
  const many = async (entries: readonly OutboxEntry[]): Promise<void> => {
    const records = entries.map((entry) => withCost(recordOf(entry), prices));
    for (const record of records) await suppressPersonOf(store, record);
    await store.calls.upsertMany(records);
    const toAnalyse: CallRecord[] = [];
    for (const record of records) {
      if (dispatcher !== undefined) await tellAll(dispatcher, record);
      if (sealLater !== undefined && record.recordingPath !== undefined) await sealLater(record);
      else toAnalyse.push(record);
    }
    const jobs = toAnalyse.map(({ tenantId, id: callId }) => ({
      id: postCallJobId({ tenantId, callId }),
      payload: { tenantId, callId },
    }));
    await queue.enqueueMany(POST_CALL, jobs);
    for (const record of records) await tellStored(record);
  };
  return Object.assign(one, { many });
}

/** @throws JobSubjectError for anything but an ended call's record */
function recordOf(entry: OutboxEntry): CallRecord {
  if (entry.kind !== ENDED)
    throw new JobSubjectError('no handler delivers this kind of outbox entry', false, { kind: entry.kind });
  const parsed = callRecord.safeParse(storable(entry.body));
  if (!parsed.success) throw new JobSubjectError(`not a call record: ${z.prettifyError(parsed.error)}`, false, {});
  return parsed.data;
}

/** An ended call with what it cost. A recording from elsewhere cost no call; a call between people was carried by others. */
function withCost(record: CallRecord, prices: PriceList): CallRecord {
  const { endedAtMs, carrier, mode, usage = [] } = record;
  if (endedAtMs === undefined || carrier === IMPORTED) return record;
  const carried = mode === 'listen' ? [] : carriedMinutes(record);
  return { ...record, cost: costOf([...usage, ...carried], prices) };
}

/** Puts a number on the tenant's own list. Repeatable: the first opt-out's time stays. */
async function suppress(
  { suppressions }: Pick<Store, 'suppressions'>,
  { tenantId, number, kind, heardIn, atMs }: z.output<typeof optOutEntry>,
): Promise<void> {
  const note = kind === 'wrong-number' ? { note: kind } : {};
  await suppressions.add(tenantId, [{ list: OWN_LIST, number, addedAtMs: atMs, source: 'caller', callId: heardIn, ...note }]);
}

/** The ended call's record repeats its opt-out, in case the disk refused that one's entry. */
async function suppressPersonOf(store: Pick<Store, 'suppressions'>, record: CallRecord): Promise<void> {
  const { tenantId, id: heardIn, optOut } = record;
  const number = partiesOf(record).person;
  if (optOut === undefined || !canBeListed(number)) return;
  await suppress(store, { tenantId, number, heardIn, kind: optOut.kind, atMs: optOut.atMs });
}

export async function askForAnalysis(queue: JobQueue, tenantId: string, callId: string): Promise<void> {
  await queue.enqueue(POST_CALL, postCallJobId({ tenantId, callId }), { tenantId, callId });
}

/** Announces all events of a call again: the store ignores those that it has. */
async function tellAll(dispatcher: WebhookDispatcher, record: CallRecord): Promise<void> {
  await dispatcher.announce(callStarted(record));
  if (dispatcher.isWanted('turn.completed', record.tenantId)) {
    for (const { index } of record.turns) {
      const event = turnCompleted(record, index);
      if (event !== undefined) await dispatcher.announce(event);
    }
  }
  await dispatcher.announce(callEnded(record));
  for (const voicemail of voicemailsLeft(record)) await dispatcher.announce(voicemail);
}

const KIND = 'recording';
const subject = z.object({ tenantId: z.string(), callId: z.string(), path: z.string(), startedAtMs: z.number() });

/**
 * Notes a recording to be sealed, in an outbox of its own, so that an unavailable bucket does not delay records.
 * @throws OutboxFullError, OutboxWriteError
 */
export async function keepRecording(outbox: Outbox, pump: OutboxPump, record: CallRecord): Promise<void> {
  const { tenantId, id: callId, recordingPath: path, startedAtMs } = record;
  await outbox.append(KIND, { tenantId, callId, path, startedAtMs });
  pump.wake();
}

/** Seals recordings into the object store, then asks for their analysis. */
export function deliverRecordings({ recordings, queue }: { readonly recordings: Recordings; readonly queue: JobQueue }): Deliver {
  return async (entry) => {
    const parsed = subject.safeParse(entry.body);
    if (entry.kind !== KIND || !parsed.success) throw new JobSubjectError('not a recording', false, { kind: entry.kind });
    const { path, startedAtMs, ...ref } = parsed.data;
    await recordings.keep(ref, path, startedAtMs);
    await askForAnalysis(queue, ref.tenantId, ref.callId);
  };
}
