import type { Logger } from '../../observability/logger.ts';
import type { NewCallRecord } from '../../store/record.ts';
import { keepEvent } from './call-ended.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { OutboxPump } from '../outbox/outbox-pump.ts';
import { callStarted, turnCompleted } from '../webhooks/call-events.ts';
import type { WebhookDispatcher } from '../webhooks/webhook-dispatcher.ts';
import type { WebhookEvent } from '../webhooks/webhook-event.ts';

/**
 * Tells of live calls as their records grow: of their start, and of each turn once another has begun. It never holds a call
 * up, and what it cannot keep is told when the call has ended.
 */
export class LiveTeller {
  readonly #outbox: Pick<Outbox, 'append'>;
  readonly #pump: Pick<OutboxPump, 'wake'> | undefined;
  readonly #desk: Pick<WebhookDispatcher, 'isWanted'> | undefined;
  readonly #logger: Logger;
  /** Turns of each live call that were told of. */
  readonly #told = new Map<string, number>();

  constructor(
    parts: {
      readonly outbox: Pick<Outbox, 'append'>;
      readonly pump: Pick<OutboxPump, 'wake'> | undefined;
      readonly desk?: Pick<WebhookDispatcher, 'isWanted'> | undefined;
    },
    logger: Logger,
  ) {
    this.#outbox = parts.outbox;
    this.#pump = parts.pump;
    this.#desk = parts.desk;
    this.#logger = logger;
  }

  /** @param record the call as it stands: its last turn is not over */
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

  /** @param eventOf makes what is told, where a webhook wants it */
  #tell({ tenantId }: NewCallRecord, type: WebhookEvent['type'], eventOf: () => WebhookEvent | undefined): void {
    if (this.#desk?.isWanted(type, tenantId) !== true) return;
    const event = eventOf();
    if (event === undefined) return;
    keepEvent(this.#outbox, this.#pump, event).catch((error: unknown) => {
      this.#logger.warn({ callId: event.callId, event: event.type, error }, 'an event is told at the end of its call');
    });
  }
}
