import type { OutboundCalls } from '../call/admission/outbound-calls.ts';
import type { CallControl, DialProgress } from '../carriers/port.ts';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import { sleep } from '../kernel/waiting.ts';
import type { Logger } from '../observability/logger.ts';
import type { Attempt, AttemptNews, AttemptRepository, AttemptState } from '../store/dialling.ts';
import type { CallRepository } from '../store/port.ts';
import type { CallRecord } from '../store/record.ts';
import { DialPermit } from './ask-gate.ts';
import { newsOf, unanswered } from './outcome.ts';

/** What happened to an attempt, for log, metrics and webhooks. */
export type AttemptEvent = 'refused' | 'placed' | 'ringing' | 'answered' | 'ended';

/** What a carrier reports on a call that we dialled. */
export interface DialReport {
  readonly carrier: string;
  readonly carrierCallId: string;
  readonly progress?: DialProgress | undefined;
}

export interface FollowerParts {
  readonly attempts: Pick<AttemptRepository, 'get' | 'advance' | 'renew' | 'abandoned'>;
  readonly calls: Pick<CallRepository, 'get'>;
  readonly outbound: OutboundCalls;
  readonly controlOf: (carrier: string) => CallControl | undefined;
  /** The carrier's id of a call is known: its media socket has to name it. */
  readonly placed: (carrier: string, callId: string, carrierCallId: string) => void;
  readonly tell: (event: AttemptEvent, attempt: Attempt) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Nobody else is busy with an attempt for so long after its owner was last seen. */
const LEASE_MS = 15_000;
const RENEW_EVERY_MS = 5_000;
const TICK_MS = 250;
/** Waits before a carrier is asked again for a call; the last one repeats. */
const LOOKUP_AFTER_MS = [1_000, 2_000, 4_000, 8_000, 15_000] as const;
/** Behind the ring timeout: how late a carrier's report may be before it is asked, … */
const REPORT_LATE_MS = 10_000;
/** … and how long a call is looked for before it stays unknown. */
const UNKNOWN_AFTER_MS = 120_000;
/** How long the record of a call that is over at its carrier may take to the store, and how often it is looked for. */
const RECORD_WITHIN_MS = 60_000;
const RECORD_EVERY_MS = 2_000;
/** How often a call that goes on is looked after, and how long it may go on at most. */
const ANSWERED_EVERY_MS = 30_000;
const LONGEST_CALL_MS = 26 * 3_600_000;
const MOST_ABANDONED = 200;

/** An attempt that this process is busy with. */
export interface LiveAttempt {
  readonly tenantId: string;
  readonly id: string;
  readonly carrier: string;
  /** Whether the place for its media is held by this process. */
  isOurs: boolean;
  /** Whether its order was given, and has no answer. */
  isUnanswered: boolean;
  /** On the monotonic clock. */
  checkAtMs: number;
  /** Lookups that told nothing. */
  tries: number;
  /** Since when it is over at the carrier; its record is awaited. */
  overSinceMs?: number;
}

const ON_ITS_WAY: readonly AttemptState[] = ['placing', 'ringing', 'answered'];

/**
 * Follows attempts from their order to their end, by carriers' reports, by asking carriers, and by the records of calls; takes over
 * what dead processes left. The store alone says where an attempt stands: each step is one conditional write.
 */
export class AttemptFollower {
  readonly #parts: FollowerParts;
  /** Places an attempt that was left queued. */
  readonly #place: (tenantId: string, id: string) => Promise<unknown>;
  readonly #owner = newId('job');
  readonly #live = new Map<string, LiveAttempt>();
  readonly #listeners: ((attempt: Attempt) => void)[] = [];
  readonly #closing = new AbortController();
  #renewAtMs = 0;
  #running: Promise<void> | undefined;

  constructor(parts: FollowerParts, place: (tenantId: string, id: string) => Promise<unknown>) {
    this.#parts = parts;
    this.#place = place;
  }

  /** Takes over what is left from before, then looks after attempts until `close`. */
  start(): void {
    this.#running ??= this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  onEnded(listener: (attempt: Attempt) => void): void {
    this.#listeners.push(listener);
  }

  get live(): Iterable<LiveAttempt> {
    return this.#live.values();
  }

