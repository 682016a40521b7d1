import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock, Timer } from '../../kernel/clock.ts';
import { OffhookError } from '../../kernel/errors.ts';
import type { Logger } from '../../observability/logger.ts';
import type { NewCallRecord } from '../record.ts';
import { canBeListed, keepEvent, keepEndedCall, keepOptOut } from './call-ended.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { OutboxPump } from '../outbox/outbox-pump.ts';
import { callStarted, turnCompleted, type WebhookEvent } from '../webhooks/webhook-event.ts';
import type { WebhookDispatcher } from '../webhooks/webhook-dispatcher.ts';
import type { RecordingFormat } from '../../audio/recording-format.ts';
import type { CallJournal } from '../../call/log/call-journal.ts';
import type { RefusedCalls } from '../../call/control/refusals.ts';
import type { CallRecord } from '../../call/log/call-record.ts';
import { storedCall } from './stored-call.ts';
import { writeFileAtomic } from '../../kernel/temporary.ts';

export interface Keeping {
  readonly outbox: Pick<Outbox, 'append' | 'appendAtOnce'>;
  /** Drains the outbox, possibly in another process. */
  readonly pump: Pick<OutboxPump, 'wake'> | undefined;
  /** Webhooks of live calls; not sent when absent. */
  readonly dispatcher?: Pick<WebhookDispatcher, 'isWanted'> | undefined;
  /** Whether no words stay in plain files after the call. */
  readonly seals?: boolean;
  /** Format to convert a bot's recordings to after the call; unchanged when absent. */
  readonly formatOf?: ((botName: string) => RecordingFormat) | undefined;
}

/** Journals a live call, sends its webhooks, and writes its end to the outbox before anything else. A failed write is retried. */
export function keepCall(journal: CallJournal, keeping: Keeping, recordingsFolder: string, logger: Logger, clock: Clock) {
  const { outbox, pump, seals = false, formatOf } = keeping;
  const events = new LiveCallEvents(keeping, logger);
  const pending = new PendingCallEnds(clock, logger);
  const revisions = new Map<string, number>();
  const next = (record: CallRecord): number => {
    const revision = (revisions.get(record.id) ?? 0) + 1;
    revisions.set(record.id, revision);
    return revision;
  };
  return {
    keepState: (callId: string, state: object): void => journal.keepState(callId, state),
    /** A resumed call: its records are newer than the dead process's. */
    goesOn: (callId: string, revision: number): void => void revisions.set(callId, revision),
    journal: (record: CallRecord): void => {
      const stored = storedCall(record, next(record), formatOf?.(record.botName));
      journal.keep(record.id, stored);
      events.seen(stored);
    },
    ended: async (record: CallRecord): Promise<void> => {
      if (await journal.isTakenElsewhere(record.id)) {
        const { id: callId, recordingPath } = record;
        logger.warn({ callId, recordingPath }, 'record dropped: another machine has the call');
        revisions.delete(callId);
        events.forget(callId);
        return journal.forget(callId);
      }
      const stored = storedCall(withFileThatIs(record), next(record), formatOf?.(record.botName));
      const end = {
        callId: record.id,
        keep: () => keepEndedCall(outbox, pump, stored),
        kept: async () => {
          try {
            if (!seals) await writeRecordFile(record, recordingsFolder);
          } catch (error) {
            logger.error({ callId: record.id, error }, 'call record file not written');
          }
          await journal.forget(record.id);
        },
      };
      revisions.delete(record.id);
      events.forget(record.id);
      try {
        await end.keep();
      } catch (error) {
        pending.add(end, error);
        throw error;
      }
      await end.kept();
    },
    refused: (refused: RefusedCalls): void => {
      const { callId } = refused;
      if (!canBeListed(refused.number)) return logger.warn({ callId }, 'opt-out without a caller number');
      const keep = (): Promise<void> => keepOptOut(outbox, pump, refused);
      keep().catch((error: unknown) => {
        logger.error({ callId, error }, 'opt-out not written yet');
        pending.add({ callId, keep, kept: () => Promise.resolve() }, error);
      });
    },
    /** Retries once the ends of calls that the disk refused. */
    close: () => pending.close(),
  };
}

/** If the disk refused the first block, or the call moved here without sound, there is no file to name. */
function withFileThatIs(record: CallRecord): CallRecord {
  const { recordingPath, recordingFailure, timeline } = record;
  const mayBeMissing = recordingFailure !== undefined || timeline.some(({ type }) => type === 'resumed');
  if (recordingPath === undefined || !mayBeMissing || existsSync(recordingPath)) return record;
  return { ...record, recordingPath: undefined };
}

