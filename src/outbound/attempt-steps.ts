import type { OutboundCalls } from '../call/admission/outbound-calls.ts';
import type { CallControl, DialProgress, DialEnd } from '../carriers/port.ts';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import type { Logger } from '../observability/logger.ts';
import type { Attempt, AttemptLease, AttemptNews, AttemptRepository, AttemptState, Disposition } from '../records/dialling.ts';
import type { AnsweredBy } from '../config/answered-by.ts';
import type { CallRecord } from '../records/record.ts';

/** Events of an attempt, for log, metrics and webhooks. */
export type AttemptEvent = 'refused' | 'placed' | 'ringing' | 'answered' | 'ended';

export interface AttemptStepsParts {
  readonly attempts: Pick<AttemptRepository, 'get' | 'advance'>;
  readonly outbound: Pick<OutboundCalls, 'release'>;
  readonly controlOf: (carrier: string) => CallControl | undefined;
  /** The carrier's id of a call is known: its media socket must name it. */
  readonly placed: (carrier: string, callId: string, carrierCallId: string) => void;
  readonly tell: (event: AttemptEvent, attempt: Attempt) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long an attempt stays with its owner after it was last seen. */
const LEASE_MS = 15_000;
/** Delay of a carrier's report after the ring timeout until the carrier is asked. */
const REPORT_LATE_MS = 10_000;
const FIRST_LOOKUP_MS = 1_000;
const HANG_UP_WITHIN_MS = 15_000;
/** Interval of checking a running call, and of looking for the record of an ended one. */
export const ANSWERED_EVERY_MS = 30_000;
export const RECORD_EVERY_MS = 2_000;

/** An attempt followed by this process. */
export interface LiveAttempt {
  readonly tenantId: string;
  readonly id: string;
  readonly carrier: string;
  /** Whether this process holds the place for its media. */
  isOurs: boolean;
  /** Whether its order was sent and has no answer yet, … */
  isUnanswered: boolean;
  /** Whether the order got no answer, so that the carrier is asked about it. */
  isUnknown: boolean;
  /** On the monotonic clock. */
  checkAtMs: number;
  /** Lookups without a result. */
  tries: number;
  /** When it ended at the carrier; its record is awaited. */
  overSinceMs?: number;
}

/** State changes of attempts. The store alone has their state: each change is a conditional write, which one of many processes makes. */
export class AttemptSteps {
  readonly #parts: AttemptStepsParts;
  readonly owner = newId('job');
  readonly #live = new Map<string, LiveAttempt>();
  readonly #listeners: ((attempt: Attempt) => void)[] = [];

  constructor(parts: AttemptStepsParts) {
    this.#parts = parts;
  }

  /** Attempts followed by this process, by id. */
  get live(): ReadonlyMap<string, LiveAttempt> {
    return this.#live;
  }

  onEnded(listener: (attempt: Attempt) => void): void {
    this.#listeners.push(listener);
  }

  lease(): AttemptLease {
    return { owner: this.owner, untilMs: this.#parts.clock.wallMs() + LEASE_MS };
  }

  /** Follows an attempt, with the first check after `afterMs`. */
  watch({ tenantId, id, carrier }: Attempt, afterMs: number): LiveAttempt {
    const checkAtMs = this.#parts.clock.nowMs() + afterMs;
    const fresh = { tenantId, id, carrier, isOurs: false, isUnanswered: false, isUnknown: false, checkAtMs, tries: 0 };
    const live = this.#live.get(id) ?? fresh;
    live.checkAtMs = checkAtMs;
    this.#live.set(id, live);
    return live;
  }

  /** Watches an attempt whose order got no answer: asks the carrier soon, then with growing waits. */
  watchUnknown(attempt: Attempt): void {
    const live = this.watch(attempt, FIRST_LOOKUP_MS);
    live.isUnanswered = true;
    live.isUnknown = true;
  }

  /** Releases its place and stops following it. */
  forget(id: string, reason: string): void {
    this.#live.delete(id);
    this.#parts.outbound.release(id, reason);
  }

  /** The carrier accepted the order; its reports may have come before its answer. */
  async taken(attempt: Attempt, carrierCallId: string): Promise<void> {
    const { attempts, clock, placed, tell } = this.#parts;
    const { tenantId, id, carrier, ringTimeoutMs } = attempt;
    placed(carrier, id, carrierCallId);
    const live = this.watch(attempt, FIRST_LOOKUP_MS);
    if (!(await attempts.advance(tenantId, id, ['placing'], 'placing', { carrierCallId }))) {
      const now = await attempts.get(tenantId, id);
      if (now?.state === 'ended' && now.carrierCallId === undefined) {
        // Ended during the order, by a process that could not know of its call.
        await this.hangUp({ ...now, carrierCallId });
        this.forget(id, 'cancelled while it was placed');
        return;
      }
    }
    live.isUnanswered = false;
    live.isUnknown = false;
    live.tries = 0;
    live.checkAtMs = clock.nowMs() + ringTimeoutMs + REPORT_LATE_MS;
    tell('placed', { ...attempt, carrierCallId });
  }

  /** The carrier's report of a call's progress. */
  async progressed(attempt: Attempt, progress: DialProgress, carrierCallId: string): Promise<void> {
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
        await this.answered(attempt, carrierCallId);
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
        await this.answered(attempt, carrierCallId);
        if (live !== undefined) this.over(live);
      }
    }
  }