  /** Who is busy with an attempt, until when. */
  lease(): { readonly owner: string; readonly untilMs: number } {
    return { owner: this.#owner, untilMs: this.#parts.clock.wallMs() + LEASE_MS };
  }

  /** Looks after an attempt from now on, for the first time after `afterMs`. */
  watch({ tenantId, id, carrier }: Attempt, afterMs: number): LiveAttempt {
    const checkAtMs = this.#parts.clock.nowMs() + afterMs;
    const live = this.#live.get(id) ?? { tenantId, id, carrier, isOurs: false, isUnanswered: false, checkAtMs, tries: 0 };
    live.checkAtMs = checkAtMs;
    this.#live.set(id, live);
    return live;
  }

  /** Nobody knows whether the carrier took the order: it is asked soon, and with growing waits. */
  watchUnknown(attempt: Attempt): void {
    this.watch(attempt, LOOKUP_AFTER_MS[0]).isUnanswered = true;
  }

  /** The carrier has taken the order. Its reports may have come before its answer. */
  async taken(attempt: Attempt, carrierCallId: string): Promise<void> {
    const { attempts, placed, tell } = this.#parts;
    const { tenantId, id, carrier, ringTimeoutMs } = attempt;
    placed(carrier, id, carrierCallId);
    const live = this.watch(attempt, LOOKUP_AFTER_MS[0]);
    if (!(await attempts.advance(tenantId, id, ['placing'], 'placing', { carrierCallId }))) {
      const now = await attempts.get(tenantId, id);
      if (now?.state === 'ended' && now.carrierCallId === undefined) {
        // Ended while the carrier was being asked, by someone who could not know of its call.
        await this.hangUp({ ...now, carrierCallId });
        this.#forget(id, 'cancelled while it was placed');
        return;
      }
    }
    live.isUnanswered = false;
    live.tries = 0;
    live.checkAtMs = this.#parts.clock.nowMs() + ringTimeoutMs + REPORT_LATE_MS;
    tell('placed', { ...attempt, carrierCallId });
  }

  /** @returns whether it was this that ended it */
  async end(attempt: Attempt, from: readonly AttemptState[], news: AttemptNews): Promise<boolean> {
    const { attempts, clock, tell } = this.#parts;
    const { tenantId, id } = attempt;
    const whole = { endedAtMs: clock.wallMs(), ...news };
    if (!(await attempts.advance(tenantId, id, from, 'ended', whole))) return false;
    if (this.#live.get(id)?.isUnanswered !== true) this.#forget(id, `the attempt is over: ${news.disposition ?? 'ended'}`);
    const ended = await attempts.get(tenantId, id);
    if (ended === undefined) return true;
    tell('ended', ended);
    for (const listener of this.#listeners) listener(ended);
    return true;
  }

  async hangUp({ id, carrier, carrierCallId }: Attempt): Promise<void> {
    if (carrierCallId === undefined) return;
    const { controlOf, logger } = this.#parts;
    await controlOf(carrier)
      ?.hangUp(carrierCallId, this.#closing.signal)
      .catch((error: unknown) => logger.warn({ callId: id, carrier, error }, 'hanging up a dialled call failed'));
  }

  /**
   * A carrier reports on a call that we placed: in any order, more than once, before it has answered the order.
   * @returns false for a call that is not known here
   */
  async reported(callId: string, { carrier, carrierCallId, progress }: DialReport): Promise<boolean> {
    const { attempts } = this.#parts;
    const tenantId = this.#live.get(callId)?.tenantId ?? 'default';
    const attempt = await attempts.get(tenantId, callId);
    if (attempt === undefined || attempt.carrier !== carrier) return false;
    if (progress !== undefined) await this.#progressed(attempt, progress, carrierCallId);
    return true;
  }

  /** The record of a call was stored. @throws StoreUnavailableError */
  async stored(record: CallRecord): Promise<void> {
    if (record.direction !== 'outbound' || record.endedAtMs === undefined) return;
    const attempt = await this.#parts.attempts.get(record.tenantId, record.id);
    if (attempt === undefined) return;
    if (attempt.state === 'ended') {
      // A record that comes late corrects what was assumed without it.
      const isGuess = attempt.disposition === 'unknown' || attempt.cause === 'no-record';
      if (isGuess) await this.end(attempt, ['ended'], newsOf(record));
      return;
    }
    await this.#answered(attempt, record.carrierCallId, record.answeredAtMs);
    await this.end(attempt, ON_ITS_WAY, newsOf(record));
  }

  /** Takes up what nobody is busy with. @throws StoreUnavailableError */
  async recover(): Promise<void> {
    const { attempts, clock, logger } = this.#parts;
    const abandoned = await attempts.abandoned({ nowMs: clock.wallMs(), limit: MOST_ABANDONED });
    for (const attempt of abandoned) {
      const { tenantId, id, state, campaignId } = attempt;
      if (this.#live.has(id)) continue;
      if (state === 'queued') {
        if (DialPermit.of(attempt, clock.wallMs()) === undefined) await this.#expire(attempt);
        // Those of a campaign are placed by its runner, at its pace.
        else if (campaignId === undefined) void this.#quietly(this.#place(tenantId, id));
        continue;
      }
      if (!(await attempts.advance(tenantId, id, [state], state, {}, this.lease()))) continue;
      logger.info({ callId: id, state }, 'attempt of another process taken over');
      this.watch(attempt, 0);
    }
  }

  async #run(): Promise<void> {
    const { attempts, clock } = this.#parts;
    while (!this.#closing.signal.aborted) {
      if (clock.nowMs() >= this.#renewAtMs) {
        this.#renewAtMs = clock.nowMs() + RENEW_EVERY_MS;
        await this.#quietly(attempts.renew(this.#owner, clock.wallMs() + LEASE_MS));
        await this.#quietly(this.recover());
      }
      const due = [...this.#live.values()].filter(({ checkAtMs }) => checkAtMs <= clock.nowMs());
      await Promise.all(due.map((live) => this.#quietly(this.#check(live))));
      await sleep(clock, TICK_MS, this.#closing.signal).catch(() => undefined);
    }
  }

  /** What fails here is tried again with the next look. */
  async #quietly(work: Promise<unknown>): Promise<void> {
    await work.catch((error: unknown) => {
      if (!this.#closing.signal.aborted) this.#parts.logger.warn({ error }, 'looking after outbound calls failed');
    });
  }

  /** Finds out how far an attempt is whose reports may have been missed. */
  async #check(live: LiveAttempt): Promise<void> {
    const { attempts, clock } = this.#parts;
    // Whatever fails below is tried again then.
    live.checkAtMs = clock.nowMs() + (LOOKUP_AFTER_MS[Math.min(live.tries, LOOKUP_AFTER_MS.length - 1)] ?? 0);
    const attempt = await attempts.get(live.tenantId, live.id);
    if (attempt?.state === 'ended' && live.isUnanswered) return this.#checkOrder(live, attempt);
    switch (attempt?.state) {
      case undefined:
      case 'ended':
        return this.#forget(live.id, 'the attempt is over');
      case 'queued':
        if (DialPermit.of(attempt, clock.wallMs()) === undefined) await this.#expire(attempt);
        return;
      case 'placing':
      case 'ringing':
        return attempt.carrierCallId === undefined ? this.#checkOrder(live, attempt) : this.#checkRinging(live, attempt);
      case 'answered':
        return this.#checkAnswered(live, attempt);
    }
  }

  /** Looks for the call of an order that got no answer. */
  async #checkOrder(live: LiveAttempt, attempt: Attempt): Promise<void> {
    const { controlOf } = this.#parts;
    const { id: callId, from, to, carrier, placedAtMs = 0, state } = attempt;
    live.tries += 1;
    const dialling = controlOf(carrier)?.dialling;
    if (dialling?.capabilities.canFind === true) {
      const found = await dialling.find({ callId, from, to }, placedAtMs, this.#closing.signal);
      if (found.found === 'placed') {
        await this.taken(attempt, found.carrierCallId);
        if (state === 'ended') return;
        await this.#progressed(attempt, found.progress, found.carrierCallId);
        // What has no place here is hung up with the next look.
        if (!live.isOurs) live.checkAtMs = 0;
        return;
      }
      if (found.found === 'not-placed') return this.#notPlaced(live, attempt);
    }
    if (!this.#isOverdue(attempt)) return;
    live.isUnanswered = false;
    if (state === 'ended') this.#forget(callId, 'unknown');
    else await this.end(attempt, ['placing', 'ringing'], { disposition: 'unknown' });
  }

  /** The carrier surely has no call of that order: it may be asked again while the gate's yes holds. */
  async #notPlaced(live: LiveAttempt, attempt: Attempt): Promise<void> {
    const { attempts, clock } = this.#parts;
    const { tenantId, id, state, campaignId } = attempt;
    live.isUnanswered = false;
    const isAllowed = DialPermit.of({ ...attempt, state: 'queued' }, clock.wallMs()) !== undefined;
    if (state === 'ended' || campaignId !== undefined || !isAllowed) {
      await this.end(attempt, ['placing'], { disposition: 'failed', cause: 'not-placed', placedAtMs: null });
      return;
    }
    if (!(await attempts.advance(tenantId, id, ['placing'], 'queued', { placedAtMs: null }, this.lease()))) return;
    this.#forget(id, 'the carrier has no call of this order');
    await this.#place(tenantId, id);
  }

  async #checkRinging(live: LiveAttempt, attempt: Attempt): Promise<void> {
    const { carrier, carrierCallId = '' } = attempt;
    live.tries += 1;
    const progress = await this.#parts.controlOf(carrier)?.dialling?.progressOf(carrierCallId, this.#closing.signal);
    if (progress !== undefined) await this.#progressed(attempt, progress, carrierCallId);
    if (progress?.state === 'queued' || progress?.state === 'ringing') {
      // The process that held the place for its media is gone: nobody would speak to a person who answers.
      const cause = live.isOurs ? undefined : 'process-died';
      if (live.isOurs && !this.#isOverdue(attempt)) return;
      await this.hangUp(attempt);
      await this.end(attempt, ['placing', 'ringing'], { disposition: live.isOurs ? 'no-answer' : 'failed', cause });
    } else if (progress === undefined && this.#isOverdue(attempt)) {
      await this.end(attempt, ['placing', 'ringing'], { disposition: 'unknown' });
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
      this.#over(live);
      return;
    }
    live.checkAtMs = clock.nowMs() + RECORD_EVERY_MS;
    if (clock.nowMs() - live.overSinceMs < RECORD_WITHIN_MS) return;
    await this.end(attempt, ON_ITS_WAY, { disposition: 'failed', cause: 'no-record' });
  }

  /** The call is over at its carrier; what came of it stands in its record. */
  #over(live: LiveAttempt): void {
    this.#parts.outbound.release(live.id, 'the call is over at its carrier');
    live.overSinceMs ??= this.#parts.clock.nowMs();
    live.checkAtMs = this.#parts.clock.nowMs() + RECORD_EVERY_MS;
  }

  async #progressed(attempt: Attempt, progress: DialProgress, carrierCallId: string): Promise<void> {
    const { attempts, clock, tell } = this.#parts;
    const { tenantId, id } = attempt;
    const live = this.#live.get(id);
    switch (progress.state) {
      case 'queued':
        return;
      case 'ringing': {
        const news = { ringingAtMs: clock.wallMs(), carrierCallId };
        if (await attempts.advance(tenantId, id, ['placing'], 'ringing', news))
          tell('ringing', { ...attempt, state: 'ringing', ...news });
        return;
      }
      case 'answered':
        await this.#answered(attempt, carrierCallId);
        if (live !== undefined) live.checkAtMs = clock.nowMs() + ANSWERED_EVERY_MS;
        return;
      case 'ended': {
        const disposition = attempt.state === 'answered' ? undefined : unanswered(progress.outcome);
        if (disposition !== undefined) {
          const from: AttemptState[] = attempt.disposition === 'unknown' ? ['ended'] : ['placing', 'ringing'];
          if (live !== undefined) live.isUnanswered = false;
          await this.end(attempt, from, { disposition, carrierCallId, cause: progress.cause });
          return;
        }
        if (attempt.state === 'ended') return;
        await this.#answered(attempt, carrierCallId);
        if (live !== undefined) this.#over(live);
      }
    }
  }

  async #answered(attempt: Attempt, carrierCallId: string, answeredAtMs = this.#parts.clock.wallMs()): Promise<void> {
    const { attempts, tell } = this.#parts;
    const news = { answeredAtMs, carrierCallId };
    if (await attempts.advance(attempt.tenantId, attempt.id, ['placing', 'ringing'], 'answered', news))
      tell('answered', { ...attempt, state: 'answered', ...news });
  }

  #isOverdue({ placedAtMs = 0, ringTimeoutMs }: Attempt): boolean {
    return this.#parts.clock.wallMs() > placedAtMs + ringTimeoutMs + UNKNOWN_AFTER_MS;
  }

  async #expire(attempt: Attempt): Promise<void> {
    await this.end(attempt, ['queued'], { disposition: 'cancelled', cause: 'expired' });
  }

  #forget(id: string, reason: string): void {
    this.#live.delete(id);
    this.#parts.outbound.release(id, reason);
  }
}
