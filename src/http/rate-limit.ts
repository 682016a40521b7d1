import type { Clock } from '../kernel/clock.ts';
import { MemoryRates, TokenBuckets } from '../hosts/shared-state/memory.ts';
import type { Pace, SharedRates } from '../hosts/shared-state/port.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendProblem } from './problem.ts';
import { visitorOf } from './public-addresses.ts';

/** A token bucket for each name, in this process. */
export class RateLimit {
  readonly #buckets: TokenBuckets;
  readonly #pace: Pace;

  constructor(clock: Clock, pace: Pace) {
    this.#buckets = new TokenBuckets(clock);
    this.#pace = pace;
  }

  /** @returns 0 when the request may proceed, else the seconds to wait */
  take(name: string): number {
    return secondsOf(this.#buckets.take(name, this.#pace));
  }

  /** What `take` would return, without taking a token. */
  wait(name: string): number {
    return secondsOf(this.#buckets.wait(name, this.#pace));
  }
}

export interface SharedRateLimitParts {
  readonly clock: Clock;
  /** Shared by all machines; this process only when absent. */
  readonly rates?: SharedRates | undefined;
}

/**
 * A token bucket for each name, shared by all machines. A local one of the same pace precedes it: what that refuses is free for the others, and
 * simultaneous guesses find it empty while the shared one is being asked.
 */
export class SharedRateLimit {
  readonly #own: RateLimit;
  readonly #shared: SharedRates;
  readonly #limit: string;
  readonly #pace: Pace;

  /** @param limit its name among all limits */
  constructor({ clock, rates }: SharedRateLimitParts, limit: string, pace: Pace) {
    this.#own = new RateLimit(clock, pace);
    this.#shared = rates ?? new MemoryRates(clock);
    this.#limit = limit;
    this.#pace = pace;
  }

  /** @returns 0 when the request may proceed, else the seconds to wait */
  async take(name: string): Promise<number> {
    const waitS = this.#own.take(name);
    return waitS > 0 ? waitS : secondsOf(await this.#shared.take(`${this.#limit} ${name}`, this.#pace));
  }

  /** What `take` would return, without taking a token. */
  async wait(name: string): Promise<number> {
    const waitS = secondsOf(await this.#shared.wait(`${this.#limit} ${name}`, this.#pace));
    return Math.max(waitS, this.#own.wait(name));
  }

  /**
   * Paces wrong guesses; a right one that comes too soon looks like a wrong one.
   * @param check undefined counts as wrong. If synchronous, no other guess comes in between
   */
  async guess<Found>(
    name: string,
    check: () => Promise<Found | undefined> | Found | undefined,
  ): Promise<{ readonly waitS: number } | { readonly waitS: 0; readonly found: Found | undefined }> {
    const sharedS = secondsOf(await this.#shared.wait(`${this.#limit} ${name}`, this.#pace));
    const waitS = Math.max(sharedS, this.#own.wait(name));
    if (waitS > 0) return { waitS };
    const checked = check();
    const found = checked instanceof Promise ? await checked : checked;
    if (found === undefined) await this.take(name);
    return { waitS: 0, found };
  }
}

function secondsOf(waitMs: number): number {
  return Math.ceil(waitMs / 1000);
}

/** Of pages and their files: a page asks for some thirty at once, and an office has one address. */
export const PAGES_PACE: Pace = { burst: 2000, perSecond: 100 };
/** Of the description of the API, which is large. */
export const DOCUMENTS_PACE: Pace = { burst: 60, perSecond: 5 };
/** Of readiness and metrics, which machines ask for: apart from pages, so that no visitor takes a load balancer's share. */
export const STATE_PACE: Pace = { burst: 600, perSecond: 50 };

/** A hook that paces each address, for routes without a key. */
export function publicPace(clock: Clock, pace: Pace) {
  const limit = new RateLimit(clock, pace);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const waitS = limit.take(visitorOf(request.ip));
    if (waitS === 0) return undefined;
    return sendProblem(request, reply.header('retry-after', waitS), 429, 'Too many requests.');
  };
}