async function writeRecordFile(record: CallRecord, recordingsFolder: string): Promise<void> {
  const day = new Date(record.startedAtWallMs).toISOString().slice(0, 10);
  const path = join(recordingsFolder, day, `${record.id}.call.json`);
  await mkdir(dirname(path), { recursive: true });
  await writeFileAtomic(path, `${JSON.stringify(record, null, 2)}\n`);
}

/**
 * Webhook events of live calls: the start, and each turn once the next one has begun. It never delays a call; an event that
 * the outbox refuses is announced with the end of the call.
 */
export class LiveCallEvents {
  readonly #outbox: Pick<Outbox, 'append'>;
  readonly #pump: Pick<OutboxPump, 'wake'> | undefined;
  readonly #dispatcher: Pick<WebhookDispatcher, 'isWanted'> | undefined;
  readonly #logger: Logger;
  /** Announced turns of each live call. */
  readonly #told = new Map<string, number>();

  constructor(
    parts: {
      readonly outbox: Pick<Outbox, 'append'>;
      readonly pump: Pick<OutboxPump, 'wake'> | undefined;
      readonly dispatcher?: Pick<WebhookDispatcher, 'isWanted'> | undefined;
    },
    logger: Logger,
  ) {
    this.#outbox = parts.outbox;
    this.#pump = parts.pump;
    this.#dispatcher = parts.dispatcher;
    this.#logger = logger;
  }

  /** @param record the call now; its last turn is not over */
  seen(record: NewCallRecord): void {
    const told = this.#told.get(record.id);
    if (told === undefined) this.#tell(record, 'call.started', () => callStarted(record));
    const over = Math.max(0, record.turns.length - 1);
    for (const { index } of record.turns.slice(told ?? 0, over))
      this.#tell(record, 'turn.completed', () => turnCompleted(record, index));
    this.#told.set(record.id, Math.max(told ?? 0, over));
  }

  forget(callId: string): void {
    this.#told.delete(callId);
  }

  /** @param eventOf builds the event; called only where a webhook wants it */
  #tell({ tenantId }: NewCallRecord, type: WebhookEvent['type'], eventOf: () => WebhookEvent | undefined): void {
    if (this.#dispatcher?.isWanted(type, tenantId) !== true) return;
    const event = eventOf();
    if (event === undefined) return;
    keepEvent(this.#outbox, this.#pump, event).catch((error: unknown) => {
      this.#logger.warn({ callId: event.callId, event: event.type, error }, 'webhook event postponed to the end of its call');
    });
  }
}

/** The end of a call, and what is to be done when it is safe. */
export interface CallEnd {
  readonly callId: string;
  /** Makes it durable; throws what the disk throws. */
  readonly keep: () => Promise<void>;
  readonly kept: () => Promise<void>;
}

/** Between two tries, in ms. */
const RETRY_MS = 5_000;
/** Most waiting ends; a record is some kilobytes, a megabyte for the longest calls. Further ones are given up. */
const MOST = 1_000;

/** Ends of calls that the disk refused, as a full one does: retried until they are written, oldest first. */
export class PendingCallEnds {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #waiting: CallEnd[] = [];
  #timer: Timer | undefined;
  #trying: Promise<void> | undefined;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** @param refusal the disk's error; not retried where that cannot help */
  add(end: CallEnd, refusal: unknown): void {
    if (this.#waiting.length >= MOST || !(refusal instanceof OffhookError) || !refusal.retryable) return;
    this.#waiting.push(end);
    this.#wait();
  }

  /** Retries once, then gives up: the journalled part is found at the next start. */
  async close(): Promise<void> {
    this.#timer?.cancel();
    await this.#trying;
    await this.#try();
    this.#timer?.cancel();
  }

  #wait(): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.after(RETRY_MS, () => void this.#try());
  }

  /** One pass at a time, however long the disk takes. */
  #try(): Promise<void> {
    this.#trying ??= this.#tryAll().finally(() => {
      this.#trying = undefined;
    });
    return this.#trying;
  }

  async #tryAll(): Promise<void> {
    for (let end = this.#waiting[0]; end !== undefined; end = this.#waiting[0]) {
      const { callId } = end;
      try {
        await end.keep();
      } catch {
        // Said when it was refused first.
        this.#wait();
        return;
      }
      this.#waiting.shift();
      this.#logger.info({ callId }, 'end of a call written after a retry');
      await end.kept().catch((error: unknown) => this.#logger.warn({ callId, error }, 'call journal not removed'));
    }
  }
}
