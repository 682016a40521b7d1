import { CarrierControlError, DialUnknownError } from '../carriers/errors.ts';
import type { DestinationsOf } from '../config/destinations.ts';
import { sleep } from '../kernel/waiting.ts';
import type { Attempt } from '../records/dialling.ts';
import { type DialGate, DialPermit } from './ask-gate.ts';
import { AttemptFollower, type DialReport, type FollowerParts } from './attempt-follower.ts';
import { AttemptSteps, type LiveAttempt } from './attempt-steps.ts';
import type { DialRequest, Dialler, GatedDial } from './dialling.ts';

/** Paces calls at a carrier account; asking takes the turn. */
export interface DialPace {
  /** @returns the wait for it */
  take(attempt: Pick<Attempt, 'carrier' | 'from' | 'campaignId'>): number | Promise<number>;
}

export interface DiallerParts extends FollowerParts {
  readonly gate: Pick<DialGate, 'ask' | 'check'>;
  /** Where a tenant's calls may go. */
  readonly destinationsOf: DestinationsOf;
  /** Addresses of a new media stream, with token, and of reports; media is expected from then on. */
  readonly addressesOf: (
    dial: { readonly carrier: string; readonly callId: string; readonly attachmentId: string },
    ringTimeoutMs: number,
  ) => Promise<{ readonly streamUrl: string; readonly statusUrl: string }>;
  readonly maxDurationMsOf: (botName: string) => number | undefined;
  /** The time zone of a number that can only be in one, for a person without a given zone; not derived when absent. */
  readonly zoneOf?: ((number: string) => string | undefined) | undefined;
  readonly pace: DialPace;
  /** Concurrent calls at one carrier account. */
  readonly concurrency: number;
  readonly detectMachine: boolean;
}

/** Longest wait for a turn at the carrier; beyond it the attempt stays queued. */
const MOST_PACE_MS = 10_000;
/** Carriers have their own, shorter limits. */
const ORDER_WITHIN_MS = 30_000;
const DEFAULT_CALL_MS = 3_600_000;

/** Places approved calls: the only way to a dial. Of any number of processes, one places a call. */
export class CallDialler implements Dialler, AsyncDisposable {
  readonly #parts: DiallerParts;
  readonly #steps: AttemptSteps;
  readonly #follower: AttemptFollower;
  readonly #placing = new Map<string, ReturnType<Dialler['place']>>();
  #isClosing = false;

  constructor(parts: DiallerParts) {
    this.#parts = parts;
    this.#steps = new AttemptSteps(parts);
    this.#follower = new AttemptFollower(parts, this.#steps, (tenantId, id) => this.place(tenantId, id));
  }

  /** Follows attempts, and takes over those of dead processes, until disposed. */
  start(): void {
    this.#follower.start();
  }

  /** Whether a request can be decided at all, regardless of room. @throws DialRequestError */
  check(request: DialRequest): void {
    this.#parts.gate.check(request);
  }