  async answered(attempt: Attempt, carrierCallId: string, answeredAtMs = this.#parts.clock.wallMs()): Promise<void> {
    const { attempts, tell } = this.#parts;
    const news = { answeredAtMs, carrierCallId };
    if (await attempts.advance(attempt.tenantId, attempt.id, ['placing', 'ringing'], 'answered', news))
      tell('answered', { ...attempt, state: 'answered', ...news });
  }

  /** The call is over at its carrier; its record has the result. */
  over(live: LiveAttempt): void {
    this.#parts.outbound.release(live.id, 'the call is over at its carrier');
    live.overSinceMs ??= this.#parts.clock.nowMs();
    live.checkAtMs = this.#parts.clock.nowMs() + RECORD_EVERY_MS;
  }

  /** @returns whether this call ended it */
  async end(attempt: Attempt, from: readonly AttemptState[], news: AttemptNews): Promise<boolean> {
    const { attempts, clock, tell } = this.#parts;
    const { tenantId, id } = attempt;
    const whole = { endedAtMs: clock.wallMs(), ...news };
    if (!(await attempts.advance(tenantId, id, from, 'ended', whole))) return false;
    if (this.#live.get(id)?.isUnanswered !== true) this.forget(id, `the attempt is over: ${news.disposition ?? 'ended'}`);
    const ended = await attempts.get(tenantId, id);
    if (ended === undefined) return true;
    tell('ended', ended);
    for (const listener of this.#listeners) listener(ended);
    return true;
  }

  async hangUp({ id, carrier, carrierCallId }: Attempt): Promise<void> {
    if (carrierCallId === undefined) return;
    const { clock, controlOf, logger } = this.#parts;
    const late = new AbortController();
    const timer = clock.after(HANG_UP_WITHIN_MS, () => late.abort(new Error('the carrier does not answer')));
    try {
      await controlOf(carrier)?.hangUp(carrierCallId, late.signal);
    } catch (error) {
      logger.warn({ callId: id, carrier, error }, 'hanging up a dialled call failed');
    } finally {
      timer.cancel();
    }
  }
}

/** Facts of an ended, answered call. */
export interface EndedDial {
  readonly endReason: string;
  /** Undefined without any opinion. */
  readonly answeredBy: AnsweredBy | undefined;
  readonly optOut: 'opt-out' | 'wrong-number' | undefined;
  /** Whether the person asked for a call-back at some time. */
  readonly callBack: boolean;
  /** How much of the mailbox message was heard. */
  readonly message: 'all' | 'part' | undefined;
  /** Whether the first sentence was heard to its end. */
  readonly identified: boolean;
}

/** End reasons that are our own fault, regardless of who answered. */
const OWN_FAILURES: readonly string[] = ['speech-unavailable', 'dialog-failed', 'internal-error', 'process-died'];
/** End reasons that cut the call short, unless the person had heard who calls. */
const CUT_SHORT: readonly string[] = ['carrier-lost', 'shutdown', 'transfer-failed'];

/** Result of an answered call. The person's wish takes precedence over who answered, and that over how the call ended. */
export function dispositionOf(dial: EndedDial): Disposition {
  const { endReason, answeredBy, optOut, callBack, message, identified } = dial;
  if (optOut !== undefined) return optOut;
  // Without a time, only the end of the call tells.
  if (callBack || endReason === 'call-back') return 'call-back';
  if (answeredBy === 'mailbox') return message === 'all' ? 'message-left' : 'mailbox';
  if (answeredBy !== undefined && answeredBy !== 'person') return answeredBy;
  if (OWN_FAILURES.includes(endReason)) return 'failed';
  if (endReason === 'transferred') return 'transferred';
  if (identified) return 'completed';
  return CUT_SHORT.includes(endReason) ? 'failed' : 'abandoned';
}

/** Result of an unanswered call, by the carrier's report; undefined for an answered one. */
export function unanswered(end: DialEnd): Disposition | undefined {
  return end === 'completed' ? undefined : end;
}

/** What the record of an answered call tells of its result. */
type CountedRecord = Pick<CallRecord, 'endReason'> & {
  readonly outbound?: Partial<Pick<EndedDial, 'answeredBy' | 'message' | 'identified'>> | undefined;
  readonly optOut?: { readonly kind: 'opt-out' | 'wrong-number' } | undefined;
};

/** The result of an answered call by its record. @param callBackAtMs when the person wants to be called, if they said so */
export function countedAs({ endReason = '', outbound, optOut }: CountedRecord, callBackAtMs: number | undefined): Disposition {
  const { answeredBy, message, identified = false } = outbound ?? {};
  const callBack = callBackAtMs !== undefined;
  return dispositionOf({ endReason, answeredBy, optOut: optOut?.kind, callBack, message, identified });
}

/** The part of a call's record that updates its attempt. */
export function newsOf(record: CallRecord): AttemptNews {
  const { endReason = '', outbound, callBackAtMs, answeredAtMs, endedAtMs, carrierCallId } = record;
  const answeredBy = outbound?.answeredBy;
  const disposition = countedAs(record, callBackAtMs);
  return {
    disposition,
    ...(carrierCallId === '' ? {} : { carrierCallId }),
    ...(disposition === 'failed' ? { cause: endReason } : {}),
    ...(answeredBy === undefined ? {} : { answeredBy }),
    ...(answeredAtMs === undefined ? {} : { answeredAtMs }),
    ...(endedAtMs === undefined ? {} : { endedAtMs }),
    ...(callBackAtMs === undefined ? {} : { callBackAtMs }),
  };
}
