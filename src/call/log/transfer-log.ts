import type { DialogAction } from '../../dialog/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { BusinessEvents } from '../../observability/events.ts';
import type { Logger } from '../../observability/logger.ts';
import type { TransferOutcome } from '../turn/farewell-state.ts';
import type { Timeline } from './timeline.ts';

/** One transfer of a call. Times are wall times; absent until reached. */
export interface TransferRecord {
  /** A number in E.164 form, or a `sip:` address. */
  readonly to: string;
  readonly kind: 'cold' | 'warm';
  readonly startedAtWallMs: number;
  /** The agent's leg: our own id, and the carrier's. */
  readonly legId?: string | undefined;
  readonly carrierCallId?: string | undefined;
  readonly ringingAtWallMs?: number | undefined;
  /** The agent's phone was answered. */
  readonly answeredAtWallMs?: number | undefined;
  /** The agent took the call. */
  readonly acceptedAtWallMs?: number | undefined;
  readonly connectedAtWallMs?: number | undefined;
  readonly connectedBy?: 'carrier' | 'gateway' | undefined;
  /** The outcome became known; for a bridged transfer, one side hung up. */
  readonly endedAtWallMs?: number | undefined;
  /** `cancelled`: the caller hung up, or the dialog withdrew the transfer. */
  readonly outcome?: TransferOutcome | 'cancelled' | undefined;
  /** The carrier's own code or word, or ours. */
  readonly cause?: string | undefined;
}

export type TransferStep = 'ringing' | 'answered' | 'accepted' | 'connected';

/** The transfers of one call, for its record and timeline. */
export class TransferLog {
  readonly #entries: TransferEntry[] = [];
  readonly #parts: TransferLogParts;

  constructor(parts: TransferLogParts) {
    this.#parts = parts;
  }

  begin(about: Pick<TransferRecord, 'to' | 'kind' | 'legId'>): TransferEntry {
    const entry = new TransferEntry(about, this.#parts);
    this.#entries.push(entry);
    return entry;
  }

  /** The caller is queued for an agent. @param place from 1 on */
  waits(place: number): void {
    const { callId, clock, logger, timeline, turn } = this.#parts;
    timeline.add({ type: 'transfer', atMs: clock.nowMs(), turn: Math.max(0, turn()), kind: 'warm', what: `queued ${place}` });
    logger.info({ callId, place }, 'caller queued');
  }

  /** The bot's server is down and a fallback serves the caller. Numbers appear in transfer records only. */
  failedOver({ type, from, step, to }: DialogAction & { readonly type: 'fail-over' }): void {
    const { callId, clock, events, timeline, turn } = this.#parts;
    const about = { turn: Math.max(0, turn()), step, ...(step === 'bot' && to !== undefined ? { to } : {}) };
    events.failedOver({ callId, bot: from, ...about });
    timeline.add({ type, atMs: clock.nowMs(), from, ...about });
  }

  /** @param endReason of the call; `in-progress` while it lasts */
  records(endReason: string): readonly TransferRecord[] {
    return this.#entries.map(({ record }) => {
      if (record.outcome !== undefined || endReason === 'in-progress') return record;
      // The carrier ended the stream after a transfer order, which is its only sign of success.
      const isTaken = record.kind === 'cold' || record.acceptedAtWallMs !== undefined;
      return { ...record, outcome: isTaken && endReason === 'transferred' ? 'answered' : 'cancelled' };
    });
  }
}

interface TransferLogParts {
  readonly callId: string;
  readonly events: Pick<BusinessEvents, 'failedOver'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly timeline: Timeline;
  /** The running turn. */
  readonly turn: () => number;
}

/** One running transfer. */
export class TransferEntry {
  record: TransferRecord;
  readonly #parts: TransferLogParts;

  constructor(about: Pick<TransferRecord, 'to' | 'kind' | 'legId'>, parts: TransferLogParts) {
    this.#parts = parts;
    this.record = { ...about, startedAtWallMs: parts.clock.wallMs() };
    this.#note('started');
  }

  /** The agent's leg got its carrier id. */
  placed(carrierCallId: string): void {
    this.record = { ...this.record, carrierCallId };
  }

  reached(step: TransferStep): void {
    const key = `${step}AtWallMs` as const;
    if (this.record[key] !== undefined) return;
    this.record = { ...this.record, [key]: this.#parts.clock.wallMs() };
    this.#note(step);
  }

  connected(by: 'carrier' | 'gateway'): void {
    this.reached('connected');
    this.record = { ...this.record, connectedBy: by };
  }

  over(outcome: NonNullable<TransferRecord['outcome']>, cause?: string): void {
    const endedAtWallMs = this.#parts.clock.wallMs();
    this.record = { ...this.record, endedAtWallMs, outcome, ...(cause === undefined ? {} : { cause }) };
    this.#note(outcome);
  }

  #note(what: string): void {
    const { callId, clock, logger, timeline, turn } = this.#parts;
    const { kind } = this.record;
    timeline.add({ type: 'transfer', atMs: clock.nowMs(), turn: Math.max(0, turn()), kind, what });
    logger.info({ callId, kind, what }, 'transfer');
  }
}
