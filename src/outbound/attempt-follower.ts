import type { GivenUp, OutboundCall, OutboundCalls, OutboundReport } from '../call/admission/outbound-calls.ts';
import { DEFAULT_TENANT, tenantOfAccount } from '../config/tenant-id.ts';
import { sleep } from '../kernel/waiting.ts';
import type { Attempt, AttemptRepository, AttemptState } from '../records/dialling.ts';
import type { CallRepository } from '../records/port.ts';
import type { CallRecord } from '../records/record.ts';
import { DialPermit } from './ask-gate.ts';
import {
  ANSWERED_EVERY_MS,
  type AttemptSteps,
  type AttemptStepsParts,
  type LiveAttempt,
  RECORD_EVERY_MS,
  newsOf,
} from './attempt-steps.ts';

/** What a carrier reports on a call that we dialled. */
export interface DialReport extends OutboundReport {
  readonly carrier: string;
}

export interface FollowerParts extends AttemptStepsParts {
  readonly attempts: Pick<AttemptRepository, 'get' | 'advance' | 'renew' | 'abandoned'>;
  readonly calls: Pick<CallRepository, 'get'>;
  readonly outbound: OutboundCalls;
  /** Waits until a beginning call can get a recognition slot, or none is free. */
  readonly speechReady?: (() => Promise<void>) | undefined;
}

const RENEW_EVERY_MS = 5_000;
const TICK_MS = 250;
/** Waits between questions to a carrier about a call; the last repeats. */
const LOOKUP_AFTER_MS = [1_000, 2_000, 4_000, 8_000, 15_000] as const;
/** Time after its ring timeout in which a call is looked up, before it stays unknown. */
const UNKNOWN_AFTER_MS = 120_000;
/** Time for the record of an ended call to reach the store. */
const RECORD_WITHIN_MS = 60_000;
const LONGEST_CALL_MS = 26 * 3_600_000;
const MOST_ABANDONED = 200;

const ON_ITS_WAY: readonly AttemptState[] = ['placing', 'ringing', 'answered'];

/**
 * Follows attempts from their order to their end, by carriers' reports, by asking carriers, and by the records of calls; takes over those of dead
 * processes.
 */
export class AttemptFollower {
  readonly #parts: FollowerParts;
  readonly #steps: AttemptSteps;
  /** Places an attempt that was left queued. */
  readonly #place: (tenantId: string, id: string) => Promise<unknown>;
  readonly #givingUp = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #recoverAtMs = 0;
  #running: Promise<unknown> | undefined;

  constructor(parts: FollowerParts, steps: AttemptSteps, place: (tenantId: string, id: string) => Promise<unknown>) {
    this.#parts = parts;
    this.#steps = steps;
    this.#place = place;
    parts.outbound.onGivenUp((call, why) => {
      const ending = this.#quietly(this.#givenUp(call, why)).finally(() => this.#givingUp.delete(ending));
      this.#givingUp.add(ending);
    });
  }

  /** Takes over earlier attempts, then follows attempts until `close`. */
  start(): void {
    this.#running ??= Promise.all([this.#run(), this.#keepLeases()]);
  }

