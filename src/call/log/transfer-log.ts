import type { DialogAction } from '../../dialog/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { BusinessEvents } from '../../observability/events.ts';
import type { Logger } from '../../observability/logger.ts';
import type { TransferOutcome } from '../turn/farewell-state.ts';
import type { Timeline } from './timeline.ts';

/** One transfer of a call. Times are wall times; those that were not reached are absent. */
export interface TransferRecord {
  /** A number in E.164 form, or a `sip:` address. */
  readonly to: string;
  readonly kind: 'cold' | 'warm';
  readonly startedAtWallMs: number;
  /** Of the agent's leg: our own id, and the carrier's. */
  readonly legId?: string | undefined;
  readonly carrierCallId?: string | undefined;
  readonly ringingAtWallMs?: number | undefined;
  /** The agent's phone was answered. */
  readonly answeredAtWallMs?: number | undefined;
  /** The agent took the call. */
  readonly acceptedAtWallMs?: number | undefined;
  readonly connectedAtWallMs?: number | undefined;
  readonly connectedBy?: 'carrier' | 'gateway' | undefined;
  /** The outcome was known; of two who were connected by the gateway, one hung up. */
  readonly endedAtWallMs?: number | undefined;
  /** `cancelled`: the caller hung up, or the dialog no longer wanted it. */
  readonly outcome?: TransferOutcome | 'cancelled' | undefined;
  /** The carrier's own code or word, or ours. */
  readonly cause?: string | undefined;
}

export type TransferStep = 'ringing' | 'answered' | 'accepted' | 'connected';

/** The transfers of one call, as its record and its timeline have them. */
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

  /** The caller waits for an agent behind others. @param place from 1 on */
  waits(place: number): void {
    const { callId, clock, logger, timeline, turn } = this.#parts;
    timeline.add({ type: 'transfer', atMs: clock.nowMs(), turn: Math.max(0, turn()), kind: 'warm', what: `queued ${place}` });
    logger.info({ callId, place }, 'caller queued');
  }

  /** A bot's server is down: something else is done for its caller. Numbers stay in the records of transfers. */
  failedOver({ type, from, step, to }: DialogAction & { readonly type: 'fail-over' }): void {
    const { callId, clock, events, timeline, turn } = this.#parts;
    const about = { turn: Math.max(0, turn()), step, ...(step === 'bot' && to !== undefined ? { to } : {}) };
    events.failedOver({ callId, bot: from, ...about });
    timeline.add({ type, atMs: clock.nowMs(), from, ...about });
  }

  /** @param endReason of the call; `in-progress` while it goes on */
  records(endReason: string): readonly TransferRecord[] {
    return this.#entries.map(({ record }) => {
      if (record.outcome !== undefined || endReason === 'in-progress') return record;
      // The carrier ended the stream of a caller whom it was told to connect: it says no more than that.
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
  /** The turn that is running. */
  readonly turn: () => number;
}

/** One transfer while it goes on. */
export class TransferEntry {
  record: TransferRecord;
  readonly #parts: TransferLogParts;

  constructor(about: Pick<TransferRecord, 'to' | 'kind' | 'legId'>, parts: TransferLogParts) {
    this.#parts = parts;
    this.record = { ...about, startedAtWallMs: parts.clock.wallMs() };
    this.#note('started');
  }

  /** The agent's leg has an id at the carrier. */
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