  async ask(requests: readonly DialRequest[]): Promise<readonly GatedDial[]> {
    const { clock, gate, tell } = this.#parts;
    const gated = await gate.ask(requests, this.#steps.lease());
    for (const { allowed, attempt } of gated) {
      if (allowed) this.#steps.watch(attempt, attempt.placeByMs - clock.wallMs() + 1_000);
      else tell('refused', attempt);
    }
    return gated;
  }

  onEnded(listener: (attempt: Attempt) => void): void {
    this.#steps.onEnded(listener);
  }

  /** A carrier's report on a call. If the store is unavailable, the carrier is asked later. */
  reported(callId: string, report: DialReport): void {
    this.#follower.reported(callId, report).catch((error: unknown) => {
      this.#parts.logger.warn({ callId, carrier: report.carrier, error }, "a carrier's report was not stored");
    });
  }

  /** Hears of carriers' reports and stored records. */
  get follower(): Pick<AttemptFollower, 'reported' | 'stored'> {
    return this.#follower;
  }

  /** Attempts followed by this process, by carrier. */
  get active(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { carrier } of this.#steps.live.values()) counts.set(carrier, (counts.get(carrier) ?? 0) + 1);
    return counts;
  }

  /** Whether a call could be placed now. */
  get hasRoom(): boolean {
    return !this.#isClosing && this.#parts.outbound.room > 0;
  }

  place(tenantId: string, attemptId: string): ReturnType<Dialler['place']> {
    const known = this.#placing.get(attemptId);
    if (known !== undefined) return known;
    const placing = this.#place(tenantId, attemptId).finally(() => this.#placing.delete(attemptId));
    this.#placing.set(attemptId, placing);
    return placing;
  }

  async cancel(tenantId: string, attemptId: string, cause?: string): Promise<boolean> {
    const attempt = await this.#parts.attempts.get(tenantId, attemptId);
    if (attempt === undefined || attempt.state === 'ended' || attempt.state === 'answered') return false;
    // An order without an answer so far is hung up when that comes.
    await this.#steps.hangUp(attempt);
    return this.#steps.end(attempt, ['queued', 'placing', 'ringing'], { disposition: 'cancelled', cause });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    await Promise.allSettled(this.#placing.values());
    await this.#follower.close();
  }

  async #place(tenantId: string, id: string): ReturnType<Dialler['place']> {
    const { attempts, clock, outbound, speechReady, pace, concurrency, controlOf } = this.#parts;
    if (this.#isClosing) return 'no-room';
    const attempt = await attempts.get(tenantId, id);
    if (attempt === undefined || attempt.state === 'ended') return 'over';
    if (attempt.state !== 'queued') return 'elsewhere';
    const { carrier, botName, campaignId, from, to, variables, metadata, duties } = attempt;
    if (!DialPermit.holds(attempt, clock.wallMs())) return this.#giveUp(attempt, 'cancelled', 'expired');
    if (controlOf(carrier)?.dialling === undefined) return this.#giveUp(attempt, 'failed', 'no-carrier-account');
    const held = [...this.#steps.live.values()].filter((live) => live.isOurs && live.carrier === carrier);
    if (held.length >= concurrency || outbound.room <= 0) return 'no-room';
    const live = this.#steps.watch(attempt, attempt.placeByMs - clock.wallMs() + 1_000);
    live.isOurs = true;
    let isAsked = false;
    try {
      const waitMs = await pace.take(attempt);
      if (waitMs > MOST_PACE_MS) return 'no-room';
      if (waitMs > 0) await sleep(clock, waitMs);
      const zone = attempt.zone ?? this.#parts.zoneOf?.(to);
      const call = { callId: id, tenantId, carrier, from, to, botName, variables, metadata, campaignId, zone, duties };
      await speechReady?.();
      const reserved = await outbound.reserve(call);
      if (reserved.kind === 'refuse') {
        if (reserved.cause === 'no-bot') return await this.#giveUp(attempt, 'failed', 'no-bot');
        return 'no-room';
      }
      const placedAtMs = clock.wallMs();
      const permit = DialPermit.of(attempt, placedAtMs, this.#parts.destinationsOf(tenantId));
      if (permit === undefined) {
        const cause = DialPermit.holds(attempt, placedAtMs) ? 'destination-not-allowed' : 'expired';
        return await this.#giveUp(attempt, 'cancelled', cause);
      }
      if (!(await attempts.advance(tenantId, id, ['queued'], 'placing', { placedAtMs }, this.#steps.lease()))) {
        return (await attempts.get(tenantId, id))?.state === 'ended' ? 'over' : 'elsewhere';
      }
      isAsked = true;
      live.isUnanswered = true;
      live.checkAtMs = clock.nowMs() + 2 * ORDER_WITHIN_MS;
      return await this.#order(permit, live, placedAtMs, reserved.attachmentId);
    } finally {
      // After the order, the place is released by whichever process follows the attempt to its end.
      if (!isAsked) {
        live.isOurs = false;
        outbound.release(id, 'not placed');
      }
    }
  }

  /** Sends the order to the carrier; requires the gate's permit. */
  async #order(
    { attempt, target: to }: DialPermit,
    live: LiveAttempt,
    placedAtMs: number,
    attachmentId: string,
  ): ReturnType<Dialler['place']> {
    const { clock, controlOf, addressesOf, maxDurationMsOf, detectMachine, logger } = this.#parts;
    const { id: callId, carrier, from, ringTimeoutMs, botName } = attempt;
    const placing: Attempt = { ...attempt, placedAtMs, state: 'placing' };
    const maxDurationMs = maxDurationMsOf(botName) ?? DEFAULT_CALL_MS;
    const late = new AbortController();
    const timer = clock.after(ORDER_WITHIN_MS, () => late.abort(new Error(`no answer within ${ORDER_WITHIN_MS} ms`)));
    try {
      const addresses = await addressesOf({ carrier, callId, attachmentId }, ringTimeoutMs);
      const order = { callId, from, to, ringTimeoutMs, maxDurationMs, detectMachine, ...addresses };
      const { dialling } = controlOf(carrier) ?? {};
      if (dialling === undefined) throw new CarrierControlError('the carrier places no calls', { retryable: false });
      const { carrierCallId } = await dialling.dial(order, late.signal);
      await this.#steps.taken(placing, carrierCallId);
      return 'placed';
    } catch (error) {
      if (error instanceof CarrierControlError) {
        live.isUnanswered = false;
        logger.warn({ callId, carrier, error }, 'carrier did not place a call');
        const disposition = error.retryable ? 'failed' : 'rejected';
        await this.#steps.end(placing, ['placing'], { disposition, cause: causeOf(error), placedAtMs: null });
        return 'over';
      }
      // After any other failure, such as the store's, the carrier is asked for the result.
      const isNews = !(error instanceof DialUnknownError);
      logger.warn({ callId, carrier, ...(isNews ? { error } : {}) }, 'dial order got no answer: it is looked up at the carrier');
      this.#steps.watchUnknown(attempt);
      return 'placed';
    } finally {
      timer.cancel();
    }
  }

  async #giveUp(attempt: Attempt, disposition: 'failed' | 'cancelled', cause: string): Promise<'over'> {
    await this.#steps.end(attempt, ['queued'], { disposition, cause });
    return 'over';
  }
}

/** The carrier's own code for a refusal, else the known cause. */
function causeOf({ facts: { carrierCode, status } }: CarrierControlError): string {
  if (carrierCode !== undefined) return String(carrierCode);
  return status === undefined ? 'unreachable' : `http-${String(status)}`;
}