  /** Waits until given-up calls are hung up. */
  async close(): Promise<void> {
    await Promise.all(this.#givingUp);
    this.#closing.abort();
    await this.#running;
  }

  /**
   * A carrier's report on an outbound call: in any order, possibly repeated, or before the order was answered.
   * @returns false for a call unknown here, and for another of the carrier's calls: a transfer's leg, or a report replayed under another dial's
   * address
   */
  async reported(callId: string, { carrier, carrierCallId, progress }: DialReport): Promise<boolean> {
    const { attempts } = this.#parts;
    const tenantId = this.#steps.live.get(callId)?.tenantId ?? tenantOfAccount(carrier) ?? DEFAULT_TENANT;
    const attempt = await attempts.get(tenantId, callId);
    if (attempt === undefined || attempt.carrier !== carrier) return false;
    if (attempt.carrierCallId !== undefined && attempt.carrierCallId !== carrierCallId) return false;
    if (progress !== undefined) await this.#steps.progressed(attempt, progress, carrierCallId);
    return true;
  }

  /** The record of a call was stored. @throws StoreUnavailableError */
  async stored(record: CallRecord): Promise<void> {
    if (record.direction !== 'outbound' || record.endedAtMs === undefined) return;
    const attempt = await this.#parts.attempts.get(record.tenantId, record.id);
    if (attempt === undefined) return;
    if (attempt.state === 'ended') {
      // A late record corrects the assumed result.
      if (attempt.disposition === 'unknown') await this.#steps.end(attempt, ['ended'], newsOf(record));
      return;
    }
    await this.#steps.answered(attempt, record.carrierCallId, record.answeredAtMs);
    await this.#steps.end(attempt, ON_ITS_WAY, newsOf(record));
  }

  /** Takes over attempts without a valid lease. @throws StoreUnavailableError */
  async recover(): Promise<void> {
    const { attempts, clock, logger } = this.#parts;
    const abandoned = await attempts.abandoned({ nowMs: clock.wallMs(), limit: MOST_ABANDONED });
    for (const attempt of abandoned) {
      const { tenantId, id, state, campaignId } = attempt;
      if (this.#steps.live.has(id)) continue;
      if (state === 'queued') {
        if (!DialPermit.holds(attempt, clock.wallMs())) await this.#expire(attempt);
        // A campaign's attempts are placed by its runner, at its pace.
        else if (campaignId === undefined) void this.#quietly(this.#place(tenantId, id));
        continue;
      }
      if (!(await attempts.advance(tenantId, id, [state], state, {}, this.#steps.lease()))) continue;
      logger.info({ callId: id, state }, 'attempt of another process taken over');
      this.#steps.watch(attempt, 0);
    }
  }

  /** Runs in parallel: a slow carrier must not make this process look dead. */
  async #keepLeases(): Promise<void> {
    const { attempts, clock } = this.#parts;
    while (!this.#closing.signal.aborted) {
      const { owner, untilMs } = this.#steps.lease();
      await this.#quietly(attempts.renew(owner, untilMs));
      await sleep(clock, RENEW_EVERY_MS, this.#closing.signal).catch(() => undefined);
    }
  }

  async #run(): Promise<void> {
    const { clock } = this.#parts;
    while (!this.#closing.signal.aborted) {
      if (clock.nowMs() >= this.#recoverAtMs) {
        this.#recoverAtMs = clock.nowMs() + RENEW_EVERY_MS;
        await this.#quietly(this.recover());
      }
      const due = [...this.#steps.live.values()].filter(({ checkAtMs }) => checkAtMs <= clock.nowMs());
      await Promise.all(due.map((live) => this.#quietly(this.#check(live))));
      await sleep(clock, TICK_MS, this.#closing.signal).catch(() => undefined);
    }
  }

  /** Failures are retried at the next check. */
  async #quietly(work: Promise<unknown>): Promise<void> {
    await work.catch((error: unknown) => {
      if (!this.#closing.signal.aborted) this.#parts.logger.warn({ error }, 'following outbound calls failed');
    });
  }

  /** Asks the carrier about an attempt whose reports may have been missed. */
  async #check(live: LiveAttempt): Promise<void> {
    const { attempts, clock } = this.#parts;
    // Failures below are retried then.
    live.checkAtMs = clock.nowMs() + (LOOKUP_AFTER_MS[Math.min(live.tries, LOOKUP_AFTER_MS.length - 1)] ?? 0);
    const attempt = await attempts.get(live.tenantId, live.id);
    if (attempt?.state === 'ended' && live.isUnanswered) return this.#checkOrder(live, attempt);
    switch (attempt?.state) {
      case undefined:
      case 'ended':
        return this.#steps.forget(live.id, 'the attempt is over');
      case 'queued':
        if (!DialPermit.holds(attempt, clock.wallMs())) await this.#expire(attempt);
        return;
      case 'placing':
      case 'ringing':
        if (this.#isOfAnother(live, attempt)) return this.#steps.forget(live.id, 'another process placed it');
        return attempt.carrierCallId === undefined ? this.#checkOrder(live, attempt) : this.#checkRinging(live, attempt);
      case 'answered':
        if (this.#isOfAnother(live, attempt)) return this.#steps.forget(live.id, 'another process placed it');
        return this.#checkAnswered(live, attempt);
    }
  }

  /** Requested here, but placed by a process that follows it. */
  #isOfAnother({ isOurs }: LiveAttempt, { leaseOwner }: Attempt): boolean {
    return !isOurs && leaseOwner !== undefined && leaseOwner !== this.#steps.owner;
  }

  /** Looks up the call of an unanswered order. */
  async #checkOrder(live: LiveAttempt, attempt: Attempt): Promise<void> {
    const { controlOf } = this.#parts;
    const { id: callId, from, to, carrier, placedAtMs = 0, state } = attempt;
    live.tries += 1;
    const dialling = controlOf(carrier)?.dialling;
    if (dialling?.capabilities.canFind === true) {
      const found = await dialling.find({ callId, from, to }, placedAtMs, this.#closing.signal);
      if (found.found === 'placed') {
        await this.#steps.taken(attempt, found.carrierCallId);
        if (state === 'ended') return;
        await this.#steps.progressed(attempt, found.progress, found.carrierCallId);
        // A call without a place here is hung up at the next check.
        if (!live.isOurs) live.checkAtMs = 0;
        return;
      }
      if (found.found === 'not-placed') return this.#notPlaced(live, attempt);
    }
    if (!this.#isOverdue(attempt)) return;
    live.isUnanswered = false;
    if (state === 'ended') this.#steps.forget(callId, 'unknown');
    else await this.#steps.end(attempt, ['placing', 'ringing'], { disposition: 'unknown' });
  }

  /** The carrier certainly has no such call: it may be ordered again while the approval is valid. */
  async #notPlaced(live: LiveAttempt, attempt: Attempt): Promise<void> {
    const { attempts, clock } = this.#parts;
    const { tenantId, id, state, campaignId } = attempt;
    live.isUnanswered = false;
    const isAllowed = DialPermit.holds({ ...attempt, state: 'queued' }, clock.wallMs());
    if (state === 'ended' || campaignId !== undefined || !isAllowed) {
      await this.#steps.end(attempt, ['placing'], { disposition: 'failed', cause: 'not-placed', placedAtMs: null });
      return;
    }
    if (!(await attempts.advance(tenantId, id, ['placing'], 'queued', { placedAtMs: null }, this.#steps.lease()))) return;
    this.#steps.forget(id, 'the carrier has no call of this order');
    await this.#place(tenantId, id);
  }

  async #checkRinging(live: LiveAttempt, attempt: Attempt): Promise<void> {
    const { carrier, carrierCallId = '' } = attempt;
    live.tries += 1;
    const progress = await this.#parts.controlOf(carrier)?.dialling?.progressOf(carrierCallId, this.#closing.signal);
    if (progress !== undefined) await this.#steps.progressed(attempt, progress, carrierCallId);
    if (progress?.state === 'queued' || progress?.state === 'ringing') {
      // The process with the place for its media is gone: a person who answers would hear silence.
      const cause = live.isOurs ? undefined : 'process-died';
      if (live.isOurs && !this.#isOverdue(attempt)) return;
      await this.#steps.hangUp(attempt);
      await this.#steps.end(attempt, ['placing', 'ringing'], { disposition: live.isOurs ? 'no-answer' : 'failed', cause });
    } else if (progress === undefined && this.#isOverdue(attempt)) {
      await this.#steps.end(attempt, ['placing', 'ringing'], { disposition: 'unknown' });
    }
  }

  async #checkAnswered(live: LiveAttempt, attempt: Attempt): Promise<void> {
    const { calls, clock, controlOf } = this.#parts;
    const { tenantId, id, carrier, carrierCallId, answeredAtMs = 0 } = attempt;
    const record = await calls.get(tenantId, id);
    if (record?.endedAtMs !== undefined) return this.stored(record);
    if (live.overSinceMs === undefined) {
      live.checkAtMs = clock.nowMs() + ANSWERED_EVERY_MS;
      const isTooLong = clock.wallMs() > answeredAtMs + LONGEST_CALL_MS;
      const dialling = controlOf(carrier)?.dialling;
      const progress = carrierCallId === undefined ? undefined : await dialling?.progressOf(carrierCallId, this.#closing.signal);
      if (!isTooLong && progress !== undefined && progress.state !== 'ended') return;
      this.#steps.over(live);
      return;
    }
    live.checkAtMs = clock.nowMs() + RECORD_EVERY_MS;
    if (clock.nowMs() - live.overSinceMs < RECORD_WITHIN_MS) return;
    // What the person said, possibly an opt-out, is unknown here: the call is not repeated.
    await this.#steps.end(attempt, ON_ITS_WAY, { disposition: 'unknown', cause: 'no-record' });
  }

  /** The call's place is gone while its phone may ring: a person who answers would hear silence. */
  async #givenUp({ tenantId, callId }: OutboundCall, why: GivenUp): Promise<void> {
    const attempt = await this.#parts.attempts.get(tenantId, callId);
    if (attempt === undefined || attempt.state === 'ended') return;
    // Whether the call exists is unknown: it is looked up, and stays unknown.
    const isUnknown = why === 'no-media' || this.#steps.live.get(callId)?.isUnknown === true;
    if (attempt.carrierCallId === undefined && isUnknown) return;
    await this.#steps.hangUp(attempt);
    const disposition = why === 'stopping' || why === 'hung-up' ? 'cancelled' : 'failed';
    await this.#steps.end(attempt, ON_ITS_WAY, { disposition, cause: why });
  }

  #isOverdue({ placedAtMs = 0, ringTimeoutMs }: Attempt): boolean {
    return this.#parts.clock.wallMs() > placedAtMs + ringTimeoutMs + UNKNOWN_AFTER_MS;
  }

  async #expire(attempt: Attempt): Promise<void> {
    await this.#steps.end(attempt, ['queued'], { disposition: 'cancelled', cause: 'expired' });
  }
}
